"""Control characters of foreign text: shown as escapes on a terminal, left out of what is written."""

from __future__ import annotations

_JOINERS = "\u200c\u200d\u00ad"  # that words of some languages and emoji need
# C0 but tab and newline, DEL, C1, and what turns the direction of text
_CONTROLS = (*range(9), *range(11, 32), *range(127, 160), 0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F),
             *range(0x2066, 0x206A))  # fmt: skip
_REMOVED = {**dict.fromkeys(_CONTROLS), 0x2028: "\n", 0x2029: "\n"}


def visible(text: str) -> str:
    """The text for a terminal: all that is no letter, sign, space, tab or newline becomes an escape such as \\x1b."""
    if text.isascii() and text.replace("\n", " ").isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" or _is_harmless(c) else _escape(c) for c in text)


def removed(text: str) -> str:
    """The text for a file: without control characters but newline and tab; line separators are newlines."""
    return text if text.isascii() and text.isprintable() else text.replace("\r\n", "\n").translate(_REMOVED)


def _is_harmless(char: str) -> bool:
    from unicodedata import category

    return char in _JOINERS or category(char) == "Zs"


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
