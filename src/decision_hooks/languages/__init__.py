"""One card a language: its phrases, and the words that are recognised in texts; pure."""
