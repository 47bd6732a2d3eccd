"""The index of records: what is known of each, made searchable, and its form to be kept between runs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log
from typing import NamedTuple

from decision_hooks.records import front_matter as document
from decision_hooks.records import headings as arrangement
from decision_hooks.records import naming
from decision_hooks.text import markdown
from decision_hooks.text.terms import MOST_CHARACTERS, terms, words

SHIFT = 8  # a posting is the record's place and a count of so many bits
MOST_COUNT = 255
_SATURATION = 4.0  # BM25 k1: repetition goes on counting
_LENGTH = 0.9  # BM25 b

_VERSION = 1  # of the stored form and of the rules for terms
_MOST_TITLE = 300
_MOST_DESCRIPTION = 300
_MOST_LENGTH = 10 * MOST_CHARACTERS  # terms; more is no entry of ours


class Indexed(NamedTuple):
    """What the index knows of one record."""

    name: str
    title: str  # of the front matter, else of the first heading, else ""
    description: str  # of the front matter, else the first line of the outcome
    heading: str  # terms of title and name, one a line
    counted: tuple[
        tuple[int, str], ...
    ]  # a count and the terms of the body that stand there so often, one a line
    length: int  # terms in the body, each as often as it stands there
    updates: int  # additions taken in so far


class Index(NamedTuple):
    """Records ready to be searched."""

    records: tuple[Indexed, ...]
    places: dict[str, int]  # of the names
    postings: dict[str, list[int]]  # of a term: where it stands and how often, in one number
    damping: tuple[float, ...]  # of a record: what its length takes from each count
    titles: dict[str, list[int]]  # of a term of titles and names: the places of these
    title_weights: tuple[float, ...]  # of a record: the weights of its title's terms together

    def record(self, name: str) -> Indexed:
        """The record of that name; raises ``KeyError`` when it is not indexed."""
        return self.records[self.places[name]]


# -- indexing


def index_record(name: str, text: str) -> Indexed:
    """Read a record (or a draft) of any form; never raises."""
    text = document.clean(text[:MOST_CHARACTERS])
    read = document.read(text)
    sections = markdown.sections(read.body)
    title = (read.text("title") or _title(sections))[:_MOST_TITLE]
    description = read.text("description") or _outcome(sections)
    counts = terms(read.body)
    spoken = f"{title} {name[len(naming.time_prefix(name)) :].removesuffix('.md')}"
    return Indexed(
        name=name,
        title=" ".join(title.split()),
        description=" ".join(description.split())[:_MOST_DESCRIPTION],
        heading="\n".join(words(spoken)),
        counted=tuple(_by_count(counts)),
        length=sum(counts.values()),
        updates=sum(map(arrangement.is_update, sections)),
    )


def build_index(records: Iterable[Indexed]) -> Index:
    """Make records searchable; of two with one name the later stays."""
    kept = tuple({one.name: one for one in records}.values())
    postings: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(kept):
        for count, together in one.counted:
            posting = (place << SHIFT) + count
            for term in together.split("\n"):
                postings[term].append(posting)
    titles: dict[str, list[int]] = defaultdict(list)
    weights = []
    for place, one in enumerate(kept):
        heading = one.heading.split("\n")
        for term in heading:
            titles[term].append(place)
        weights.append(sum(weight(len(kept), len(postings.get(term, ()))) for term in heading))
    mean = sum(one.length for one in kept) / max(1, len(kept)) or 1
    damping = tuple(_SATURATION * (1 - _LENGTH + _LENGTH * one.length / mean) for one in kept)
    places = {one.name: place for place, one in enumerate(kept)}
    return Index(kept, places, dict(postings), damping, dict(titles), tuple(weights))


def weight(many: int, holding: int) -> float:
    """How much it tells that a term stands in so many of all records; above 0."""
    holding = min(many, holding)  # a kept index that was tampered with can name a term twice in a record
    return log(1 + (many - holding + 0.5) / (holding + 0.5))


def _title(sections: Sequence[markdown.Section]) -> str:
    for one in sections:
        if 1 <= one.level <= 3 and one.title and arrangement.place(one) is None:
            found = arrangement.adr_title(one.title)
            return one.title if found is None else found
    return ""


def _outcome(sections: Sequence[markdown.Section]) -> str:
    outcome = next((one.text for one in sections if arrangement.place(one) == 2), "")
    return outcome.partition("\n")[0]


def _by_count(counts: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    alike: dict[int, list[str]] = {}
    for term, count in counts.items():
        alike.setdefault(min(count, MOST_COUNT), []).append(term)
    return ((count, "\n".join(found)) for count, found in sorted(alike.items()))


# -- keeping


def dump(records: Mapping[str, tuple[int, int, Indexed]]) -> bytes:
    """Records with size (bytes) and time (ns) of their files, as bytes that ``load`` reads."""
    rows = [(size, mtime, *one) for size, mtime, one in records.values()]
    stored = {"version": _VERSION, "records": rows}
    return json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def load(data: bytes) -> dict[str, tuple[int, int, Indexed]]:
    """What ``dump`` wrote; entries of another form are left out, another version or no JSON gives none."""
    try:
        stored = json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(stored, dict) or stored.get("version") != _VERSION:
        return {}
    rows = stored.get("records")
    found = map(_entry, rows) if isinstance(rows, list) else ()
    return {entry[2].name: entry for entry in found if entry is not None}


def _entry(row: object) -> tuple[int, int, Indexed] | None:
    if not isinstance(row, list) or len(row) != 2 + len(Indexed._fields):
        return None
    size, mtime, name, title, description, heading, counted, length, updates = row
    if not all(isinstance(text, str) for text in (name, title, description, heading)):
        return None
    if not all(type(number) is int for number in (size, mtime, length, updates)):
        return None
    if not (0 <= length <= _MOST_LENGTH and 0 <= updates <= _MOST_LENGTH):
        return None
    if not isinstance(counted, list) or not all(map(_is_counted, counted)):
        return None
    pairs = tuple((count, together) for count, together in counted)
    return size, mtime, Indexed(name, title, description, heading, pairs, length, updates)


def _is_counted(pair: object) -> bool:
    return (
        isinstance(pair, list)
        and len(pair) == 2
        and type(pair[0]) is int
        and 0 < pair[0] <= MOST_COUNT
        and isinstance(pair[1], str)
    )
