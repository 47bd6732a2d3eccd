"""Which sessions and parts a backfill would send, and what a person is shown of each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from decision_hooks.capture_part import Part, read_part
from decision_hooks.commands.report import shortened
from decision_hooks.records import document, sensitive
from decision_hooks.records.privacy import home_as_tilde, public_path
from decision_hooks.sessions import transcript
from decision_hooks.sessions.model import Session
from decision_hooks.settings import CaptureSettings
from decision_hooks.system import adr_folder, facts, files, session_files, transcript_file
from decision_hooks.system.project import Project
from decision_hooks.system.runlog import iso_time
from decision_hooks.system.session_files import SessionFile
from decision_hooks.system.state import DAY, POSITION_DAYS, CaptureState, Pending, key_of
from decision_hooks.system.transcript_file import Extent
from decision_hooks.system.world import World

_HEADER = 256 * 1024  # bytes that hold the first line of a transcript
_SHOWN = 70  # characters of a first request


class Candidate(NamedTuple):
    """One part that would be sent."""

    entry: Pending
    begin: int  # byte offset of the part
    part_time: float  # of its last record, seconds since the epoch
    size: int  # bytes of the transcript that belong to it
    first: str  # its first request, masked and shortened
    requests: int


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


def never_captured(place: Project, world: World, settings: CaptureSettings, since: float | None) -> Plan:
    """Sessions of the project that no stop and no backfill has captured, changed after ``since``.

    Without ``since`` sessions older than positions are kept are left aside: they may have been captured.
    """
    state = CaptureState(place)
    least = since if since is not None else world.now() - POSITION_DAYS * DAY
    drafted = _drafted_sessions(place)
    found: list[Candidate] = []
    counts = {"captured": 0, "drafted": 0, "older": 0, "empty": 0}
    for session in session_files.of_project(place, world.environ, _cwd_of):
        reason = _passed_over(state, session, least, drafted, world.now())
        part = None if reason else _part(state, _entry(place, session, world.now()), world, settings)
        if part is None:
            counts[reason or "empty"] += 1
            continue
        size = max(0, part.position.offset - part.begin)
        entry = _entry(place, session, world.now())
        found.append(_candidate(entry, part.session, part.begin, size, part.time, world))
    return Plan(tuple(found), Passed(**counts))


def given_up(place: Project, world: World) -> Plan:
    """Parts that were given up after too many tries, and whose transcripts still hold them."""
    found: dict[str, Candidate] = {}
    for entry, begin, end in sorted(CaptureState(place).given_up(), key=lambda stored: -stored[1]):
        where = transcript_file.extent(entry.transcript)
        if where is not None and begin < end <= where.size:
            again = _again(entry._replace(root=entry.root or place.root), begin, where, world)
            found[entry.key] = again  # of several parts of a transcript the first: it is read from there on
    return Plan(tuple(sorted(found.values(), key=lambda one: one.part_time)))


def _again(entry: Pending, begin: int, where: Extent, world: World) -> Candidate:
    header = transcript_file.read_range(where.path, 0, _HEADER).partition(b"\n")[0] if begin else None
    lines = transcript_file.lines(where.path, begin, where.size)
    session = transcript.parse((line for _, line in lines), header=header)
    time = session.last_time or where.modified
    return _candidate(entry, session, begin, where.size - begin, time, world)


def coverage(place: Project, world: World, since: float) -> tuple[int, int]:
    """How many sessions changed after ``since`` were never captured, and how many were; pending ones count."""
    state = CaptureState(place)
    pending = {entry.key for entry in state.pending()}
    missed = captured = 0
    for session in session_files.of_project(place, world.environ, _cwd_of, since):
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


def _drafted_sessions(place: Project) -> set[str]:
    found = set()
    for name in adr_folder.listing(place.adr).drafts:
        head = files.read_bytes(os.path.join(place.adr, name), 4096) or b""
        found.add(document.session_of(head.decode("utf-8-sig", "replace")) or "")
    return found


def _part(state: CaptureState, entry: Pending, world: World, settings: CaptureSettings) -> Part | None:
    """What a capture would be about; None when nobody said anything."""
    part = read_part(state, entry, incremental=settings.incremental, now=world.now, sleep=facts.pause)
    return part if part and not part.nothing_new else None


def _entry(place: Project, session: SessionFile, now: float) -> Pending:
    return Pending(
        key=key_of(session.path),
        transcript=session.path,
        session_id=session.session_id,
        host=session.host,
        message="",
        root=place.root,
        waits=False,
        first=now,
        stop=now,
        serial=os.urandom(8).hex(),
    )


def _candidate(
    entry: Pending, session: Session, begin: int, size: int, time: float, world: World
) -> Candidate:
    requests = [said.text for said in session.entries if said.kind == "user"]
    first = next(iter(requests), next((said.text for said in session.entries), ""))
    masked = home_as_tilde(sensitive.mask(first[:4000]).text, world.home)
    return Candidate(entry, begin, time, size, shortened(masked, _SHOWN), len(requests))


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
