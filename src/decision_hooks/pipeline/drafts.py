"""Reads drafts for the local pipeline: their decisions, whether there are any, and an excerpt within a budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from decision_hooks.errors import RefusedReply
from decision_hooks.languages.table import LANGUAGES
from decision_hooks.pipeline.undecided import nothing_chosen
from decision_hooks.records import front_matter, headings, madr, naming
from decision_hooks.records.front_matter import DraftFile
from decision_hooks.records.headings import Body
from decision_hooks.text import markdown
from decision_hooks.text.cutting import one_line

_MOST_TITLE = 120  # characters of a title that is made of an outcome
_LABEL = re.compile(r"[ \t]*(?:[*-][ \t]+)?\*\*([^*:\n]{2,60})(?:\*\*[ \t]*:|:[ \t]*\*\*)[ \t]*(.*)$")
_MARK = re.compile(r"^[ \t]*(?:[*+-]|\d{1,3}[.)])?[ \t]*")
_CHOSEN = re.compile(r"^[ \t]*chosen option:[ \t]*", re.IGNORECASE)


class Decided(NamedTuple):
    """One decision of a draft."""

    title: str  # "" for none
    arranged: Body


class Reading(NamedTuple):
    """A draft that was read."""

    name: str
    text: str
    shown: str  # its body as a model may see it
    session: str  # "" for an unknown one
    decisions: tuple[Decided, ...]
    plain: str  # its text with white space and letter case folded
    empty: bool  # it has no content
    undecided: bool  # each of its decisions says that nothing was chosen
    unverified: tuple[str, ...]

    @property
    def single(self) -> Decided | None:
        """Its decision, if it has exactly one."""
        return self.decisions[0] if len(self.decisions) == 1 else None

    @property
    def title(self) -> str:
        """A title of one line, from its outcome or its name if it has no title."""
        first = self.decisions[0] if self.decisions else Decided("", headings.parse_body(""))
        outcome = first.arranged.texts.outcome
        return first.title or first.arranged.title or _title_of(outcome) or _title_of_name(self.name)


def read(draft: DraftFile, show: Callable[[str], str] = str) -> Reading:
    """Read a draft of any form; never raises. ``show`` gives the body as a model may see it."""
    front = front_matter.read(draft.text)
    session = front.text("session").strip()
    found = decisions(front.body)
    return Reading(
        name=draft.name,
        text=draft.text,
        shown=show(front.body),
        session="" if session == "unknown" else session,
        decisions=found or (),
        plain=" ".join(front.body.split()).casefold(),
        empty=found == () or not re.search(r"\w", substance(front.body)),
        undecided=bool(found) and all(map(_is_undecided, found or ())),
        unverified=front.texts("unverified"),
    )


def decisions(body: str) -> tuple[Decided, ...] | None:
    """The decisions of a body; () when it says that there is none, None when it has another form.

    Bold labels (``**Decision:**``) count as headings where there are no others.
    """
    from decision_hooks.replies.decisions import decisions as decisions_of_reply

    for text in (body, with_headings(body)):
        try:
            found = decisions_of_reply(text)
        except RefusedReply:
            continue
        return tuple(Decided(decision.title, headings.parse_body(decision.body)) for decision in found)
    return None


def with_headings(body: str) -> str:
    """The body with bold labels of the five sections turned into headings."""
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
    """The text of a body without headings and without phrases for silence."""
    rows = (line for line in markdown.lines(body) if not line.level)
    return "\n".join(line.text for line in rows if line.fenced or not is_silent(line.text))


def is_silent(text: str) -> bool:
    """Whether a text only says that the session is silent."""
    return _MARK.sub("", text).strip().casefold() in _silent()


@lru_cache(maxsize=1)
def _silent() -> frozenset[str]:
    return frozenset(phrase.casefold() for card in LANGUAGES for phrase in card.phrases)


def _is_undecided(decision: Decided) -> bool:
    texts = decision.arranged.texts
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


# -- excerpts


def condensed(body: str, budget: int) -> str:
    """At most ``budget`` characters of a body: title and outcome first, then context, options and the rest."""
    found = decisions(body)
    if not found:
        arranged = headings.parse_body(with_headings(body))
        found = (Decided(arranged.title, arranged),)
    share = max(150, budget // len(found))
    parts: list[str] = []
    for decision in found:
        left = budget - sum(len(part) + 2 for part in parts)
        if left > 20:
            parts.append(_by_value(decision.title, decision.arranged, min(share, left)))
    return "\n\n".join(parts)


def condensed_record(text: str, budget: int) -> str:
    """At most ``budget`` characters of a record, given as its whole text, as ``condensed``."""
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
    spoken = [row for row in valued if row[1].strip() and not is_silent(row[1])]
    for number, (label, text, share) in enumerate(spoken):
        label = f"{label}: " if label else ""
        room = left if number == len(spoken) - 1 else int(left * share)
        room -= len(label) + 2
        if room < 20:
            continue
        parts.append(label + cut(text.strip(), room))
        left -= len(parts[-1]) + 2
    return "\n\n".join(parts)


def cut(text: str, most: int) -> str:
    """The beginning of a text, at most so many characters, cut after a line, a sentence or a word."""
    if len(text) <= most:
        return text
    part = text[: most - 1]
    for end in ("\n", ". ", " "):
        at = part.rfind(end)
        if at > most // 2:
            return part[: at + (end == ". ")].rstrip() + "…"
    return part + "…"
