"""Which sessions and parts a backfill would send, and what a person is shown of each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from decision_hooks.capture.part import Part, read_again, read_part
from decision_hooks.capture.queue import may_be_read, seal_of
from decision_hooks.commands.report import shortened
from decision_hooks.hosts.table import public_path
from decision_hooks.privacy.mask import outgoing
from decision_hooks.settings import CaptureSettings
from decision_hooks.state.capture import DAY, POSITION_DAYS, CaptureState
from decision_hooks.state.values import GivenUp, Pending, key_of
from decision_hooks.system import adr_folder, files
from decision_hooks.system.project import Project, main_root, tree_name
from decision_hooks.system.runlog import iso_time
from decision_hooks.system.world import World
from decision_hooks.transcripts import find
from decision_hooks.transcripts.find import SessionFile

_SHOWN = 70  # characters of a first request
# Why a session is left aside: the key in the list as JSON, and the words for a person.
LEFT_ASIDE = {
    "captured": "captured already",
    "drafted": "not known here, but with drafts in the folder",
    "older": "left aside as older (--since DATE takes them)",
    "empty": "with nothing new said in them",
    "foreign": "left aside, for no stop here has named their files",
}


class Candidate(NamedTuple):
    """One part that would be sent."""

    entry: Pending
    part_time: float  # of its last record, seconds since the epoch
    size: int  # bytes of the transcript that belong to it
    first: str  # its first request, masked and shortened
    requests: int
    given_up: GivenUp | None = None


class BackfillPlan(NamedTuple):
    """What a backfill would do, oldest first."""

    candidates: tuple[Candidate, ...]
    passed: Mapping[str, int]  # how many sessions are left aside, by reason


def never_captured(
    project: Project, world: World, settings: CaptureSettings, since: float | None
) -> BackfillPlan:
    """Sessions of the project that no stop and no backfill has captured, changed after ``since``.

    Without ``since`` sessions older than positions are kept are left aside: they may have been captured.
    """
    state = CaptureState(project)
    least = since if since is not None else world.now() - POSITION_DAYS * DAY
    drafted = set(adr_folder.Snapshot(project.adr).sessions.values())
    candidates: list[Candidate] = []
    passed = dict.fromkeys(LEFT_ASIDE, 0)
    for session in find.of_project(project, world.environ):
        reason = _passed_over(state, session, least, drafted, world.now())
        entry = _entry(project, session, world)
        part = None if reason else read_part(state, entry, incremental=settings.incremental, world=world)
        if part is None or part.nothing_new:
            passed[reason or "empty"] += 1
            continue
        size = max(0, part.position.offset - part.begin)
        candidates.append(_candidate(entry, part, size, world))
    return BackfillPlan(tuple(candidates), passed)


def given_up(project: Project, world: World, settings: CaptureSettings) -> BackfillPlan:
    """Parts that were given up after too many tries, each on its own, where their transcripts still have them."""
    state = CaptureState(project)
    candidates: list[Candidate] = []
    passed = dict.fromkeys(LEFT_ASIDE, 0)
    for stored in state.given_up():
        if not may_be_read(stored.entry, world.environ):
            passed["foreign"] += 1
            continue
        entry = stored.entry._replace(root=stored.entry.root or project.root)
        stored = stored._replace(entry=entry)
        part = read_again(state, stored, incremental=settings.incremental, world=world)
        if part is not None:
            size = len(files.to_bytes(entry.message)) if stored.only_message else stored.end - stored.begin
            candidates.append(_candidate(entry, part, size, world)._replace(given_up=stored))
    candidates.sort(key=lambda part: (part.part_time, part.given_up.begin if part.given_up else 0))
    return BackfillPlan(tuple(candidates), passed)


def coverage(project: Project, world: World, since: float) -> tuple[int, int]:
    """How many sessions changed after ``since`` were never captured, and how many were; pending ones count."""
    state = CaptureState(project)
    missed = captured = 0
    for session in find.of_project(project, world.environ, since):
        passed = _passed_over(state, session, since, set(), world.now())
        if passed or state.waiting(key_of(session.where.path)):
            captured += 1
        else:
            missed += 1
    return missed, captured


def _passed_over(
    state: CaptureState, session: SessionFile, least: float, drafted: set[str], now: float
) -> str:
    position = state.position(key_of(session.where.path), session.where.path, now)
    if position.time or position.offset or position.appended:
        return "captured"
    if session.session_id in drafted:
        return "drafted"
    return "older" if session.where.modified < least else ""


def _entry(project: Project, session: SessionFile, world: World) -> Pending:
    now = world.now()
    entry = Pending(
        key=key_of(session.where.path),
        transcript=session.where.path,
        session_id=session.session_id,
        host=session.host,
        message="",
        root=project.root,
        waits=False,
        first=now,
        stop=now,
        serial=os.urandom(8).hex(),
        main=main_root(project),
        tree=tree_name(project),
    )
    return entry._replace(seal=seal_of(entry, world.environ))


def _candidate(entry: Pending, part: Part, size: int, world: World) -> Candidate:
    said = part.session.entries
    requests = [entry.text for entry in said if entry.kind == "user"]
    first = next(iter(requests), next((entry.text for entry in said), ""))
    masked = outgoing(first[:4000], world.home)
    return Candidate(entry, part.time, size, shortened(masked, _SHOWN), len(requests))


def shown(candidates: Iterable[Candidate], home: str) -> Iterator[tuple[str, ...]]:
    """The cells of a table: host, time, size, requests, file, first request."""
    for part in candidates:
        yield (
            part.entry.host,
            iso_time(part.part_time)[:16].replace("T", " "),
            f"{max(1, part.size // 1024):,} KiB",
            str(part.requests),
            public_path(part.entry.transcript, home),
            part.first,
        )
