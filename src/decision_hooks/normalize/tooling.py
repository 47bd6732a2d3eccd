"""Drafts of sessions that touched only tooling files: they need no model."""

from __future__ import annotations

import os
from collections.abc import Sequence

from decision_hooks.hosts import large_parts, transcript
from decision_hooks.normalize import batching
from decision_hooks.normalize.job import Job
from decision_hooks.records import front_matter as document
from decision_hooks.sessions import relevance
from decision_hooks.sessions.model import Edit
from decision_hooks.system import git
from decision_hooks.transcripts import blocks as transcript_file


def tooling_only(job: Job, batch: Sequence[batching.Waiting]) -> tuple[str, ...]:
    """Names of drafts whose session, up to their capture, edited something and nothing but tooling files."""
    edits: dict[tuple[str, str], tuple[Edit, ...]] = {}
    found = []
    for draft in batch:
        front = document.read(draft.text).front
        path, captured = str(front.get("transcript", "")), str(front.get("captured", ""))
        where = transcript_file.named(path, job.world.home)
        if where is None or not captured:
            continue
        key = (where.path, captured)
        if key not in edits:
            edits[key] = _edits_until(where, captured)
        if edits[key] and _all_tooling(job, edits[key]):
            found.append(draft.name)
    return tuple(found)


def _edits_until(where: transcript_file.Extent, captured: str) -> tuple[Edit, ...]:
    from datetime import datetime

    try:
        until = datetime.fromisoformat(captured.replace("Z", "+00:00")).timestamp() + 1
    except (ValueError, OverflowError):
        return ()
    header = transcript_file.first_line(where.path)
    wanted = large_parts.needles(header).edits
    lines = []
    found = transcript_file.candidates(
        where.path, 0, where.size, wanted, large_parts.is_edit, large_parts.RESULTS
    )
    for line, following in found:
        if transcript.parse([line], header=header).last_time <= until:
            lines += [line, *large_parts.failures(following)]
    return transcript.parse(lines, header=header).edits


def _all_tooling(job: Job, edits: tuple[Edit, ...]) -> bool:
    root = os.path.realpath(job.place.root)
    paths = relevance.changed_paths(edits, root=root, resolve=os.path.realpath)

    def version_only(path: str) -> bool:
        return relevance.only_version_changed(git.diff_to_head(root, path, job.world.environ))

    return bool(paths) and relevance.is_tooling_only(
        paths, root=root, adr_dir=os.path.realpath(job.place.adr), version_only=version_only
    )
