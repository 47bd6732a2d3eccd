"""Transcripts on the disk: where they lie, and reading very large ones."""
