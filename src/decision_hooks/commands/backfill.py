"""``capture-decisions backfill``: sessions that no stop has captured, one after the other, within the daily cap."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from decision_hooks import capture, capture_queue, capture_worker
from decision_hooks.commands import backfill_plan
from decision_hooks.commands.backend_choice import Choice, capture_choice
from decision_hooks.commands.backfill_plan import Candidate, Plan
from decision_hooks.commands.hook_environ import by_hand_environ
from decision_hooks.commands.place import parser, project_of
from decision_hooks.commands.report import columns, counted, json_text
from decision_hooks.records.privacy import public_path
from decision_hooks.settings import CaptureSettings, capture_settings
from decision_hooks.system import facts, locking
from decision_hooks.system.project import Project, open_state
from decision_hooks.system.runlog import RunLog, iso_time
from decision_hooks.system.state import CaptureState, Pending, Position
from decision_hooks.system.world import World


class _Work(NamedTuple):
    world: World
    settings: CaptureSettings
    place: Project
    state: CaptureState
    log: RunLog
    choice: Choice


def run(argv: Sequence[str], world: World) -> int:
    """Capture what never was: 0 done, 1 when something could not be sent (it may be run again to go on)."""
    options = _options(argv, world)
    place = project_of(world, options.project_root)
    world = world._replace(environ=by_hand_environ(place.root, world.environ), watched=True)
    settings = capture_settings(world.environ)
    if options.retry:
        plan = backfill_plan.given_up(place, world)
    else:
        plan = backfill_plan.never_captured(place, world, settings, options.since)
    plan = plan._replace(candidates=plan.candidates[: options.max])
    choice = capture_choice(settings, place.root, world.environ)
    if options.json:
        world.out(json_text(_as_json(plan, choice, world.home)))
    else:
        _show(plan, choice, world)
    if options.dry_run or not plan.candidates:
        return 0
    if not choice.name:
        return 1
    log = RunLog(os.path.join(place.hooks, "capture-decisions.log"), world.now, place.state_file("log.lock"))
    open_state(place)
    work = _Work(world, settings, place, CaptureState(place), log, choice)
    return _send(work, plan.candidates, again=options.retry)


def _options(argv: Sequence[str], world: World) -> argparse.Namespace:
    parse = parser(world, argv, "Capture sessions of this project that were never captured.")
    parse.add_argument(
        "--since", type=_day, default=None, metavar="DATE", help="only sessions changed since that day (ISO)"
    )
    parse.add_argument("--dry-run", action="store_true", help="only show what would be sent")
    parse.add_argument("--max", type=_number, default=None, metavar="N", help="at most so many sessions")
    parse.add_argument("--retry", action="store_true", help="parts that were given up after three tries")
    parse.add_argument("--json", action="store_true", help="the list as JSON")
    return parse.parse_args(list(argv[1:]))


def _day(text: str) -> float:
    from datetime import datetime

    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(f"{text!r} is no date like 2026-11-30") from None


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1")
    return int(text)


# -- showing


def _show(plan: Plan, choice: Choice, world: World) -> None:
    rows = [("HOST", "LAST CHANGE", "SIZE", "REQUESTS", "FILE", "FIRST REQUEST")]
    if plan.candidates:
        for line in columns(rows + list(backfill_plan.shown(plan.candidates, world.home))):
            world.out(line)
    for number, text in _left_aside(plan):
        world.out(f"{counted(number, 'session')} {text}")
    if not plan.candidates:
        world.out("nothing to capture")
    elif choice.name:
        size = sum(one.size for one in plan.candidates) // 1024
        world.out(f"{counted(len(plan.candidates), 'session')}, {size:,} KiB, for {choice.label}")
    else:
        world.err(f"no backend: {', '.join(choice.reasons)}")


def _left_aside(plan: Plan) -> Iterable[tuple[int, str]]:
    passed = plan.passed
    texts = (
        (passed.captured, "captured already"),
        (passed.drafted, "not known here, but with drafts in the folder"),
        (passed.older, "left aside as older (--since DATE takes them)"),
        (passed.empty, "with nothing new said in them"),
    )
    return [(number, text) for number, text in texts if number]


def _as_json(plan: Plan, choice: Choice, home: str) -> dict[str, object]:
    return {
        "sessions": [
            {
                "host": one.entry.host,
                "session": one.entry.session_id,
                "file": public_path(one.entry.transcript, home),
                "time": iso_time(one.part_time),
                "bytes": one.size,
                "requests": one.requests,
                "first_request": one.first,
            }
            for one in plan.candidates
        ],
        "left_aside": plan.passed._asdict(),
        "backend": {"name": choice.name or None, "model": choice.backend.model if choice.backend else None},
    }


# -- sending


def _send(work: _Work, candidates: Sequence[Candidate], *, again: bool) -> int:
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


def _stopped(work: _Work, *, probe: bool) -> str:
    """Why no further session can be sent now, "" when one can; an open breaker is probed once."""
    backend = work.choice.backend
    if backend is None:
        return ""
    world = work.world._replace(watched=False)
    return capture.may_not_call(work.place, backend, world, work.settings.daily_calls, probe=probe)


def _captured(work: _Work, one: Candidate) -> tuple[str, bool]:
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
        from decision_hooks.system.transcript_file import check_before

        check = check_before(path, self._begin) if self._begin else ""
        stored = super().position(key, path, now)
        return stored._replace(offset=self._begin, check=check, uuid="", appended="")

    def known(self, uuids: Iterable[str]) -> set[str]:
        """None: the part's own ids were noted when it was given up."""
        return set()


def _retried(work: _Work, one: Candidate) -> tuple[str, bool]:
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


def _forget(work: _Work, entry: Pending) -> None:
    for other, begin, _ in work.state.given_up():
        if other.key == entry.key:
            work.state.forget_given_up(other.key, begin)
