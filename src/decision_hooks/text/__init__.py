"""Text without a subject: Markdown, terms, cutting; pure."""
