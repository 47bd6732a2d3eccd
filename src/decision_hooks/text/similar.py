"""Compares texts by their shingles: runs of three words."""

from __future__ import annotations

import re

_NEAR = 0.5  # share of common shingles from which two texts are near-duplicates
_FEWEST = 8  # shingles; shorter texts are alike by chance


def near_duplicates(one: frozenset[int], other: frozenset[int]) -> bool:
    """Whether two texts share at least half of their shingles."""
    smaller = min(len(one), len(other))
    return smaller >= _FEWEST and len(one & other) >= _NEAR * len(one | other)


def shingles(text: str) -> frozenset[int]:
    """Hashes of every three words in a row, valid within this process only."""
    words = re.findall(r"\w+", text.lower())
    return frozenset(hash(tuple(words[n : n + 3])) for n in range(len(words) - 2))
