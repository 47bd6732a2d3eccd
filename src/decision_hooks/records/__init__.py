"""Drafts and records of ``docs/adr``: names, front matter, sections, search. Pure."""
