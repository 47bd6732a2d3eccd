"""What ``docs/adr`` holds: drafts, records, the replies that make them, and the plans. Pure."""
