"""Removes the tagged blocks that hosts put into a person's text."""

from __future__ import annotations

import re
from functools import lru_cache


def without_reminders(text: str) -> str:
    """A text without its ``<system-reminder>`` blocks; one that is never closed goes to the end."""
    return without(text, "system-reminder", unclosed_too=True)


def without(text: str, name: str, *, unclosed_too: bool = False) -> str:
    """A text without the blocks of a tag; one that is never closed stays unless ``unclosed_too``."""
    begin, end = f"<{name}>", f"</{name}>"
    kept, position = [], 0
    start = text.find(begin)
    while start >= 0:
        kept.append(text[position:start])
        close = text.find(end, start)
        position = start if close < 0 else close + len(end)
        if close < 0:
            if unclosed_too:
                position = len(text)
            break
        start = text.find(begin, position)
    if not kept:
        return text
    rest = text[position:]
    return "".join((*kept, rest if start >= 0 else rest.replace(end, "")))


def without_all(text: str, prefix: str) -> str:
    """A text without the closed blocks of every tag whose name begins with a prefix."""
    if f"<{prefix}" not in text:
        return text
    for name in dict.fromkeys(_tag(prefix).findall(text)):
        text = without(text, name)
    return text


def between(text: str, name: str) -> str:
    """The text in the first block of a tag, "" without one."""
    _, begin, rest = text.partition(f"<{name}>")
    return rest.partition(f"</{name}>")[0].strip() if begin else ""


@lru_cache(maxsize=8)
def _tag(prefix: str) -> re.Pattern[str]:
    return re.compile(f"<({prefix}[a-z_]{{1,40}})>")
