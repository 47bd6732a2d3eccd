"""Which texts are compared with a draft, in which order, and what becomes of those that are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from decision_hooks.pipeline.duplicates import Joined
from decision_hooks.records.search import Candidate

MOST_CANDIDATES = 12  # of a draft
_LEAST_SCORE = (
    0.4  # of a record's score beside the best one; recorded merges lay above it (``bench/pipeline.py``)
)
_WAVES = (3, 7, MOST_CANDIDATES)  # up to which rank each wave asks: the likely ones first


class Pair(NamedTuple):
    """Two texts that may be about one decision."""

    draft: str
    other: str
    is_draft: bool
    rank: int  # from 0; a draft beside the others of a draft ranks behind two records


class Cluster(NamedTuple):
    """Drafts about one decision, and the record that each of them goes into ("" for none)."""

    drafts: tuple[str, ...]
    targets: tuple[str, ...]


def worth_asking(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates of a draft without the records that are far less likely than the best."""
    best = max((one.score for one in candidates if not one.is_draft), default=0.0)
    found = (one for one in candidates if one.is_draft or one.score >= _LEAST_SCORE * best)
    return tuple(found)[:MOST_CANDIDATES]


def waves(drafts: Sequence[str], candidates: Sequence[Sequence[Candidate]]) -> tuple[tuple[Pair, ...], ...]:
    """The pairs of drafts with their candidates, two drafts only once, in waves from likely to unlikely.

    A wave goes draft by draft: when the time is up some drafts are compared, not all of them by half.
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
    begins = (0, *_WAVES)
    return tuple(
        tuple(pair for pair in pairs if begin <= pair.rank and (pair.rank < end or end == _WAVES[-1]))
        for begin, end in zip(begins, _WAVES, strict=False)
    )


def open_pairs(wave: Sequence[Pair], same: Sequence[Pair], anchors: Mapping[str, str]) -> tuple[Pair, ...]:
    """The pairs of a wave that still tell something.

    A draft whose record is found needs no other, and of drafts that are the same the anchor alone is compared
    with records.
    """
    placed = {pair.draft for pair in same if not pair.is_draft}
    joined = Joined(anchors)
    for pair in same:
        joined.join(pair.draft, pair.other)
    found = []
    for pair in wave:
        if pair.is_draft:
            needed = joined.first(pair.draft) != joined.first(pair.other)
            needed = needed and not {pair.draft, pair.other} <= placed
        else:
            needed = pair.draft not in placed and anchors.get(pair.draft, pair.draft) == pair.draft
        if needed:
            found.append(pair)
    return tuple(found)


def clusters(drafts: Sequence[str], same: Sequence[Pair]) -> tuple[Cluster, ...]:
    """The drafts in clusters of what is the same.

    A draft goes into the likeliest record that it is the same as, else into the first of its cluster.
    """
    joined = Joined(drafts)
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
