"""The story of a normalisation: from drafts to records in ``docs/adr``."""
