"""Removes what models put around their answer: a byte order mark, thinking, enclosing fences, chatter."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from decision_hooks.records.front_matter import clean
from decision_hooks.text.controls import removed
from decision_hooks.text.markdown import Fence, closes, fence

_COLOURS = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_OPENED = re.compile(r"[ \t\r\n]*<(think(?:ing)?)>", re.IGNORECASE)
_THOUGHT_ENDS = ("</think>", "</thinking>")
_MOST_FENCES = 30  # that are removed; a bound for hostile replies


def plain(reply: str) -> str:
    """The reply without control characters, its byte order mark and its leading thought.

    An unclosed thought loses only its mark: the rest may be the answer.
    """
    text = removed(clean(_COLOURS.sub("", reply.removeprefix("\ufeff"))))
    opened = _OPENED.match(text)
    if opened is None:
        return text
    closed = re.compile(rf"</{opened[1]}>", re.IGNORECASE).search(text, opened.end())
    return text[closed.end() if closed else opened.end() :]


def after_thought(rows: Sequence[str], begins: Callable[[str], bool]) -> Sequence[str]:
    """The lines after the last closing think tag that is directly followed by the answer."""
    for index in range(len(rows) - 1, -1, -1):
        if rows[index].rstrip().lower().endswith(_THOUGHT_ENDS) and begins(
            _text_at(rows, _next(rows, index + 1))
        ):
            return rows[index + 1 :]
    return rows


def unfenced(
    rows: Sequence[str], begins_answer: Callable[[str], bool], announces: Callable[[str], bool]
) -> tuple[list[str], bool]:
    """The lines from the answer on, without enclosing fences and the text between and after them.

    Returns also whether an enclosing fence was never closed. A fence encloses if the answer begins at its first
    line. The last mark that can close it does so, because the answer may have inner fences.
    """
    found: list[str] = []
    marks = [fence(row) for row in rows]
    longest = _longest_after(marks)
    index = taken = 0
    while index < len(rows):
        opened = marks[index]
        if opened is None:
            if begins_answer(rows[index]) and not (
                announces(rows[index]) and _leads_to_fence(rows, index + 1, begins_answer)
            ):
                return [*found, *rows[index:]], False
            index += 1
        elif taken < _MOST_FENCES and begins_answer(_text_at(rows, _next(rows, index + 1))):
            end, taken = _enclosed(marks, index, opened), taken + 1
            found += rows[index + 1 : end]
            if end == len(rows):
                return found, True
            index = end + 1
        else:
            index = (
                _closed(marks, index, opened) if longest[index][opened.mark] >= opened.length else index
            ) + 1
    return found, False


def _leads_to_fence(rows: Sequence[str], index: int, begins_answer: Callable[[str], bool]) -> bool:
    """Whether a heading only announces a fence that encloses the answer."""
    index = _next(rows, index)
    return fence(_text_at(rows, index)) is not None and begins_answer(_text_at(rows, _next(rows, index + 1)))


def _next(rows: Sequence[str], index: int) -> int:
    while index < len(rows) and not rows[index].strip():
        index += 1
    return index


def _text_at(rows: Sequence[str], index: int) -> str:
    return rows[index] if index < len(rows) else ""


def _closed(marks: Sequence[Fence | None], index: int, opened: Fence) -> int:
    """The end of a fence; ``index`` itself if it is never closed."""
    ends = (end for end in range(index + 1, len(marks)) if (mark := marks[end]) and closes(opened, mark))
    return next(ends, index)


def _longest_after(marks: Sequence[Fence | None]) -> list[dict[str, int]]:
    """For each line the longest mark after it that can close a fence: most fences of a hostile reply stay open."""
    found: list[dict[str, int]] = [{"`": 0, "~": 0}] * len(marks)
    longest = {"`": 0, "~": 0}
    for index in range(len(marks) - 1, -1, -1):
        found[index] = longest
        mark = marks[index]
        if mark and not mark.info and mark.length > longest[mark.mark]:
            longest = {**longest, mark.mark: mark.length}
    return found


def _enclosed(marks: Sequence[Fence | None], index: int, opened: Fence) -> int:
    inner: Fence | None = None
    last = len(marks)
    for end in range(index + 1, len(marks)):
        mark = marks[end]
        if mark is None:
            continue
        if inner is not None:
            inner = None if closes(inner, mark) else inner
            continue
        if closes(opened, mark):
            last = end
        inner = mark
    return last
