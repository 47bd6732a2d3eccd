"""Which records a draft most likely repeats, found by their bodies.

The rank is BM25 of the draft's decisions, and the share of a record's title that the draft mentions; a record
with earlier updates is more likely to get another. The weights were chosen on recorded merges
(``bench/retrieval.py``); halving or doubling one of them moved the recall at 5 by at most 0.03.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log, log1p
from typing import NamedTuple

from decision_hooks.records import front_matter, headings, naming
from decision_hooks.text import markdown
from decision_hooks.text.terms import MOST_CHARACTERS, terms, words

_SHIFT = 8  # a posting is the record's place and a count of so many bits
MOST_COUNT = 255
_SATURATION = 4.0  # BM25 k1: high, so that repetition keeps counting
_LENGTH = 0.9  # BM25 b

_MOST_TITLE = 300
_MOST_DESCRIPTION = 300
_FIRST = 0.7  # weight of the draft's first decision, which names the draft, beside the best matching one
_TITLE = 0.7
_UPDATES = 0.3
_FEW = 20  # records; among more, a term of over half of them says nothing and costs most of the time
_MOST_BLOCKS = 30  # of a draft; each costs a search, the last one takes the rest
_OTHER_BLOCK = re.compile(r"(?:Runbook|Knowledge|Reference)\b")


class Indexed(NamedTuple):
    """The terms of one record."""

    name: str
    title: str  # of the front matter, else of the first heading, else ""
    description: str  # of the front matter, else the first line of the outcome
    heading: str  # terms of title and name, one a line
    counted: tuple[tuple[int, str], ...]  # a count and the terms of the body with that count, one a line
    length: int  # terms in the body, repetitions included
    updates: int  # earlier merges into the record


class Index(NamedTuple):
    """Records ready to be searched."""

    records: tuple[Indexed, ...]
    places: dict[str, int]  # of the names
    postings: dict[str, list[int]]  # of a term: place of a record and count, in one number
    damping: tuple[float, ...]  # of a record: how much its length reduces each count
    titles: dict[str, list[int]]  # of a term of titles and names: the places of their records
    title_weights: tuple[float, ...]  # of a record: the weights of its title's terms together

    def record(self, name: str) -> Indexed:
        """The record of that name; raises ``KeyError`` when it is not indexed."""
        return self.records[self.places[name]]


class Match(NamedTuple):
    """A text that a draft may repeat."""

    name: str
    is_draft: bool
    score: float  # comparable among the records, and among the drafts, of one draft


# -- indexing


def index_record(name: str, text: str) -> Indexed:
    """Read a record (or a draft) of any form; never raises."""
    text = front_matter.clean(text[:MOST_CHARACTERS])
    read = front_matter.read(text)
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
        updates=sum(map(headings.is_update, sections)),
    )


def build_index(records: Iterable[Indexed]) -> Index:
    """Make records searchable; of two with the same name the later one counts."""
    kept = tuple({record.name: record for record in records}.values())
    postings: dict[str, list[int]] = defaultdict(list)
    for place, record in enumerate(kept):
        for count, together in record.counted:
            posting = (place << _SHIFT) + count
            for term in together.split("\n"):
                postings[term].append(posting)
    titles: dict[str, list[int]] = defaultdict(list)
    weights = []
    for place, record in enumerate(kept):
        heading = record.heading.split("\n")
        for term in heading:
            titles[term].append(place)
        weights.append(sum(weight(len(kept), len(postings.get(term, ()))) for term in heading))
    mean = sum(record.length for record in kept) / max(1, len(kept)) or 1
    damping = tuple(_SATURATION * (1 - _LENGTH + _LENGTH * record.length / mean) for record in kept)
    places = {record.name: place for place, record in enumerate(kept)}
    return Index(kept, places, dict(postings), damping, dict(titles), tuple(weights))


def weight(many: int, holding: int) -> float:
    """The rarity of a term that so many of all records have; above 0."""
    holding = min(many, holding)  # a kept index that was tampered with can name a term twice in a record
    return log(1 + (many - holding + 0.5) / (holding + 0.5))


def _title(sections: Sequence[markdown.Section]) -> str:
    for section in sections:
        if 1 <= section.level <= 3 and section.title and headings.section_number(section) is None:
            title = headings.adr_title(section.title)
            return section.title if title is None else title
    return ""


def _outcome(sections: Sequence[markdown.Section]) -> str:
    outcome = next((section.text for section in sections if headings.section_number(section) == 2), "")
    return outcome.partition("\n")[0]


def _by_count(counts: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    alike: dict[int, list[str]] = {}
    for term, count in counts.items():
        alike.setdefault(min(count, MOST_COUNT), []).append(term)
    return ((count, "\n".join(found)) for count, found in sorted(alike.items()))


# -- searching


def likely(index: Index, draft_text: str, k: int) -> list[tuple[str, float]]:
    """The at most k records that a draft most likely repeats, best first, with a score above 0.

    Records that share no term with the draft are left out.
    """
    scores = _scores(index, _decisions(draft_text)) if index.records else []
    ranked = sorted(
        (-score, record.name) for score, record in zip(scores, index.records, strict=True) if score > 0
    )
    return [(name, -score) for score, name in ranked[: max(0, k)]]


def similar(drafts: Sequence[tuple[str, str]], k: int) -> list[list[tuple[str, float]]]:
    """For each draft (name, text) the at most k other drafts that it is most like, best first."""
    index = build_index([index_record(name, text) for name, text in drafts])
    ranked = ([match for match in likely(index, text, k + 1) if match[0] != name] for name, text in drafts)
    return [others[: max(0, k)] for others in ranked]


def candidates(index: Index, drafts: Sequence[tuple[str, str]], k: int = 12) -> list[list[Match]]:
    """For each draft (name, text) at most k texts to compare it with: up to a quarter drafts, the rest records.

    Either kind may use the places that the other leaves free.
    """
    found = []
    for (_, text), alike in zip(drafts, similar(drafts, k), strict=True):
        records = [Match(name, False, score) for name, score in likely(index, text, k)]
        others = [Match(name, True, score) for name, score in alike][: max(k // 4, k - len(records))]
        found.append(records[: k - len(others)] + others)
    return found


def _decisions(text: str) -> list[dict[str, int]]:
    """The terms of each decision of a draft, without text before the first; of the whole draft if there is none."""
    blocks: list[list[str]] = []
    for line in markdown.lines(front_matter.split(text).body[:MOST_CHARACTERS]):
        if 1 <= line.level <= 2 and len(blocks) < _MOST_BLOCKS and _opens_block(line.title):
            blocks.append([])
        if blocks:
            blocks[-1].append(line.text)
    return [terms("\n".join(block)) for block in blocks] or [terms(front_matter.split(text).body)]


def _opens_block(title: str) -> bool:
    return headings.adr_title(title) is not None or _OTHER_BLOCK.match(title) is not None


def _scores(index: Index, decisions: Sequence[Mapping[str, int]]) -> list[float]:
    matches = [_relative(_bm25(index, decision)) for decision in decisions]
    best = [max(values) for values in zip(*matches, strict=True)]
    counts: Counter[str] = Counter()
    for decision in decisions:
        counts.update(decision)
    titles = _titles_mentioned(index, counts)
    return [
        (best[n] + _FIRST * matches[0][n] + _TITLE * titles[n]) * (1 + _UPDATES * log1p(record.updates))
        for n, record in enumerate(index.records)
    ]


def _bm25(index: Index, query: Mapping[str, int]) -> list[float]:
    scores = [0.0] * len(index.records)
    damping = index.damping
    common = max(_FEW, len(index.records) // 2)
    for term, asked in query.items():
        found = index.postings.get(term)
        if found is None or len(found) > common:
            continue
        worth = _rarity(index, term) * 2 * asked / (asked + 1)
        for posting in found:
            count = posting & MOST_COUNT
            place = posting >> _SHIFT
            scores[place] += worth * count / (count + damping[place])
    return scores


def _relative(scores: Sequence[float]) -> list[float]:
    most = max(scores)
    return [score / most for score in scores] if most > 0 else list(scores)


def _titles_mentioned(index: Index, counts: Mapping[str, int]) -> list[float]:
    """The share of each title, weighed by rarity, that a draft mentions; a word used once counts half."""
    shares = [0.0] * len(index.records)
    for term, places in index.titles.items():
        if term in counts:
            worth = _rarity(index, term) * min(1.0, counts[term] / 2)
            for place in places:
                shares[place] += worth
    return [share / whole for share, whole in zip(shares, index.title_weights, strict=True)]


def _rarity(index: Index, term: str) -> float:
    return weight(len(index.records), len(index.postings.get(term, ())))
