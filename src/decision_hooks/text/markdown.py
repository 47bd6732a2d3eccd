"""The Markdown that records need, read by lines: headings and fences; fenced headings do not count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)", re.DOTALL)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*)|[ \t]*)$")
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+[ \t]*$")


class Line(NamedTuple):
    """A line of Markdown: heading, text, or part of a fence."""

    text: str  # without its line end
    fenced: bool  # the mark of a fence, or inside a fence
    level: int = 0  # 1 to 6 for a heading, else 0
    title: str = ""


class Section(NamedTuple):
    """A heading and the text up to the next heading of any level; level 0 is the text before the first."""

    level: int
    title: str
    text: str  # without the heading, without blank lines around

    def markdown(self, demote: int = 0) -> str:
        """The section as Markdown, its heading so many levels deeper."""
        if not self.level:
            return self.text
        heading = f"{'#' * min(6, self.level + demote)} {self.title}".rstrip()
        return f"{heading}\n\n{self.text}" if self.text else heading


class Fence(NamedTuple):
    """The mark of a fence: its character, its length, the text after it."""

    mark: str
    length: int
    info: str


def fence(line: str) -> Fence | None:
    """The fence that a line opens or closes, at any depth of indentation (lists), None for another line."""
    match = _FENCE.match(line) if "```" in line or "~~~" in line else None
    if match is None:
        return None
    info = match[2].strip()
    if match[1][0] == "`" and "`" in info:
        return None
    return Fence(match[1][0], len(match[1]), info)


def closes(opened: Fence, mark: Fence) -> bool:
    """Whether a mark closes the fence that is open: same character, as long at least, nothing after it."""
    return mark.mark == opened.mark and mark.length >= opened.length and not mark.info


def split_lines(text: str) -> list[str]:
    """Lines by newline alone: other separators are text."""
    return text.replace("\r\n", "\n").split("\n")


def lines(text: str) -> Iterator[Line]:
    """The lines of a text, with the headings outside of fences."""
    opened: Fence | None = None
    for line in split_lines(text):
        mark = fence(line)
        if mark is None and opened is None:
            yield _plain_line(line)
            continue
        yield Line(line, True)
        if mark:
            opened = _open_after(mark, opened)


def _open_after(mark: Fence, opened: Fence | None) -> Fence | None:
    """The fence that is open after a mark, given the one that was open before."""
    return None if opened and closes(opened, mark) else opened or mark


def _plain_line(line: str) -> Line:
    match = _HEADING.match(line) if "#" in line else None
    if match is None:
        return Line(line, False)
    title = _CLOSING_MARKS.sub("", match[2] or "").strip()
    return Line(line, False, len(match[1]), title)


def unclosed_fence(text: str) -> bool:
    """Whether a fence is still open at the end of a text: the text was cut."""
    opened: Fence | None = None
    for mark in filter(None, map(fence, split_lines(text))):
        opened = _open_after(mark, opened)
    return opened is not None


def sections(text: str) -> list[Section]:
    """The sections of a text in order, flat; the first has level 0 and may be empty."""
    found: list[Section] = []
    level, title = 0, ""
    rows: list[str] = []
    for line in lines(text):
        if not line.level:
            rows.append(line.text)
            continue
        found.append(Section(level, title, trimmed(rows)))
        level, title, rows = line.level, line.title, []
    found.append(Section(level, title, trimmed(rows)))
    return found


def trimmed(given: Iterable[str]) -> str:
    """Lines as a text without blank lines around; the first line keeps its indentation."""
    rows = list(given)
    begin, end = 0, len(rows)
    while begin < end and not rows[begin].strip():
        begin += 1
    while end > begin and not rows[end - 1].strip():
        end -= 1
    return "\n".join(rows[begin:end]).rstrip()
