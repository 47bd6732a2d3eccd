"""Which sessions and parts a backfill would send, and what a person is shown of each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from decision_hooks.capture.part import Part, read_again, read_part
from decision_hooks.commands.report import shortened
from decision_hooks.hosts import transcript
from decision_hooks.privacy.mask import outgoing, public_path
from decision_hooks.settings import CaptureSettings
from decision_hooks.state.capture import DAY, POSITION_DAYS, CaptureState
from decision_hooks.state.values import GivenUp, Pending, key_of
from decision_hooks.system import adr_folder, files
from decision_hooks.system.project import Project
from decision_hooks.system.runlog import iso_time
from decision_hooks.system.world import World
from decision_hooks.transcripts import find
from decision_hooks.transcripts.find import SessionFile

_SHOWN = 70  # characters of a first request


class Candidate(NamedTuple):
    """One part that would be sent."""

    entry: Pending
    part_time: float  # of its last record, seconds since the epoch
    size: int  # bytes of the transcript that belong to it
    first: str  # its first request, masked and shortened
    requests: int
    given_up: GivenUp | None = None


class Passed(NamedTuple):
    """How many sessions are left aside, by reason."""

    captured: int = 0
    drafted: int = 0  # not by us as far as we remember, but drafts of the session are there
    older: int = 0
    empty: int = 0  # nobody said anything


class Plan(NamedTuple):
    """What a backfill would do, oldest first."""

    candidates: tuple[Candidate, ...]
    passed: Passed = Passed()


def never_captured(project: Project, world: World, settings: CaptureSettings, since: float | None) -> Plan:
    """Sessions of the project that no stop and no backfill has captured, changed after ``since``.

    Without ``since`` sessions older than positions are kept are left aside: they may have been captured.
    """
    state = CaptureState(project)
    least = since if since is not None else world.now() - POSITION_DAYS * DAY
    drafted = set(adr_folder.Snapshot(project.adr).sessions.values())
    found: list[Candidate] = []
    counts = {"captured": 0, "drafted": 0, "older": 0, "empty": 0}
    for session in find.of_project(project, world.environ, _cwd_of):
        reason = _passed_over(state, session, least, drafted, world.now())
        part = None if reason else _part(state, _entry(project, session, world.now()), world, settings)
        if part is None:
            counts[reason or "empty"] += 1
            continue
        size = max(0, part.position.offset - part.begin)
        found.append(_candidate(_entry(project, session, world.now()), part, size, world))
    return Plan(tuple(found), Passed(**counts))


def given_up(project: Project, world: World, settings: CaptureSettings) -> Plan:
    """Parts that were given up after too many tries, each on its own, where their transcripts still hold them."""
    state = CaptureState(project)
    found: list[Candidate] = []
    for stored in state.given_up():
        entry = stored.entry._replace(root=stored.entry.root or project.root)
        stored = stored._replace(entry=entry)
        part = read_again(state, stored, incremental=settings.incremental, world=world)
        if part is not None:
            size = len(files.to_bytes(entry.message)) if stored.only_message else stored.end - stored.begin
            found.append(_candidate(entry, part, size, world)._replace(given_up=stored))
    found.sort(key=lambda one: (one.part_time, one.given_up.begin if one.given_up else 0))
    return Plan(tuple(found))


def coverage(project: Project, world: World, since: float) -> tuple[int, int]:
    """How many sessions changed after ``since`` were never captured, and how many were; pending ones count."""
    state = CaptureState(project)
    pending = {entry.key for entry in state.pending()}
    missed = captured = 0
    for session in find.of_project(project, world.environ, _cwd_of, since):
        if _passed_over(state, session, since, set(), world.now()) or key_of(session.path) in pending:
            captured += 1
        else:
            missed += 1
    return missed, captured


def _cwd_of(line: bytes) -> str:
    """The working directory that a line of a transcript names, "" for none."""
    return transcript.parse([line]).cwd


def _passed_over(
    state: CaptureState, session: SessionFile, least: float, drafted: set[str], now: float
) -> str:
    position = state.position(key_of(session.path), session.path, now)
    if position.time or position.offset or position.appended:
        return "captured"
    if session.session_id in drafted:
        return "drafted"
    return "older" if session.modified < least else ""


def _part(state: CaptureState, entry: Pending, world: World, settings: CaptureSettings) -> Part | None:
    """What a capture would be about; None when nobody said anything."""
    part = read_part(state, entry, incremental=settings.incremental, world=world)
    return part if part and not part.nothing_new else None


def _entry(project: Project, session: SessionFile, now: float) -> Pending:
    return Pending(
        key=key_of(session.path),
        transcript=session.path,
        session_id=session.session_id,
        host=session.host,
        message="",
        root=project.root,
        waits=False,
        first=now,
        stop=now,
        serial=os.urandom(8).hex(),
    )


def _candidate(entry: Pending, part: Part, size: int, world: World) -> Candidate:
    said = part.session.entries
    requests = [one.text for one in said if one.kind == "user"]
    first = next(iter(requests), next((one.text for one in said), ""))
    masked = outgoing(first[:4000], world.home)
    return Candidate(entry, part.time, size, shortened(masked, _SHOWN), len(requests))


def shown(candidates: Iterable[Candidate], home: str) -> Iterator[tuple[str, ...]]:
    """The cells of a table: host, time, size, requests, file, first request."""
    for one in candidates:
        yield (
            one.entry.host,
            iso_time(one.part_time)[:16].replace("T", " "),
            f"{max(1, one.size // 1024):,} KiB",
            str(one.requests),
            public_path(one.entry.transcript, home),
            one.first,
        )
