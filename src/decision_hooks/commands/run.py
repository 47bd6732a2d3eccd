"""``normalize-decisions run`` and ``plan``: normalise by hand, or see what a run would do."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from decision_hooks.commands.options import parser, root_of
from decision_hooks.normalize import batch
from decision_hooks.normalize.job import Job, NotOpened, open_by_hand
from decision_hooks.system import locking
from decision_hooks.system.world import World

_NO_END = 1_000_000  # batches


def run(argv: Sequence[str], world: World) -> int:
    """Normalise now, whatever threshold and interval say: 0 done or no drafts, 1 with the reason for a failure."""
    options = _options(argv, world)
    job = open_by_hand(world, root_of(world, options.project_root))
    if isinstance(job, NotOpened):
        world.err(job.reason)
        return 0 if job.no_folder else 1
    try:
        dry = options.dry_run or job.settings.dry
        if options.plan:
            return _show(job, batch.run_stored(job, job.state.stored_plan(options.plan), dry=dry))
        if dry:
            return _show(job, batch.run_batch(job, dry=True))
        return _batches(job, _NO_END if options.all else options.batches)
    finally:
        locking.release(job.lock)


def _options(argv: Sequence[str], world: World) -> argparse.Namespace:
    if argv[0] == "plan":
        parse = parser(world, argv, "Show what a run would do; nothing in the folder changes.")
        parse.set_defaults(dry_run=True, plan="", batches=1, all=False)
        return parse.parse_args(list(argv[1:]))
    parse = parser(world, argv, "Normalise drafts now.")
    parse.add_argument("--dry-run", action="store_true", help="only plan: nothing in the folder changes")
    parse.add_argument("--plan", default="", metavar="ID", help="apply exactly this plan, without a call")
    parse.add_argument("--batches", type=int, default=1, metavar="N", help="most batches (default 1)")
    parse.add_argument("--all", action="store_true", help="as many batches as there are drafts")
    options = parse.parse_args(list(argv[1:]))
    if options.batches < 1:
        parse.error("--batches must be at least 1")
    return options


def _batches(job: Job, most: int) -> int:
    """Run batch after batch, each draft in at most one; the first failure ends the run."""
    seen: frozenset[str] = frozenset()
    for _ in range(most):
        outcome = batch.run_batch(job, seen=seen)
        if outcome.kind == "nothing" and seen:
            return 0
        code = _show(job, outcome)
        if code or outcome.kind == "nothing":
            return code
        seen |= outcome.drafts
    return 0


def _show(job: Job, outcome: batch.Outcome) -> int:
    refused = (f"refused: {line}" for line in outcome.refused)
    for line in (*outcome.lines, *refused, *_ending(outcome)):
        job.at.world.out(line)
    if outcome.reason and outcome.kind != "nothing":
        job.at.world.err(outcome.reason)
    return 0 if outcome.kind in ("applied", "planned", "nothing") else 1


def _ending(outcome: batch.Outcome) -> list[str]:
    """The last line of the report, with the next command if there is one."""
    if outcome.kind == "planned" and outcome.lines:
        return [
            f"plan {outcome.id}: nothing was changed; "
            f"apply exactly this with `normalize-decisions run --plan {outcome.id}`"
        ]
    if outcome.id and outcome.kind != "planned":
        return [
            f"run {outcome.id}: see `git diff`, take it back with `normalize-decisions undo {outcome.id}`"
        ]
    if outcome.kind == "nothing":
        return ["no drafts"]
    return ["nothing to change"] if outcome.kind in ("applied", "planned") else []
