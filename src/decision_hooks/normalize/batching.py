"""Which drafts a run takes: the oldest, with what belongs to them, within bounds; nothing can block the inbox."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from decision_hooks.records import naming
from decision_hooks.text import similar

MOST_CHARACTERS = 150_000
_LOOK_AHEAD = 200  # drafts that are compared with the oldest
_PATIENCE = 2  # runs without an accepted operation after which a draft goes behind the others


class Waiting(NamedTuple):
    """A draft that waits."""

    name: str
    text: str
    session: str


def order(names: Iterable[str], misses: Mapping[str, int]) -> list[str]:
    """Oldest first by the time in the name; what was left by two runs goes behind, by two more behind those."""
    return sorted(names, key=lambda name: (misses.get(name, 0) // _PATIENCE, naming.order_key(name)))


def choose(waiting: Sequence[Waiting], most: int) -> list[Waiting]:
    """The batch, of drafts in their order: companions of the oldest may fill half of it, never their place."""
    if not waiting:
        return []
    oldest = list(waiting[: most - most // 2])
    rest = [draft for draft in waiting if draft not in oldest]
    shingles = [similar.shingles(draft.text) for draft in oldest]
    sessions = {draft.session for draft in oldest if draft.session not in ("", "unknown")}
    companions = [
        draft
        for draft in rest[:_LOOK_AHEAD]
        if draft.session in sessions
        or any(similar.near(similar.shingles(draft.text), one) for one in shingles)
    ][: most // 2]
    others = [draft for draft in rest if draft not in companions]
    chosen: list[Waiting] = []
    size = 0
    for draft in [*oldest, *companions, *others]:
        if len(chosen) >= most:
            break
        if chosen and size + len(draft.text) > MOST_CHARACTERS:
            continue
        chosen.append(draft)
        size += len(draft.text)
    places = {draft.name: place for place, draft in enumerate(waiting)}
    return sorted(chosen, key=lambda draft: places[draft.name])
