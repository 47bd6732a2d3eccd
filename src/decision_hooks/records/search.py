"""Which records a draft most likely repeats, found by their bodies.

The rank is BM25 of the draft's decisions, and how much of a record's title the draft speaks of; a record that
took in additions before is more likely to take in another. The weights were chosen on recorded merges
(``bench/retrieval.py``); halving or doubling one of them moved the recall at 5 by at most 0.03.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log, log1p
from typing import NamedTuple

from decision_hooks.records import front_matter, headings, naming
from decision_hooks.text import markdown
from decision_hooks.text.terms import MOST_CHARACTERS, terms, words

_SHIFT = 8  # a posting is the record's place and a count of so many bits
MOST_COUNT = 255
_SATURATION = 4.0  # BM25 k1: repetition goes on counting
_LENGTH = 0.9  # BM25 b

_MOST_TITLE = 300
_MOST_DESCRIPTION = 300
_FIRST = 0.7  # the draft's first decision, beside the best matching one: the draft is named after it
_TITLE = 0.7
_UPDATES = 0.3
_FEW = 20  # records; among more, a term that stands in over half of them tells nothing and costs most of the time
_MOST_BLOCKS = 30  # of a draft; each costs a search, what follows goes to the last
_OTHER_BLOCK = re.compile(r"(?:Runbook|Knowledge|Reference)\b")


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


class Candidate(NamedTuple):
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
    """Make records searchable; of two with one name the later stays."""
    kept = tuple({one.name: one for one in records}.values())
    postings: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(kept):
        for count, together in one.counted:
            posting = (place << _SHIFT) + count
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
        if 1 <= one.level <= 3 and one.title and headings.section_number(one) is None:
            found = headings.adr_title(one.title)
            return one.title if found is None else found
    return ""


def _outcome(sections: Sequence[markdown.Section]) -> str:
    outcome = next((one.text for one in sections if headings.section_number(one) == 2), "")
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
    ranked = sorted((-score, one.name) for score, one in zip(scores, index.records, strict=True) if score > 0)
    return [(name, -score) for score, name in ranked[: max(0, k)]]


def similar(drafts: Sequence[tuple[str, str]], k: int) -> list[list[tuple[str, float]]]:
    """For each draft (name, text) the at most k other drafts that it is most like, best first."""
    index = build_index([index_record(name, text) for name, text in drafts])
    found = []
    for name, text in drafts:
        others = [one for one in likely(index, text, k + 1) if one[0] != name]
        found.append(others[: max(0, k)])
    return found


def candidates(index: Index, drafts: Sequence[tuple[str, str]], k: int = 12) -> list[list[Candidate]]:
    """For each draft (name, text) at most k texts to compare it with: up to a quarter drafts, the rest records.

    What one kind leaves free goes to the other.
    """
    found = []
    for (_, text), alike in zip(drafts, similar(drafts, k), strict=True):
        records = [Candidate(name, False, score) for name, score in likely(index, text, k)]
        others = [Candidate(name, True, score) for name, score in alike]
        kept = max(k // 4, k - len(records))
        others = others[:kept]
        found.append(records[: k - len(others)] + others)
    return found


def _decisions(text: str) -> list[dict[str, int]]:
    """The terms of each decision of a draft; chatter before the first is left out, without any the whole is one."""
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
    told: dict[str, int] = {}
    for decision in decisions:
        for term, count in decision.items():
            told[term] = told.get(term, 0) + count
    titles = _titles_told(index, told)
    return [
        (best[n] + _FIRST * matches[0][n] + _TITLE * titles[n]) * (1 + _UPDATES * log1p(one.updates))
        for n, one in enumerate(index.records)
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


def _titles_told(index: Index, told: Mapping[str, int]) -> list[float]:
    """The share of each title, weighed by rarity, that a draft speaks of; a word said once counts half."""
    shares = [0.0] * len(index.records)
    for term, places in index.titles.items():
        if term in told:
            worth = _rarity(index, term) * min(1.0, told[term] / 2)
            for place in places:
                shares[place] += worth
    return [share / whole for share, whole in zip(shares, index.title_weights, strict=True)]


def _rarity(index: Index, term: str) -> float:
    return weight(len(index.records), len(index.postings.get(term, ())))
