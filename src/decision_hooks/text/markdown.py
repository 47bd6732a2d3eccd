"""Markdown as far as records need it: headings and fences, read by lines; a heading inside a fence is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)", re.DOTALL)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*)|[ \t]*)$")
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+[ \t]*$")


class Line(NamedTuple):
    """A line with its place among fences and what it is."""

    text: str  # without its line end
    fenced: bool  # a fence's mark or inside of a fence
    level: int = 0  # 1 to 6 for a heading, else 0
    title: str = ""


class Section(NamedTuple):
    """A heading and the text up to the next heading of any level; level 0 is what stands before the first."""

    level: int
    title: str
    text: str  # without the heading, without blank lines around

    def markdown(self, demote: int = 0) -> str:
        """The section as it is written, its heading so many levels deeper."""
        if not self.level:
            return self.text
        heading = f"{'#' * min(6, self.level + demote)} {self.title}".rstrip()
        return f"{heading}\n\n{self.text}" if self.text else heading


class Fence(NamedTuple):
    """The mark of a fence: its character, its length, what stands after it."""

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


def closes(opened: Fence, found: Fence) -> bool:
    """Whether a mark closes the fence that is open: same character, as long at least, nothing after it."""
    return found.mark == opened.mark and found.length >= opened.length and not found.info


def split_lines(text: str) -> list[str]:
    """Lines by newline alone: other separators are text."""
    return text.replace("\r\n", "\n").split("\n")


def lines(text: str) -> Iterator[Line]:
    """The lines of a text with the headings that stand outside of fences."""
    opened: Fence | None = None
    for line in split_lines(text):
        found = fence(line)
        if opened is not None:
            if found is not None and closes(opened, found):
                opened = None
            yield Line(line, True)
        elif found is not None:
            opened = found
            yield Line(line, True)
        else:
            yield _plain_line(line)


def _plain_line(line: str) -> Line:
    match = _HEADING.match(line) if "#" in line else None
    if match is None:
        return Line(line, False)
    title = _CLOSING_MARKS.sub("", match[2] or "").strip()
    return Line(line, False, len(match[1]), title)


def unclosed_fence(text: str) -> bool:
    """Whether a fence is still open at the end of a text: the sign of a text that was cut."""
    opened: Fence | None = None
    for line in split_lines(text):
        found = fence(line)
        if found is None:
            continue
        if opened is None:
            opened = found
        elif closes(opened, found):
            opened = None
    return opened is not None


def sections(text: str) -> list[Section]:
    """The sections of a text in order, flat; the first has level 0 and may be empty."""
    found: list[Section] = []
    level, title = 0, ""
    held: list[str] = []
    for line in lines(text):
        if not line.level:
            held.append(line.text)
            continue
        found.append(Section(level, title, trimmed(held)))
        level, title, held = line.level, line.title, []
    found.append(Section(level, title, trimmed(held)))
    return found


def trimmed(held: Iterable[str]) -> str:
    """Lines as a text without blank lines around; the indentation of the first line stays."""
    rows = list(held)
    begin, end = 0, len(rows)
    while begin < end and not rows[begin].strip():
        begin += 1
    while end > begin and not rows[end - 1].strip():
        end -= 1
    return "\n".join(rows[begin:end]).rstrip()
