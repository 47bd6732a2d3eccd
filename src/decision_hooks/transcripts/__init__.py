"""Transcripts on the disk: finding them, reading very large ones, the verdict on their edits."""
