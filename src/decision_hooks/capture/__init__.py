"""The story of a capture: from a Stop event to drafts in ``docs/adr``."""
