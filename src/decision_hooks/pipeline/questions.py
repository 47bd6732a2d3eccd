"""The narrow questions of the local pipeline, for a context of 8,000 tokens, and the strict reading of answers."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from decision_hooks.languages.table import in_any
from decision_hooks.pipeline.drafts import Reading, condensed, condensed_record, cut, is_silent
from decision_hooks.records import madr
from decision_hooks.replies import wrapping
from decision_hooks.text import markdown, terms
from decision_hooks.text.cutting import one_line

# Kinds, each with a template
SAME, KEPT, SECTIONS, ADDITIONS = "same", "kept", "sections", "additions"
KINDS = (SAME, KEPT, SECTIONS, ADDITIONS)
# States of an answer
ANSWERED, UNUSABLE, FAILED, UNASKED = "answered", "unusable", "failed", "unasked"

# Characters of a text in a question; a Cyrillic text has a token for two of them; the answer takes the rest
_SIDE = 1600
_WHOLE = 2400
_EXTRACTED = 8000
_ADDED, _TARGET = 4500, 3500
_MOST_UNVERIFIED = 600

_MOST_SAID = 300  # characters of a yes or no
# Small models answer in other languages too; these have no card.
_YES = frozenset(f"{in_any(lambda card: card.yes)}|ja|oui|sí|si|tak|sim|áno|ano|taip|jā|evet".split("|"))
_NO = frozenset(f"{in_any(lambda card: card.no)}|nein|non|nie|não|nao|ne|nē|hayır".split("|"))
_LABEL = re.compile(rf"^\W*(?:{in_any(lambda card: card.answer)})\W+", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")

_MOST_TITLE = 200
_MOST_SECTION = 6000  # characters
_MOST_ADDITIONS = 20
_MOST_ADDITION = 1500  # characters
_LEAST_FOUND = 0.6  # share of an answer's words that are in the draft; with less it is invented
_MOST_VALUES = 30  # beginnings of an object that are tried


class Question(NamedTuple):
    """One question to a model; ``values`` fill the template of its kind."""

    kind: str
    about: tuple[str, ...]  # names of the files, the draft first
    values: tuple[tuple[str, str], ...]
    source: str = ""  # the text that has to contain the words of the answer


class Extracted(NamedTuple):
    """The sections that a model found in a draft."""

    title: str
    texts: madr.Sections


class Judgement(NamedTuple):
    """The result of a question; the other fields count only in the state ``ANSWERED``."""

    state: str
    yes: bool = False
    sections: Extracted | None = None
    additions: tuple[str, ...] = ()


# -- asking


def same(one: tuple[str, str], other: tuple[str, str], is_draft: bool) -> Question:
    """Whether two texts (name, body) are about the same decision; the other is a draft or a record."""
    shown = condensed(other[1], _SIDE) if is_draft else condensed_record(other[1], _SIDE)
    return Question(SAME, (one[0], other[0]), (("one", condensed(one[1], _SIDE)), ("other", shown)))


def swapped(question: Question) -> Question:
    """The same question with its two texts exchanged, to ask a second time."""
    values = dict(question.values)
    return question._replace(values=(("one", values["other"]), ("other", values["one"])))


def kept(draft: Reading) -> Question:
    """Whether a draft has a decision that is worth a record."""
    return Question(KEPT, (draft.name,), (("draft", condensed(draft.shown, _WHOLE)),))


def sections(draft: Reading) -> Question:
    """The sections of a draft."""
    values = (("draft", condensed(draft.shown, _EXTRACTED)), ("unverified", _unverified(draft)))
    return Question(SECTIONS, (draft.name,), values, source=draft.shown)


def additions(draft: Reading, target: tuple[str, str], is_draft: bool) -> Question:
    """What a draft says that its target (name, text) does not."""
    shown = condensed(target[1], _TARGET) if is_draft else condensed_record(target[1], _TARGET)
    values = (
        ("draft", condensed(draft.shown, _ADDED)),
        ("target", shown),
        ("unverified", _unverified(draft)),
    )
    return Question(ADDITIONS, (draft.name, target[0]), values, source=draft.shown)


def _unverified(draft: Reading) -> str:
    return cut("; ".join(one_line(item) for item in draft.unverified), _MOST_UNVERIFIED) or "-"


# -- understanding


def read(question: Question, reply: str) -> Judgement:
    """The answer in a reply; ``UNUSABLE`` when it has another form than the question asks for."""
    text = wrapping.plain(reply).strip()
    if question.kind in (SAME, KEPT):
        said = yes_or_no(text)
        return Judgement(UNUSABLE) if said is None else Judgement(ANSWERED, yes=said)
    value = _object(text)
    if value is None:
        return Judgement(UNUSABLE)
    if question.kind == SECTIONS:
        extracted = _extracted(value, question.source)
        return Judgement(ANSWERED, sections=extracted) if extracted else Judgement(UNUSABLE)
    items = _items(value.get("additions"))
    if items is None:
        return Judgement(UNUSABLE)
    grounded = tuple(item for item in items if rests_on(item, question.source))
    if items and not grounded:
        return Judgement(UNUSABLE)
    return Judgement(ANSWERED, additions=grounded)


def yes_or_no(text: str) -> bool | None:
    """A yes or no as the first word of a short reply that nowhere says the opposite; else None."""
    if len(text) > _MOST_SAID:
        return None
    words = [word.casefold() for word in _WORD.findall(_LABEL.sub("", text))]
    if not words or words[0] not in _YES | _NO:
        return None
    yes = words[0] in _YES
    return None if any(word in (_NO if yes else _YES) for word in words[1:]) else yes


def rests_on(text: str, source: str) -> bool:
    """Whether most words of a text are in its source, in any inflection."""
    wanted = [word for word in terms.words(text) if len(word) > 2]
    known = terms.words(source)
    return bool(wanted) and sum(word in known for word in wanted) >= _LEAST_FOUND * len(wanted)


def _object(text: str) -> dict[str, object] | None:
    """The first JSON object of a reply, without the prose and fences around it; None when it is cut."""
    decoder = json.JSONDecoder(strict=False)
    begin = -1
    for _ in range(_MOST_VALUES):
        begin = text.find("{", begin + 1)
        if begin < 0:
            return None
        try:
            value, _ = decoder.raw_decode(text, begin)
        except RecursionError:
            return None
        except ValueError:  # also an integer of too many digits
            continue
        return value if isinstance(value, dict) else None
    return None


def _extracted(value: dict[str, object], source: str) -> Extracted | None:
    """Title and sections, each in words of the draft; None when a key or the outcome is missing."""
    if not {"title", *madr.Sections._fields} <= value.keys():
        return None
    texts = [_section(value[key], key in ("options", "consequences")) for key in madr.Sections._fields]
    if any(text is None for text in texts) or not isinstance(value["title"], str):
        return None
    found = madr.Sections(*(text if text and rests_on(text, source) else "" for text in texts))
    title = one_line(value["title"])[:_MOST_TITLE]
    return Extracted(title if rests_on(title, source) else "", found) if found.outcome else None


def _section(value: object, listed: bool) -> str | None:
    """The text of a section, of a list its items; "" for silence, None when it is neither text nor list."""
    if value is None:
        return ""
    if isinstance(value, str):
        text = _plain(value)[:_MOST_SECTION]
        return "" if is_silent(text) else text
    items = _items(value)
    if items is None:
        return None
    rows = [f"* {item}" if listed else item for item in items if not is_silent(item)]
    return "\n".join(rows)[:_MOST_SECTION]


def _items(value: object) -> tuple[str, ...] | None:
    """The texts of a list, each on one line, without marks of lists or headings; None for another value."""
    if not isinstance(value, list) or len(value) > _MOST_ADDITIONS:
        return None
    if not all(isinstance(item, str) and len(item) <= _MOST_ADDITION for item in value):
        return None
    rows = (re.sub(r"^(?:[*+#>-]+[ \t]+)+", "", one_line(_plain(str(item)))) for item in value)
    return tuple(row for row in rows if row)


def _plain(text: str) -> str:
    """The text of a section; its headings become plain lines, so that they start no section."""
    text = text.replace("\r\n", "\n").replace("\x00", "").strip()
    return "\n".join(line.title if line.level else line.text for line in markdown.lines(text))
