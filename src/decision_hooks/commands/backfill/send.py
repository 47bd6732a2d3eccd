"""Sending what a backfill has planned: through the queue of the stops, under the lock of the workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from decision_hooks.backends.calls import may_not_call
from decision_hooks.backends.choice import Choice
from decision_hooks.capture import worker
from decision_hooks.capture.queue import Run
from decision_hooks.capture.run import DONE
from decision_hooks.commands.backfill.plan import Candidate
from decision_hooks.commands.report import counted
from decision_hooks.state.values import GivenUp, Pending, Position
from decision_hooks.system.runlog import iso_time


class Work(NamedTuple):
    """What a backfill works with."""

    run: Run
    choice: Choice


def send(work: Work, candidates: Sequence[Candidate]) -> int:
    """Send one part after the other and tell of each: 0, or 1 when one was not captured or it had to stop."""
    work.run.at.log.write(f"backfill: {counted(len(candidates), 'session')}")
    code = 0
    for number, one in enumerate(candidates, 1):
        stopped = _stopped(work, probe=number == 1)
        if stopped:
            work.run.at.world.err(f"{stopped}; run it again to go on")
            return 1
        outcome, fine = _retried(work, one, one.given_up) if one.given_up else _captured(work, one)
        code = code if fine else 1
        label = f"[{number}/{len(candidates)}] {one.entry.host} {one.entry.session_id[:8]}"
        work.run.at.world.err(f"{label} {iso_time(one.part_time)[:10]}: {outcome}")
    return code


def _stopped(work: Work, *, probe: bool) -> str:
    """Why no further session can be sent now, "" when one can; an open breaker is probed once."""
    backend = work.choice.backend
    if backend is None:
        return ""
    at = work.run.at
    at = at._replace(world=at.world._replace(watched=False))
    stopped = may_not_call(at, backend, work.run.settings.daily_calls, probe=probe)
    return stopped[1] if stopped else ""


def _captured(work: Work, one: Candidate) -> tuple[str, bool]:
    """Take a session into the queue and work as a stop of it would; what came of it, and whether that is fine."""
    now = work.run.at.world.now()
    entry = one.entry._replace(first=now, stop=now)
    before = _position(work, entry)
    work.run.state.put(entry)
    finished = False
    try:
        worker.work(work.run, entry, foreground=True)
        finished = True
    finally:
        if not finished:  # we are being ended: that is no fault of the session's
            work.run.state.put_back(entry, work.run.at.world.now(), counts=False)
            work.run.at.world.err("interrupted; run it again to go on")
    waiting = any(other.key == entry.key for other in work.run.state.pending())
    if waiting:
        return f"waits ({work.run.at.log.last})", False
    return _written(before, _position(work, entry)), True


def _retried(work: Work, one: Candidate, stored: GivenUp) -> tuple[str, bool]:
    """Take exactly a given up part up again; what came of it, and whether that is fine."""
    before = _position(work, one.entry)
    outcome, said = worker.take_again(work.run, stored)
    return (_written(before, _position(work, one.entry)), True) if outcome == DONE else (said, False)


def _position(work: Work, entry: Pending) -> Position:
    return work.run.state.position(entry.key, entry.transcript, work.run.at.world.now())


def _written(before: Position, after: Position) -> str:
    drafts = len(after.titles) - len(before.titles)
    return counted(drafts, "draft") if drafts else "no draft"
