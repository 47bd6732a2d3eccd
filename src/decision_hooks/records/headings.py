"""Which of the five sections the headings of a body stand for, whatever their language and level."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from decision_hooks.records import madr
from decision_hooks.text.markdown import Section, sections

_EXACT = {name.casefold(): place for place, name in enumerate(madr.NAMES)}
_OTHER_NAMES = (
    # Context and Problem Statement
    "context|problem statement|problem|background|context and problem|problem and context|"
    "контекст|контекст і проблема|контекст та проблема|контекст і постановка проблеми|"
    "контекст та постановка проблеми|контекст і формулювання проблеми|контекст та формулювання проблеми|"
    "постановка проблеми|формулювання проблеми|опис проблеми|проблема|проблематика|"
    "контекст и проблема|контекст и постановка проблемы|контекст и формулировка проблемы|"
    "постановка проблемы|описание проблемы",
    # Considered Options
    "options|options considered|considered alternatives|alternatives considered|alternatives|"
    "розглянуті варіанти|розглянуті альтернативи|розглянуті опції|розглянуті варіанти рішення|варіанти|"
    "варіанти рішення|альтернативи|опції|рассмотренные варианты|рассмотренные альтернативы|"
    "варианты|варианты решения|альтернативы",
    # Decision Outcome
    "decision|decisions|outcome|the decision|decision made|chosen option|"
    "рішення|прийняте рішення|ухвалене рішення|обране рішення|обраний варіант|результат рішення|"
    "підсумок рішення|рішення/процедура/факт|рішення/процедура|"
    "решение|принятое решение|выбранное решение|выбранный вариант|результат решения|итог решения",
    # Consequences
    "positive consequences|negative consequences|consequence|impact|"
    "наслідки|наслідки рішення|позитивні наслідки|негативні наслідки|"
    "последствия|последствия решения|положительные последствия|отрицательные последствия|"
    "позитивные последствия|негативные последствия",
    # More Information
    "additional information|more info|further information|additional info|"
    "додаткова інформація|більше інформації|детальніше|додатково|подальша інформація|"
    "дополнительная информация|больше информации|дополнительно|подробнее",
)
_PLACES = {name: place for place, names in enumerate(_OTHER_NAMES) for name in names.split("|")}
_POLAR = re.compile(r"(?i)positive|negative|позитивн|негативн|положительн|отрицательн")
_NUMBER = re.compile(r"^(?:\d{1,2}(?:\.\d{1,2})*[.)]?[ \t]+|[^\w(\[«\"]+)")
_ADR_TITLE = re.compile(
    r"^(?:\*\*|__)?(?:\d{1,3}[.)][ \t]+)?(?:\[ADR\]|ADR)(?![^\W\d_])"
    r"(?:[ \t]*[-№#]?[ \t]*\d{1,6}(?=[ \t:.)\]—–-]|$))?[ \t]*[:.—–-]*[ \t]*(.*)$"
)
_NEVER = 99  # deeper than any heading


class Arranged(NamedTuple):
    """A body whose sections were recognised."""

    title: str  # of its first ``# `` heading, else of its first ADR heading, else ""
    preamble: str  # what stands before the first section
    texts: madr.Sections
    extras: tuple[str, ...]  # sections that are none of the five, as Markdown, in order


def adr_title(heading: str) -> str | None:
    """The title in a heading of the form ``ADR <title>``, ``ADR: …``, ``[ADR] …``, ``ADR-001: …``; else None."""
    match = _ADR_TITLE.match(heading)
    if match is None or re.match(r"-[^\W\d_]", heading.lstrip("*_[")[3:].lstrip("]")):  # "ADR-хук" is a word
        return None
    return match[1].strip().strip("*_").strip()


def exact_place(section: Section) -> int | None:
    """The place among the five of a heading that is exact but for its level and letter case."""
    return _EXACT.get(_bare(section.title).casefold()) if section.level else None


def place(section: Section) -> int | None:
    """The place among the five of a heading in any of its known forms."""
    name = _bare(section.title).casefold() if section.level else ""
    found = _EXACT.get(name)
    return _PLACES.get(name) if found is None else found


def is_update(section: Section) -> bool:
    """Whether a section is an addition of later: ``## Update 2026-05-15``."""
    return section.level > 0 and re.match(r"(?i)(?:update|оновлення)\b", section.title) is not None


