"""What of a session goes when it does not fit: lengths in, shares out. Pure numbers, no texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

MARK = 40  # characters that the mark of a cut costs at most
LONG = 2000  # requests over this keep head and tail
SHORT = 200  # what a request in the middle keeps before it goes
_LEAST = 200  # a smaller part of a cut text tells nothing

GOES_FIRST = ("result", "tool", "thinking")
REQUESTS = ("user", "answer", "plan")


class Piece(NamedTuple):
    """A kind of entry and the characters that it takes."""

    kind: str
    size: int
    around: int = 0  # characters of its label, its line end, and the heading of a turn that it begins

    @property
    def cost(self) -> int:
        """Characters with all that surrounds it."""
        return self.size + self.around


class Share(NamedTuple):
    """How many characters of a piece's beginning and end are kept; ``head`` is its size when it stays whole."""

    head: int
    tail: int = 0

    @property
    def kept(self) -> int:
        """Characters that are kept."""
        return self.head + self.tail


NOTHING = Share(0)


def shares(pieces: Sequence[Piece], budget: int) -> list[Share]:
    """The share of each piece, so that all together cost at most ``budget`` where that can be.

    Tool results, tool inputs and thinking go first, oldest first; then assistant text from the middle, down to
    half the budget; then long requests keep head and tail; then those in the middle keep little, then go.
    """
    found = [Share(piece.size) for piece in pieces]
    excess = sum(piece.cost for piece in pieces) - budget
    for kind in GOES_FIRST:
        for number in _of_kinds(pieces, (kind,)):
            if excess <= 0:
                return found
            found[number] = NOTHING
            excess -= pieces[number].cost
    if excess <= 0:
        return found
    texts, requests = _of_kinds(pieces, ("assistant",)), _of_kinds(pieces, REQUESTS)
    asked = sum(pieces[number].cost for number in requests)
    _cut_middle(pieces, texts, max(budget - asked, budget // 2), found)
    told = sum(_cost(pieces[number], found[number]) for number in texts)
    _shorten(pieces, requests, budget - told, found)
    return found


def _of_kinds(pieces: Sequence[Piece], kinds: Iterable[str]) -> list[int]:
    wanted = tuple(kinds)
    return [number for number, piece in enumerate(pieces) if piece.kind in wanted]


def _cost(piece: Piece, share: Share) -> int:
    if not share.kept:
        return 0
    return share.kept + piece.cost - piece.size + (MARK if share.kept < piece.size else 0)


def _cut_middle(pieces: Sequence[Piece], texts: Sequence[int], room: int, found: list[Share]) -> None:
    """Take the middle out of the stream of texts; those of ordinary length go whole rather than in part."""
    total = sum(pieces[number].cost for number in texts)
    if total <= room:
        return
    room = max(0, room - 2 * MARK)
    begin, end = (room + 1) // 2, total - room // 2
    place = 0
    for number in texts:
        piece = pieces[number]
        first, last = place, place + piece.cost
        place = last
        if last <= begin or first >= end:
            continue
        fixed = piece.cost - piece.size
        before = min(begin - first, piece.size) - fixed
        after = min(last - end, piece.size) - (fixed if before < _LEAST else 0)
        share = Share(before if before >= _LEAST else 0, after if after >= _LEAST else 0)
        found[number] = share if piece.size > LONG and share.kept < piece.size else NOTHING


def _shorten(pieces: Sequence[Piece], requests: Sequence[int], room: int, found: list[Share]) -> None:
    def excess() -> int:
        return sum(_cost(pieces[number], found[number]) for number in requests) - room

    if excess() <= 0:
        return
    level = _level([pieces[number] for number in requests], room)
    for number in requests:
        if pieces[number].size > level:
            found[number] = Share(level - level // 2, level // 2)
    left = excess()
    for share in (Share(SHORT), NOTHING):
        for number in _from_the_middle(requests):
            if left <= 0:
                return
            if share is NOTHING or found[number].kept > share.kept + MARK:
                left += _cost(pieces[number], share) - _cost(pieces[number], found[number])
                found[number] = share


def _level(requests: Sequence[Piece], room: int) -> int:
    """The most characters, not under LONG, that a long request can keep when all are to fit."""
    low, high = LONG, max((piece.size for piece in requests), default=LONG)
    while low < high:
        level = (low + high + 1) // 2
        cost = sum(_cost(piece, Share(min(piece.size, level))) for piece in requests)
        low, high = (level, high) if cost <= room else (low, level - 1)
    return low


def _from_the_middle(numbers: Sequence[int]) -> list[int]:
    """The middle one first, the first and the last at the end."""
    middle = (len(numbers) - 1) / 2
    order = sorted(range(len(numbers)), key=lambda place: abs(place - middle))
    return [numbers[place] for place in order]
