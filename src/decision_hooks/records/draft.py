"""Drafts as they are written: front matter of the capture, then the block of one decision."""

from __future__ import annotations

from collections.abc import Sequence

from decision_hooks.records import front_matter, grounding
from decision_hooks.records.madr import Decision


def render_draft(
    decision: Decision, *, session: str, captured_iso: str, transcript: str, unverified: Sequence[str]
) -> str:
    """The text of a draft: ``session`` first, then when and from what it was captured, and what is not evidenced."""
    front: list[tuple[str, object]] = [
        ("session", " ".join(session.split()) or "unknown"),
        ("captured", captured_iso),
        ("transcript", transcript),
    ]
    if unverified:
        front.append(("unverified", list(unverified)))
    return front_matter.render(front, decision.body)


def identity(title: str, outcome: str) -> str:
    """A short text that is equal for decisions of equal title and outcome, but for white space and letter case."""
    from hashlib import blake2b

    told = f"{grounding.normal(title)}\n{grounding.normal(outcome)}".casefold()
    return blake2b(told.encode("utf-8", "replace"), digest_size=16).hexdigest()
