"""Drafts of sessions that touched only tooling files: they need no model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from glob import glob

from decision_hooks.normalize import Job
from decision_hooks.records import batching, document
from decision_hooks.sessions import relevance, transcript
from decision_hooks.sessions.model import Edit
from decision_hooks.system import git, transcript_file
from decision_hooks.system.transcript_file import PartReader


def tooling_only(job: Job, batch: Sequence[batching.Waiting]) -> tuple[str, ...]:
    """Names of drafts whose session, up to their capture, edited something and nothing but tooling files."""
    edits: dict[tuple[str, str], tuple[Edit, ...]] = {}
    found = []
    for draft in batch:
        front = document.read(draft.text).front
        path, captured = str(front.get("transcript", "")), str(front.get("captured", ""))
        where = _find(path, job.world.home)
        if where is None or not captured:
            continue
        key = (where.path, captured)
        if key not in edits:
            edits[key] = _edits_until(where, captured)
        if edits[key] and _all_tooling(job, edits[key]):
            found.append(draft.name)
    return tuple(found)


def _find(path: str, home: str) -> transcript_file.Extent | None:
    """The transcript that a draft names: home as ``~``, the host's folder perhaps as ``*``."""
    if path.startswith("~/"):
        path = home + path[1:]
    if not os.path.isabs(path) or not path.endswith((".jsonl", ".txt")):
        return None
    if "*" not in path:
        return transcript_file.extent(path)
    found = glob(path)
    return transcript_file.extent(found[0]) if len(found) == 1 else None


def _edits_until(where: transcript_file.Extent, captured: str) -> tuple[Edit, ...]:
    from datetime import datetime

    try:
        until = datetime.fromisoformat(captured.replace("Z", "+00:00")).timestamp() + 1
    except (ValueError, OverflowError):
        return ()
    reader = PartReader(
        where,
        0,
        is_record=transcript.is_record,
        always=transcript.edit_like,
        sometimes=lambda line: False,
        window=0,
    )
    header = next((line for _, line in transcript_file.lines(where.path, 0, min(where.size, 262144))), None)
    return transcript.parse(_before(reader, until), header=header).edits


def _before(lines: Iterable[bytes], until: float) -> Iterable[bytes]:
    for line in lines:
        if transcript.parse([line]).last_time <= until:
            yield line


def _all_tooling(job: Job, edits: tuple[Edit, ...]) -> bool:
    root = os.path.realpath(job.place.root)
    paths = relevance.changed_paths(edits, root=root, resolve=os.path.realpath)

    def version_only(path: str) -> bool:
        return relevance.only_version_changed(git.diff_to_head(root, path, job.world.environ))

    return bool(paths) and relevance.is_tooling_only(
        paths, root=root, adr_dir=os.path.realpath(job.place.adr), version_only=version_only
    )
