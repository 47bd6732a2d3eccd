"""``normalize-decisions run`` and ``plan``: normalise by hand, or see what a run would do."""

from __future__ import annotations

from collections.abc import Sequence

from decision_hooks import normalize_batch
from decision_hooks.commands.place import parser, root_of
from decision_hooks.normalize import Held, Job, open_by_hand
from decision_hooks.system import locking
from decision_hooks.system.world import World


def run(argv: Sequence[str], world: World) -> int:
    """Normalise now, threshold and interval aside: 0 done or no drafts, 1 with the reason when it could not."""
    only_plan = argv[0] == "plan"
    parse = parser(world, argv, "Show what a run would do." if only_plan else "Normalise drafts now.")
    if not only_plan:
        parse.add_argument("--dry-run", action="store_true", help="only plan: nothing in the folder changes")
        parse.add_argument("--plan", default="", metavar="ID", help="apply exactly this plan, without a call")
        parse.add_argument("--batches", type=int, default=1, metavar="N", help="most batches (default 1)")
        parse.add_argument("--all", action="store_true", help="as many batches as there are drafts")
    options = parse.parse_args(list(argv[1:]))
    if not only_plan and options.batches < 1:
        parse.error("--batches takes a number from 1")
    job = open_by_hand(world, root_of(world, options.project_root))
    if isinstance(job, Held):
        world.err(job.reason)
        return 0 if job.fine else 1
    try:
        if only_plan or options.dry_run or job.settings.dry:
            return _show(job, normalize_batch.run_batch(job, dry=True))
        if options.plan:
            return _show(job, normalize_batch.run_stored(job, job.state.stored_plan(options.plan)))
        return _batches(job, 1_000_000 if options.all else options.batches)
    finally:
        locking.release(job.lock)


def _batches(job: Job, most: int) -> int:
    for number in range(most):
        outcome = normalize_batch.run_batch(job)
        if outcome.kind == "nothing" and number:
            return 0
        code = _show(job, outcome)
        if code or outcome.kind == "nothing" or not outcome.lines:
            return code
    return 0


def _show(job: Job, outcome: normalize_batch.Outcome) -> int:
    for line in outcome.lines:
        job.world.out(line)
    for line in outcome.refused:
        job.world.out(f"refused: {line}")
    if outcome.kind == "planned":
        job.world.out(
            f"plan {outcome.run_id}: apply it with `normalize-decisions run --plan {outcome.run_id}`"
        )
    elif outcome.kind == "applied" and outcome.run_id:
        job.world.out(f"run {outcome.run_id}: see `git diff`, take it back with `normalize-decisions undo`")
    elif outcome.kind == "nothing":
        job.world.out("no drafts")
    elif outcome.reason:
        job.world.err(outcome.reason)
    elif not outcome.lines:
        job.world.out("nothing was changed")
    return 0 if outcome.kind in ("applied", "planned", "nothing") else 1
