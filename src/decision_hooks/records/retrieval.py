"""Which records a draft most likely repeats, found by their bodies.

The rank is BM25 of the draft's decisions, and how much of a record's title the draft speaks of; a record that
took in additions before is more likely to take in another. The weights were chosen on recorded merges
(``bench/retrieval.py``); halving or doubling one of them moved the recall at 5 by at most 0.03.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import log1p
from typing import NamedTuple

from decision_hooks.records import front_matter as document
from decision_hooks.records import headings as arrangement
from decision_hooks.records.index import (
    MOST_COUNT,
    SHIFT,
    Index,
    Indexed,
    build_index,
    dump,
    index_record,
    load,
    weight,
)
from decision_hooks.text import markdown
from decision_hooks.text.terms import MOST_CHARACTERS, terms

__all__ = [
    "Candidate", "Index", "Indexed", "build_index", "candidates", "dump", "index_record", "likely", "load",
    "similar", "terms",
]  # fmt: skip

_FIRST = 0.7  # the draft's first decision, beside the best matching one: the draft is named after it
_TITLE = 0.7
_UPDATES = 0.3
_FEW = 20  # records; among more, a term that stands in over half of them tells nothing and costs most of the time
_MOST_BLOCKS = 30  # of a draft; each costs a search, what follows goes to the last
_OTHER_BLOCK = re.compile(r"(?:Runbook|Knowledge|Reference)\b")


class Candidate(NamedTuple):
    """A text that a draft may repeat."""

    name: str
    is_draft: bool
    score: float  # comparable among the records, and among the drafts, of one draft


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
    for line in markdown.lines(document.split(text).body[:MOST_CHARACTERS]):
        if 1 <= line.level <= 2 and len(blocks) < _MOST_BLOCKS and _opens_block(line.title):
            blocks.append([])
        if blocks:
            blocks[-1].append(line.text)
    return [terms("\n".join(block)) for block in blocks] or [terms(document.split(text).body)]


def _opens_block(title: str) -> bool:
    return arrangement.adr_title(title) is not None or _OTHER_BLOCK.match(title) is not None


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
            place = posting >> SHIFT
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
