"""What was said in a session: its entries, the digest of them, relevance, choices; pure."""
