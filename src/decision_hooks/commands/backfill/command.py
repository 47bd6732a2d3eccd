"""``capture-decisions backfill``: sessions that no stop has captured, one after the other, within the daily cap."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from decision_hooks.backends.choice import BackendChoice, capture_choice
from decision_hooks.capture.queue import CaptureRun
from decision_hooks.commands.backfill.plan import LEFT_ASIDE, BackfillPlan, given_up, never_captured, shown
from decision_hooks.commands.backfill.send import send
from decision_hooks.commands.hook_environ import by_hand_environ
from decision_hooks.commands.options import parser, project_of
from decision_hooks.commands.report import columns, counted, json_text
from decision_hooks.hosts.table import public_path
from decision_hooks.settings import capture_settings
from decision_hooks.system.runlog import iso_time, log_of
from decision_hooks.system.state_folder import check_state, open_state
from decision_hooks.system.workplace import Workplace
from decision_hooks.system.world import World


def run(argv: Sequence[str], world: World) -> int:
    """Capture what never was: 0 done, 1 when something could not be sent (it may be run again to go on)."""
    options = _options(argv, world)
    project = project_of(world, options.project_root)
    world = world._replace(environ=by_hand_environ(project.root, world.environ), watched=True)
    settings = capture_settings(world.environ)
    check_state(project, world.environ)
    if options.retry:
        plan = given_up(project, world, settings)
    else:
        plan = never_captured(project, world, settings, options.since)
    plan = plan._replace(candidates=plan.candidates[: options.max])
    choice = capture_choice(settings, project.root, world.environ)
    if options.json:
        world.out(json_text(_as_json(plan, choice, world.home)))
    else:
        _show(plan, choice, world)
    if options.dry_run or not plan.candidates:
        return 0
    if not choice.name:
        return 1
    open_state(project, world.environ)
    at = Workplace(world, project, log_of(project.root, world.program, world.now))
    return send(CaptureRun(at, settings), choice.backend, plan.candidates)


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
        raise argparse.ArgumentTypeError(f"{text!r} is not a date (YYYY-MM-DD)") from None


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(text)


# -- showing


def _show(plan: BackfillPlan, choice: BackendChoice, world: World) -> None:
    rows = [("HOST", "LAST CHANGE", "SIZE", "REQUESTS", "FILE", "FIRST REQUEST")]
    if plan.candidates:
        for line in columns(rows + list(shown(plan.candidates, world.home))):
            world.out(line)
    for reason, number in plan.passed.items():
        if number:
            world.out(f"{counted(number, 'session')} {LEFT_ASIDE[reason]}")
    if not plan.candidates:
        world.out("nothing to capture")
    elif choice.name:
        size = sum(part.size for part in plan.candidates) // 1024
        world.out(f"{counted(len(plan.candidates), 'session')}, {size:,} KiB, for {choice.label}")
    else:
        world.err(f"no backend: {', '.join(choice.reasons)}")


def _as_json(plan: BackfillPlan, choice: BackendChoice, home: str) -> dict[str, object]:
    return {
        "sessions": [
            {
                "host": part.entry.host,
                "session": part.entry.session_id,
                "file": public_path(part.entry.transcript, home),
                "time": iso_time(part.part_time),
                "bytes": part.size,
                "requests": part.requests,
                "first_request": part.first,
            }
            for part in plan.candidates
        ],
        "left_aside": dict(plan.passed),
        "backend": {"name": choice.name or None, "model": choice.backend.model if choice.backend else None},
    }
