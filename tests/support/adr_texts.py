"""Texts of the kind that stand in ``docs/adr`` and in replies: blocks, drafts, records, operations."""

from __future__ import annotations

import json
from typing import Any


def block(
    title: str = "Use SQLite for the cache",
    *,
    context: str = "The service needs a cache.",
    options: tuple[str, ...] = ("SQLite", "Redis"),
    outcome: str = 'Chosen option: "SQLite", because it is embedded.',
    consequences: str = "* Good, because nothing has to be run beside the service.",
    more: str = "Other options were not discussed.",
) -> str:
    """One ADR block of a reply: a title and the five MADR sections."""
    listed = "\n".join(f"* {option}" for option in options)
    return (
        f"## ADR {title}\n\n## Context and Problem Statement\n\n{context}\n\n"
        f"## Considered Options\n\n{listed}\n\n"
        f"## Decision Outcome\n\n{outcome}\n\n### Consequences\n\n{consequences}\n\n"
        f"## More Information\n\n{more}\n"
    )


def draft(
    title: str = "Use SQLite for the cache",
    *,
    session: str = "5e551011-0000-4000-8000-000000000001",
    captured: str = "2026-03-04T05:06:07+00:00",
    transcript: str = "~/.claude/projects/*/5e551011-0000-4000-8000-000000000001.jsonl",
    **sections: Any,
) -> str:
    """A draft file: the front matter of a capture and one block."""
    head = f"---\nsession: {session}\ncaptured: '{captured}'\ntranscript: {transcript}\n---\n\n"
    return head + block(title, **sections)


def record(title: str = "Use SQLite for the cache", *, date: str = "2026-03-04", body: str = "") -> str:
    """A record file as normalisation leaves it."""
    text = body or block(title).split("\n\n", 1)[1]
    return (
        f"---\ntype: ADR\ntitle: {title}\ndescription: {title}.\nstatus: accepted\ndate: {date}\n---\n\n"
        f"**Status:** Accepted\n**Date:** {date}\n\n{text}"
    )


def operations(*items: dict[str, Any]) -> str:
    """A reply of a normalising backend."""
    return json.dumps({"operations": list(items)}, ensure_ascii=False)
