"""Sending what a backfill has planned: through the queue of the stops, under the lock of the workers."""

from __future__ import annotations

from collections.abc import Sequence

from decision_hooks.backends.base import Backend
from decision_hooks.backends.ledger import may_not_call
from decision_hooks.capture import worker
from decision_hooks.capture.queue import CaptureRun
from decision_hooks.capture.run import DONE
from decision_hooks.commands.backfill.plan import Candidate
from decision_hooks.commands.report import counted
from decision_hooks.state.values import GivenUp, Pending, Position
from decision_hooks.system.runlog import iso_time


def send(run: CaptureRun, backend: Backend | None, candidates: Sequence[Candidate]) -> int:
    """Send the parts in turn and report each: 0, or 1 when a part was not captured or it had to stop."""
    run.at.log.write(f"backfill: {counted(len(candidates), 'session')}")
    code = 0
    for number, part in enumerate(candidates, 1):
        stopped = _stopped(run, backend, probe=number == 1)
        if stopped:
            run.at.world.err(f"{stopped}; run it again to go on")
            return 1
        outcome, fine = _retried(run, part, part.given_up) if part.given_up else _captured(run, part)
        code = code if fine else 1
        label = f"[{number}/{len(candidates)}] {part.entry.host} {part.entry.session_id[:8]}"
        run.at.world.err(f"{label} {iso_time(part.part_time)[:10]}: {outcome}")
    return code


def _stopped(run: CaptureRun, backend: Backend | None, *, probe: bool) -> str:
    """Why no further session can be sent now, "" when one can; an open breaker is probed once."""
    if backend is None:
        return ""
    at = run.at
    at = at._replace(world=at.world._replace(watched=False))
    stopped = may_not_call(at, backend, run.settings.daily_calls, probe=probe)
    return stopped[1] if stopped else ""


def _captured(run: CaptureRun, part: Candidate) -> tuple[str, bool]:
    """Take a session into the queue and work as a stop of it would; what came of it, and whether that is fine."""
    now = run.at.world.now()
    entry = part.entry._replace(first=now, stop=now)
    before = _position(run, entry)
    entry = run.state.put(entry)
    finished = False
    try:
        worker.work(run, entry, foreground=True)
        finished = True
    finally:
        if not finished:  # we are being ended: that is no fault of the session's
            run.state.put_back(entry, run.at.world.now(), counts=False)
            run.at.world.err("interrupted; run it again to go on")
    if run.state.waiting(entry.key):
        return f"waits ({run.at.log.last})", False
    return _written(before, _position(run, entry)), True


def _retried(run: CaptureRun, part: Candidate, stored: GivenUp) -> tuple[str, bool]:
    """Take exactly a given up part up again; what came of it, and whether that is fine."""
    before = _position(run, part.entry)
    outcome, said = worker.take_again(run, stored)
    return (_written(before, _position(run, part.entry)), True) if outcome == DONE else (said, False)


def _position(run: CaptureRun, entry: Pending) -> Position:
    return run.state.position(entry.key, entry.transcript, run.at.world.now())


def _written(before: Position, after: Position) -> str:
    drafts = len(after.titles) - len(before.titles)
    return counted(drafts, "draft") if drafts else "no draft"