def arrange(body: str) -> Arranged:
    """Recognise the sections of a body; nothing of its text is lost but the title heading."""
    flat = sections(body)
    title, flat = _take_title(flat)
    own, later = _part_at_second_adr(flat)
    return _Arranging(own).result(title, later)


def _bare(title: str) -> str:
    title = _NUMBER.sub("", title.strip().strip("*_").strip())
    title = re.sub(r"[ \t]*/[ \t]*", "/", title)
    return re.sub(r"\s+", " ", title.rstrip("*_: \t.")).strip()


def _take_title(flat: Sequence[Section]) -> tuple[str, list[Section]]:
    """The title, and the sections without its headings, whose text goes to what stands before."""
    first = next((n for n, one in enumerate(flat) if one.level == 1 and place(one) is None), None)
    known = next((n for n, one in enumerate(flat) if place(one) is not None), len(flat))
    adr = next((n for n, one in enumerate(flat[:known]) if _is_adr(one) and n != first), None)
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
    found = adr_title(heading.title)
    return heading.title.strip("*_ \t") if found is None else found


def _part_at_second_adr(flat: Sequence[Section]) -> tuple[list[Section], list[Section]]:
    for index, one in enumerate(flat):
        if _is_adr(one):
            return list(flat[:index]), list(flat[index:])
    return list(flat), []


class _Arranging:
    """One pass over the sections: what is open takes deeper headings in, a known one opens its place."""

    def __init__(self, flat: Sequence[Section]) -> None:
        self.flat = flat
        self.exact = {found for one in flat if (found := exact_place(one)) is not None}
        self.preamble: list[str] = []
        self.texts: list[list[str]] = [[] for _ in madr.NAMES]
        self.levels: dict[int, int] = {}  # of the places that were opened
        self.extras: list[list[str]] = []
        self.open = self.preamble
        self.level = _NEVER
        self.is_extra = False  # what is open is none of the five
        self.frozen = False  # an update: nothing inside of it is known

    def result(self, title: str, later: Sequence[Section]) -> Arranged:
        for section in self.flat:
            self._take(section)
        texts = madr.Sections(*("\n\n".join(filter(None, parts)) for parts in self.texts))
        extras = ["\n\n".join(parts) for parts in self.extras]
        return Arranged(title, "\n\n".join(filter(None, self.preamble)), texts, (*extras, *_demoted(later)))

    def _take(self, section: Section) -> None:
        if not section.level:
            self.preamble.append(section.text)
            return
        inside = section.level > self.level
        if self.frozen and inside:
            self.open.append(section.markdown())
            return
        found = place(section)
        if found is not None and self._opens(section, found, inside):
            self._open_place(section, found)
        elif inside:
            self.open.append(section.markdown())
        else:
            section = section._replace(level=max(2, section.level))  # a record has no other ``# `` heading
            self.extras.append([section.markdown()])
            self.open, self.level = self.extras[-1], section.level
            self.is_extra, self.frozen = True, is_update(section)

    def _opens(self, section: Section, found: int, inside: bool) -> bool:
        if exact_place(section) is not None:
            return found not in self.levels or not (inside and self.is_extra)
        if found in self.exact:
            return False
        return found not in self.levels or section.level <= self.levels[found]

    def _open_place(self, section: Section, found: int) -> None:
        label = f"**{section.title.strip('*_: ')}**" if _POLAR.search(section.title) else ""
        self.texts[found] += [label, section.text]
        self.levels.setdefault(found, section.level)
        self.open, self.level = self.texts[found], section.level
        self.is_extra = self.frozen = False


def _demoted(later: Sequence[Section]) -> list[str]:
    """Further decisions of one body as extra sections: their headings below their own title."""
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
