"""The marks of a digest: foreign text that imitates one is written with a backslash before it."""

from __future__ import annotations

import re
from functools import cache

_LOOKED = 80  # characters of a line in which a mark is looked for


def without_marks(text: str) -> str:
    """The text, each line of which that reads like a mark of ours begins with a backslash.

    Blanks, invisible characters, other brackets and wide letters before or in a mark hide nothing.
    """
    if text.isascii() and not ("[" in text or "(" in text or "DATA-" in text.upper()):
        return text  # most texts
    return _may_begin_mark().sub(_escaped, _line_ends().sub("\n", text))


def _escaped(found: re.Match[str]) -> str:
    from unicodedata import category, normalize

    text = found.string[found.start() : found.start() + _LOOKED]
    plain = "".join(char for char in normalize("NFKC", text) if category(char) != "Cf")
    return f"\\{found[0]}" if _mark().match(plain) else found[0]


@cache
def _line_ends() -> re.Pattern[str]:
    return re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


@cache
def _may_begin_mark() -> re.Pattern[str]:
    opening = "\\[(\u3010\u3014\u27e6\u2772\uff08\uff3b"
    return re.compile(
        rf"^(?:[^\w\n{opening}]{{0,40}}[{opening}]|[^\w\n]{{0,40}}[D\uff24][A\uff21])", re.MULTILINE
    )


@cache
def _mark() -> re.Pattern[str]:
    words = "user|assistant|thinking|tool|result|answer|plan|context|end of context|end of draft"
    return re.compile(
        rf"[^\w\n]*?[\[(\u3010\u3014\u27e6\u2772][\s\W]*(?:{words})\b|[^\w\n]*DATA-[0-9a-f]", re.IGNORECASE
    )
