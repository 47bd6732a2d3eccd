"""Chooses the drafts of a batch: the oldest and related ones, within bounds; no draft can block the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from decision_hooks.records import naming
from decision_hooks.records.front_matter import DraftFile
from decision_hooks.text import similar

MOST_CHARACTERS = 150_000
_LOOK_AHEAD = 200  # drafts that are compared with the oldest
_PATIENCE = 2  # runs without an accepted operation after which a draft goes behind the others


def order(names: Iterable[str], misses: Mapping[str, int]) -> list[str]:
    """Oldest first by the time in the name; every two runs that left a draft move it behind the others."""
    return sorted(names, key=lambda name: (misses.get(name, 0) // _PATIENCE, naming.order_key(name)))


def choose(drafts: Sequence[DraftFile], most: int) -> list[DraftFile]:
    """The batch, in the order of the drafts: related drafts may take up to half of it but never displace the oldest."""
    if not drafts:
        return []
    oldest = list(drafts[: most - most // 2])
    rest = [draft for draft in drafts if draft not in oldest]
    shingles = [similar.shingles(draft.text) for draft in oldest]
    sessions = {draft.session for draft in oldest if draft.session not in ("", "unknown")}
    related = [
        draft
        for draft in rest[:_LOOK_AHEAD]
        if draft.session in sessions
        or any(similar.near_duplicates(similar.shingles(draft.text), other) for other in shingles)
    ][: most // 2]
    others = [draft for draft in rest if draft not in related]
    chosen: list[DraftFile] = []
    size = 0
    for draft in [*oldest, *related, *others]:
        if len(chosen) >= most:
            break
        if chosen and size + len(draft.text) > MOST_CHARACTERS:
            continue
        chosen.append(draft)
        size += len(draft.text)
    places = {draft.name: place for place, draft in enumerate(drafts)}
    return sorted(chosen, key=lambda draft: places[draft.name])
