"""What the Codex client puts under the user's role, told from what a person typed."""

from __future__ import annotations

import re
from functools import cache

from decision_hooks.hosts.fields import NOTHING, mapping, string

_NAMES = frozenset(
    (
        "environment_context",
        "user_instructions",
        "skills_instructions",
        "permissions",
        "turn_aborted",
        "INSTRUCTIONS",
        "skill",
        "tools",
    )
)


def is_injected(text: str, source: object) -> bool:
    """Whether the client wrote a text; ``source`` is its entry of ``content_item_metadata``, if any."""
    kind = string(mapping(source if isinstance(source, dict) else NOTHING, "provenance"), "type")
    if kind:
        return kind != "user"
    text = text.strip()
    if text.startswith("# AGENTS.md instructions"):
        return True
    tag = _tag().match(text)
    if not tag:
        return False
    # a person's own mark-up has plain names, and words before or after it
    wrapped = text.endswith(f"</{tag.group(1)}>") and re.search("[_ A-Z]", tag.group(1)) is not None
    return wrapped or tag.group(1).split(" ")[0] in _NAMES


@cache
def _tag() -> re.Pattern[str]:
    return re.compile("<([A-Za-z][A-Za-z_ ]{1,60})>")
