"""A draft as the local pipeline reads it: its decisions, whether it says any, what of it is shown first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from decision_hooks.errors import RefusedReply
from decision_hooks.languages.table import LANGUAGES
from decision_hooks.pipeline.undecided import nothing_chosen
from decision_hooks.records import front_matter, headings, madr, naming
from decision_hooks.records.headings import Body
from decision_hooks.text import markdown
from decision_hooks.text.cutting import one_line

_MOST_TITLE = 120  # characters of a title that is made of an outcome
_LABEL = re.compile(r"[ \t]*(?:[*-][ \t]+)?\*\*([^*:\n]{2,60})(?:\*\*[ \t]*:|:[ \t]*\*\*)[ \t]*(.*)$")
_MARK = re.compile(r"^[ \t]*(?:[*+-]|\d{1,3}[.)])?[ \t]*")
_CHOSEN = re.compile(r"^[ \t]*chosen option:[ \t]*", re.IGNORECASE)


class Draft(NamedTuple):
    """A draft of the batch; ``shown`` is its body as a model may see it."""

    name: str
    text: str
    shown: str


class Decided(NamedTuple):
    """One decision of a draft."""

    title: str  # "" for none
    arranged: Body


class Reading(NamedTuple):
    """A draft that was read."""

    name: str
    text: str
    shown: str
    session: str  # "" for one that is not known
    decisions: tuple[Decided, ...]
    plain: str  # its text with white space and letter case folded
    empty: bool  # it says nothing
    undecided: bool  # all of its decisions are that nothing was chosen
    unverified: tuple[str, ...]

    @property
    def single(self) -> Decided | None:
        """Its decision, if it holds exactly one."""
        return self.decisions[0] if len(self.decisions) == 1 else None

    @property
    def title(self) -> str:
        """What it is about, in a line; made of its outcome or its name where it has no title."""
        first = self.decisions[0] if self.decisions else Decided("", headings.parse_body(""))
        told = first.title or first.arranged.title or _title_of(first.arranged.texts.outcome)
        return told or _title_of_name(self.name)


def read(draft: Draft) -> Reading:
    """Read a draft of any form; never raises."""
    front = front_matter.read(draft.text)
    session = front.text("session").strip()
    found = decisions(front.body)
    held = found or ()
    return Reading(
        name=draft.name,
        text=draft.text,
        shown=draft.shown,
        session="" if session == "unknown" else session,
        decisions=held,
        plain=" ".join(front.body.split()).casefold(),
        empty=found == () or not re.search(r"\w", substance(front.body)),
        undecided=bool(held) and all(_is_undecided(one) for one in held),
        unverified=front.texts("unverified"),
    )


def decisions(body: str) -> tuple[Decided, ...] | None:
    """The decisions of a body; () when it says that there is none, None when it holds something else.

    Bold labels (``**Decision:**``) count as headings where there are no others.
    """
    from decision_hooks.replies import decisions as replies

    for text in (body, with_headings(body)):
        try:
            found = replies.decisions(text)
        except RefusedReply:
            continue
        return tuple(Decided(one.title, headings.parse_body(one.body)) for one in found)
    return None


def with_headings(body: str) -> str:
    """The body with the bold labels that stand for one of the five sections made their headings."""
    rows: list[str] = []
    for line in markdown.lines(body):
        label = None if line.fenced or line.level else _LABEL.match(line.text)
        place = headings.section_number(markdown.Section(2, label[1], "")) if label else None
        if label is None or place is None:
            rows.append(line.text)
        else:
            rows += ["", madr.HEADINGS[place], "", label[2]]
    return "\n".join(rows)


def substance(body: str) -> str:
    """What a body says beside headings and the phrases for silence."""
    rows = (line for line in markdown.lines(body) if not line.level)
    return "\n".join(line.text for line in rows if line.fenced or not is_silent(line.text))


def is_silent(text: str) -> bool:
    """Whether a text only says that the session is silent."""
    return _MARK.sub("", text).strip().casefold() in _silent()


@lru_cache(maxsize=1)
def _silent() -> frozenset[str]:
    return frozenset(phrase.casefold() for card in LANGUAGES for phrase in card.phrases)


def _is_undecided(one: Decided) -> bool:
    texts = one.arranged.texts
    return is_silent(texts.outcome) or nothing_chosen(texts.outcome, texts.options)


def _title_of(outcome: str) -> str:
    row = next((row for row in outcome.splitlines() if row.strip()), "")
    row = _CHOSEN.sub("", row).strip(" \t*_#>-")
    quoted = re.match(r"[\"«„“](.+?)[\"»“”]", row)
    title = (quoted[1] if quoted else re.split(r"(?<=[.!?])\s|,? because ", row)[0]).strip(' \t."«»*_')
    return one_line(title, _MOST_TITLE)


def _title_of_name(name: str) -> str:
    stem = name[len(naming.time_prefix(name)) :].removesuffix(".md")
    return " ".join(re.findall(r"\w+", stem))


# -- what is shown


def condensed(body: str, budget: int) -> str:
    """A body in at most ``budget`` characters, by value: title and outcome, then context, options and the rest."""
    found = decisions(body)
    if not found:
        arranged = headings.parse_body(with_headings(body))
        return _by_value(arranged.title, arranged, budget)
    if len(found) == 1:
        return _by_value(found[0].title, found[0].arranged, budget)
    share = max(150, budget // len(found))
    parts: list[str] = []
    for one in found:
        left = budget - sum(len(part) + 2 for part in parts)
        if left > 20:
            parts.append(_by_value(one.title, one.arranged, min(share, left)))
    return "\n\n".join(parts)


def condensed_record(text: str, budget: int) -> str:
    """A record (its whole text) in at most ``budget`` characters, as ``condensed``."""
    read = front_matter.read(text)
    arranged = headings.parse_body(read.body)
    return _by_value(read.text("title") or arranged.title, arranged, budget)


def _by_value(title: str, found: Body, budget: int) -> str:
    texts = found.texts
    valued: Sequence[tuple[str, str, float]] = (  # label, text, share of what is left that it may take
        ("Title", title, 0.4),
        (madr.OUTCOME, texts.outcome, 0.5),
        (madr.CONTEXT, texts.context, 0.5),
        (madr.OPTIONS, texts.options, 0.5),
        ("", found.preamble, 0.5),
        ("", "\n\n".join(found.extras), 0.6),
        (madr.CONSEQUENCES, texts.consequences, 0.6),
        (madr.MORE, texts.more, 1.0),
    )
    left = budget
    parts: list[str] = []
    told = [one for one in valued if one[1].strip() and not is_silent(one[1])]
    for number, (label, text, share) in enumerate(told):
        label = f"{label}: " if label else ""
        room = left if number == len(told) - 1 else int(left * share)
        room -= len(label) + 2
        if room < 20:
            continue
        parts.append(label + cut(text.strip(), room))
        left -= len(parts[-1]) + 2
    return "\n\n".join(parts)


def cut(text: str, most: int) -> str:
    """At most so many characters of a text, ended at a line, a sentence or a word."""
    if len(text) <= most:
        return text
    part = text[: most - 1]
    for end in ("\n", ". ", " "):
        at = part.rfind(end)
        if at > most // 2:
            return part[: at + (end == ". ")].rstrip() + "…"
    return part + "…"
