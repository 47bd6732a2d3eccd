"""Sending what a backfill has planned: through the queue of the stops, under the lock of the workers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from decision_hooks import capture, capture_queue, capture_worker
from decision_hooks.commands.backfill_plan import Candidate
from decision_hooks.commands.report import counted
from decision_hooks.settings import CaptureSettings
from decision_hooks.system import facts, locking, transcript_file
from decision_hooks.system.backend_choice import Choice
from decision_hooks.system.calls import may_not_call
from decision_hooks.system.project import Project
from decision_hooks.system.runlog import RunLog, iso_time
from decision_hooks.system.state import CaptureState, Pending, Position
from decision_hooks.system.world import World


class Work(NamedTuple):
    """What a backfill works with."""

    world: World
    settings: CaptureSettings
    place: Project
    state: CaptureState
    log: RunLog
    choice: Choice


def send(work: Work, candidates: Sequence[Candidate], *, again: bool) -> int:
    """Send one part after the other and tell of each: 0, or 1 when one was not captured or it had to stop."""
    work.log.write(f"backfill: {counted(len(candidates), 'session')}")
    code = 0
    for number, one in enumerate(candidates, 1):
        stopped = _stopped(work, probe=number == 1)
        if stopped:
            work.world.err(f"{stopped}; run it again to go on")
            return 1
        outcome, fine = _retried(work, one) if again else _captured(work, one)
        code = code if fine else 1
        label = f"[{number}/{len(candidates)}] {one.entry.host} {one.entry.session_id[:8]}"
        work.world.err(f"{label} {iso_time(one.part_time)[:10]}: {outcome}")
    return code


def _stopped(work: Work, *, probe: bool) -> str:
    """Why no further session can be sent now, "" when one can; an open breaker is probed once."""
    backend = work.choice.backend
    if backend is None:
        return ""
    world = work.world._replace(watched=False)
    return may_not_call(work.place, backend, world, work.settings.daily_calls, probe=probe)


def _captured(work: Work, one: Candidate) -> tuple[str, bool]:
    """Take a session into the queue and work as a stop of it would; what came of it, and whether that is fine."""
    now = work.world.now()
    entry = one.entry._replace(first=now, stop=now)
    work.state.put(entry)
    stop = capture_queue.Stop(work.world, work.settings, work.place, work.log, entry.key, now)
    finished = False
    try:
        capture_worker.work(stop, sleep=facts.pause, foreground=True)
        finished = True
    finally:
        if not finished:  # we are being ended: that is no fault of the session's
            work.state.put_back(entry, work.world.now(), counts=False)
            work.world.err("interrupted; run it again to go on")
    waiting = any(other.key == entry.key for other in work.state.pending())
    position = work.state.position(entry.key, entry.transcript, work.world.now())
    if waiting:
        return f"waits ({work.log.last})", False
    return _written(position, 0), True


def _written(position: Position, before: int) -> str:
    drafts = len(position.titles) - before
    return counted(drafts, "draft") if drafts else "no draft"


class _Rewound(CaptureState):
    """The state as it was before a part that was given up: its records count as never seen."""

    def __init__(self, place: Project, begin: int) -> None:
        super().__init__(place)
        self._begin = begin

    def position(self, key: str, path: str, now: float) -> Position:
        """The stored position, moved back to the part's beginning."""
        check = transcript_file.check_before(path, self._begin) if self._begin else ""
        stored = super().position(key, path, now)
        return stored._replace(offset=self._begin, check=check, uuid="", appended="")

    def known(self, uuids: Iterable[str]) -> set[str]:
        """None: the part's own ids were noted when it was given up."""
        return set()


def _retried(work: Work, one: Candidate) -> tuple[str, bool]:
    """Take a given up part up again, from its beginning to the end of the transcript."""
    lock = locking.acquire(
        work.place.state_file("worker.lock"),
        seconds=work.settings.timeout,
        now=work.world.now,
        sleep=facts.pause,
    )
    if lock is None:
        return "another capture is running", False
    try:
        state = _Rewound(work.place, one.begin)
        run = capture.Run(work.world, work.settings, work.place, state, work.log, facts.pause)
        before = len(state.position(one.entry.key, one.entry.transcript, work.world.now()).titles)
        outcome, part = capture.capture_part(run, one.entry._replace(message=""), work.settings.timeout)
        if outcome != capture.DONE or part is None:
            return work.log.last, False
        _forget(work, one.entry)
        return _written(work.state.position(one.entry.key, part.path, work.world.now()), before), True
    finally:
        locking.release(lock)


def _forget(work: Work, entry: Pending) -> None:
    for other, begin, _ in work.state.given_up():
        if other.key == entry.key:
            work.state.forget_given_up(other.key, begin)
