"""Recognises the five sections of a body by their headings, in any known language and at any level."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from decision_hooks.languages import table
from decision_hooks.records import madr
from decision_hooks.text.markdown import Section, sections

_EXACT = {name.casefold(): number for number, name in enumerate(madr.NAMES)}
_POLAR = re.compile(table.in_any(lambda card: card.polar), re.IGNORECASE)
_UPDATE = re.compile(rf"(?:{table.in_any(lambda card: card.update)})\b", re.IGNORECASE)
_NUMBER = re.compile(r"^(?:\d{1,2}(?:\.\d{1,2})*[.)]?[ \t]+|[^\w(\[«\"]+)")
_ADR_TITLE = re.compile(
    r"^(?:\*\*|__)?(?:\d{1,3}[.)][ \t]+)?(?:\[ADR\]|ADR)(?![^\W\d_])"
    r"(?:[ \t]*[-№#]?[ \t]*\d{1,6}(?=[ \t:.)\]—–-]|$))?[ \t]*[:.—–-]*[ \t]*(.*)$"
)
_NEVER = 99  # deeper than any heading


class Body(NamedTuple):
    """A body whose sections were recognised."""

    title: str  # of its first ``# `` heading, else of its first ADR heading, else ""
    preamble: str  # the text before the first section
    texts: madr.Sections
    extras: tuple[str, ...]  # sections that are none of the five, as Markdown, in order


def adr_title(heading: str) -> str | None:
    """The title in a heading of the form ``ADR <title>``, ``ADR: …``, ``[ADR] …``, ``ADR-001: …``; else None."""
    match = _ADR_TITLE.match(heading)
    if match is None or re.match(r"-[^\W\d_]", heading.lstrip("*_[")[3:].lstrip("]")):  # "ADR-hook" is a word
        return None
    return match[1].strip().strip("*_").strip()


def exact_number(section: Section) -> int | None:
    """Which of the five sections (0 to 4) a heading names exactly but for its level and letter case."""
    return _EXACT.get(_bare(section.title).casefold()) if section.level else None


def section_number(section: Section) -> int | None:
    """Which of the five sections (0 to 4) a heading names in any known form."""
    return _known_names().get(_bare(section.title).casefold()) if section.level else None


@lru_cache(maxsize=1)
def _known_names() -> dict[str, int]:
    return {
        name: number
        for card in table.LANGUAGES
        for number, names in enumerate(card.headings)
        for name in names.split("|")
    } | _EXACT


def is_update(section: Section) -> bool:
    """Whether a section was added later: ``## Update 2026-05-15``."""
    return section.level > 0 and _UPDATE.match(section.title) is not None


def parse_body(body: str) -> Body:
    """Recognise the sections of a body; nothing of its text is lost but the title heading."""
    flat = sections(body)
    title, flat = _take_title(flat)
    end = next((n for n, section in enumerate(flat) if _is_adr(section)), len(flat))  # of the first decision
    return _Parser(flat[:end]).result(title, flat[end:])


def _bare(title: str) -> str:
    title = _NUMBER.sub("", title.strip().strip("*_").strip())
    title = re.sub(r"[ \t]*/[ \t]*", "/", title)
    return re.sub(r"\s+", " ", title.rstrip("*_: \t.")).strip()


def _take_title(flat: Sequence[Section]) -> tuple[str, list[Section]]:
    """The title, and the sections without its headings; their text goes to the section before."""
    first = next((n for n, s in enumerate(flat) if s.level == 1 and section_number(s) is None), None)
    known = next((n for n, s in enumerate(flat) if section_number(s) is not None), len(flat))
    adr = next((n for n, s in enumerate(flat[:known]) if _is_adr(s) and n != first), None)
    taken = [index for index in (first, adr) if index is not None]
    title = next(filter(None, (_title(flat[index]) for index in taken)), "")
    left = list(flat)
    for index in sorted(taken, reverse=True):
        text = "\n\n".join(filter(None, (left[index - 1].text, left[index].text)))
        left[index - 1 : index + 1] = [left[index - 1]._replace(text=text)]
    return title, left


def _is_adr(section: Section) -> bool:
    return 1 <= section.level <= 3 and adr_title(section.title) is not None


def _title(heading: Section) -> str:
    title = adr_title(heading.title)
    return heading.title.strip("*_ \t") if title is None else title


class _Parser:
    """One pass over the sections: the open section takes in deeper headings, a known heading opens another."""

    def __init__(self, flat: Sequence[Section]) -> None:
        self.flat = flat
        self.exact = {exact_number(section) for section in flat}
        self.preamble: list[str] = []
        self.texts: list[list[str]] = [[] for _ in madr.NAMES]
        self.levels: dict[int, int] = {}  # of the sections that were opened
        self.extras: list[list[str]] = []
        self.open = self.preamble
        self.level = _NEVER
        self.is_extra = False  # the open section is none of the five
        self.frozen = False  # an update is open: its headings are not recognised

    def result(self, title: str, later: Sequence[Section]) -> Body:
        for section in self.flat:
            self._take(section)
        texts = madr.Sections(*("\n\n".join(filter(None, parts)) for parts in self.texts))
        extras = ["\n\n".join(parts) for parts in self.extras]
        return Body(title, "\n\n".join(filter(None, self.preamble)), texts, (*extras, *_demoted(later)))

    def _take(self, section: Section) -> None:
        if not section.level:
            self.preamble.append(section.text)
            return
        inside = section.level > self.level
        if self.frozen and inside:
            self.open.append(section.markdown())
            return
        number = section_number(section)
        if number is not None and self._opens(section, number, inside):
            self._open_section(section, number)
        elif inside:
            self.open.append(section.markdown())
        else:
            section = section._replace(level=max(2, section.level))  # a record has no other ``# `` heading
            self.extras.append([section.markdown()])
            self.open, self.level = self.extras[-1], section.level
            self.is_extra, self.frozen = True, is_update(section)

    def _opens(self, section: Section, number: int, inside: bool) -> bool:
        if exact_number(section) is not None:
            return number not in self.levels or not (inside and self.is_extra)
        if number in self.exact:
            return False
        return number not in self.levels or section.level <= self.levels[number]

    def _open_section(self, section: Section, number: int) -> None:
        label = f"**{section.title.strip('*_: ')}**" if _POLAR.search(section.title) else ""
        self.texts[number] += [label, section.text]
        self.levels.setdefault(number, section.level)
        self.open, self.level = self.texts[number], section.level
        self.is_extra = self.frozen = False


def _demoted(later: Sequence[Section]) -> list[str]:
    """Further decisions of one body as extra sections: their headings go below their titles."""
    chunks: list[list[Section]] = []
    for section in later:
        if _is_adr(section):
            chunks.append([section._replace(level=2)])
        else:
            chunks[-1].append(section)
    return [_below_title(chunk) for chunk in chunks]


def _below_title(chunk: Sequence[Section]) -> str:
    title, inner = chunk[0], chunk[1:]
    demote = max(0, 3 - min((section.level for section in inner), default=3))
    return "\n\n".join([title.markdown(), *(section.markdown(demote) for section in inner)])
