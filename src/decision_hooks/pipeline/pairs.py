"""Chooses the texts to compare with a draft, in which order, and clusters those about the same decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from decision_hooks.pipeline.duplicates import UnionFind
from decision_hooks.records.search import Match

MOST_CANDIDATES = 12  # of a draft
# The least score of a record, as a share of the best one's; recorded merges lay above (``bench/pipeline.py``)
_LEAST_SCORE = 0.4
_ROUNDS = (3, 7, MOST_CANDIDATES)  # the rank at which each round of questions ends: likely pairs first


class Pair(NamedTuple):
    """Two texts that may be about one decision."""

    draft: str
    other: str
    is_draft: bool
    rank: int  # from 0; the first other draft ranks behind two records


class Cluster(NamedTuple):
    """Drafts about one decision, and the record that each of them is merged into ("" for none)."""

    drafts: tuple[str, ...]
    targets: tuple[str, ...]


def worth_asking(candidates: Sequence[Match]) -> tuple[Match, ...]:
    """The candidates of a draft without the records that are far less likely than the best."""
    best = max((match.score for match in candidates if not match.is_draft), default=0.0)
    likely = (match for match in candidates if match.is_draft or match.score >= _LEAST_SCORE * best)
    return tuple(likely)[:MOST_CANDIDATES]


def rounds(drafts: Sequence[str], candidates: Sequence[Sequence[Match]]) -> tuple[tuple[Pair, ...], ...]:
    """The pairs of drafts and their candidates in rounds from likely to unlikely; two drafts are paired once.

    A round goes draft by draft: when time runs out, some drafts are fully compared rather than all by half.
    """
    found: dict[frozenset[str], Pair] = {}
    for name, others in zip(drafts, candidates, strict=True):
        places = {True: 1, False: 0}
        for other in worth_asking(others):
            rank = places[other.is_draft]
            places[other.is_draft] += 3 if other.is_draft else 1
            key = frozenset((name, other.name))
            if key not in found or rank < found[key].rank:
                found[key] = Pair(name, other.name, other.is_draft, rank)
    order = {name: place for place, name in enumerate(drafts)}
    pairs = sorted(found.values(), key=lambda pair: (order[pair.draft], pair.rank))
    begins = (0, *_ROUNDS)
    return tuple(
        tuple(pair for pair in pairs if begin <= pair.rank and (pair.rank < end or end == _ROUNDS[-1]))
        for begin, end in zip(begins, _ROUNDS, strict=False)
    )


def open_pairs(
    pairs: Sequence[Pair], same: Sequence[Pair], representatives: Mapping[str, str]
) -> tuple[Pair, ...]:
    """The pairs that are still worth asking about.

    A draft with a known record needs no other one, and of drafts about the same decision only the representative
    is compared with records.
    """
    placed = {pair.draft for pair in same if not pair.is_draft}
    joined = UnionFind(representatives)
    for pair in same:
        joined.join(pair.draft, pair.other)
    worth = []
    for pair in pairs:
        if pair.is_draft:
            needed = joined.find(pair.draft) != joined.find(pair.other)
            needed = needed and not {pair.draft, pair.other} <= placed
        else:
            needed = pair.draft not in placed and representatives.get(pair.draft, pair.draft) == pair.draft
        if needed:
            worth.append(pair)
    return tuple(worth)


def clusters(drafts: Sequence[str], same: Sequence[Pair]) -> tuple[Cluster, ...]:
    """The drafts in clusters about the same decision.

    A draft is merged into its likeliest record, else into the first record of its cluster.
    """
    joined = UnionFind(drafts)
    own: dict[str, str] = {}
    for pair in sorted(same, key=lambda pair: pair.rank):
        if pair.is_draft:
            joined.join(pair.draft, pair.other)
        else:
            own.setdefault(pair.draft, pair.other)
    found = []
    for names in joined.groups():
        shared = next((own[name] for name in names if name in own), "")
        found.append(Cluster(tuple(names), tuple(own.get(name, shared) for name in names)))
    return tuple(found)
