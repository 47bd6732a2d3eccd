"""Cuts texts: at a line end where possible, never inside a character as a reader sees it."""

from __future__ import annotations

_JOINER = "\u200d"


def one_line(text: str, most: int = 0) -> str:
    """A text on one line, cut at a word after at most ``most`` characters (0: no limit), then with an ellipsis."""
    line = " ".join(text.split())
    return line if not most or len(line) <= most else line[:most].rsplit(" ", 1)[0] + "…"


def head(text: str, size: int) -> str:
    """The beginning of a text, at most ``size`` characters."""
    if len(text) <= size:
        return text
    end = _boundary(text, max(0, size), -1)
    line = text.rfind("\n", end // 2, end + 1)
    return text[: line if line > 0 else end]


def tail(text: str, size: int) -> str:
    """The end of a text, at most ``size`` characters."""
    if len(text) <= size:
        return text
    begin = _boundary(text, len(text) - max(0, size), 1)
    line = text.find("\n", begin - 1 if begin else 0, begin + (len(text) - begin) // 2)
    return text[line + 1 if line >= 0 else begin :]


def _boundary(text: str, place: int, step: int) -> int:
    """The nearest position in direction ``step`` that splits no character from its marks."""
    while 0 < place < len(text) and _belong_together(text[place - 1], text[place]):
        place += step
    return place


def _belong_together(before: str, after: str) -> bool:
    if after < "\u0300" and before != _JOINER:
        return before == "\r" and after == "\n"
    if before == _JOINER or after == _JOINER or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if "\udc00" <= after <= "\udfff":
        return "\ud800" <= before <= "\udbff"
    from unicodedata import category

    return category(after)[0] == "M"
