"""Drafts of sessions that edited only tooling files: they need no model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from decision_hooks.hosts import times
from decision_hooks.normalize.job import Job
from decision_hooks.records import front_matter
from decision_hooks.records.front_matter import DraftFile
from decision_hooks.transcripts import find, reading
from decision_hooks.transcripts.blocks import Extent
from decision_hooks.transcripts.verdict import TOOLING_ONLY, verdict_of


def tooling_only(job: Job, batch: Sequence[DraftFile]) -> tuple[str, ...]:
    """Names of drafts whose session, up to their capture, edited something and nothing but tooling files."""
    judge = verdict_of(job.at.project, job.at.world.environ)

    @cache
    def verdict(where: Extent, until: float) -> str:
        return judge(tuple(reading.edits(where.path, 0, where.size, until=until)))

    found = []
    for draft in batch:
        front = front_matter.read(draft.text).front
        where = find.named(str(front.get("transcript", "")), job.at.world.home)
        captured = times.from_iso(front.get("captured"))
        if where and captured and verdict(where, captured + 1) == TOOLING_ONLY:
            found.append(draft.name)
    return tuple(found)
