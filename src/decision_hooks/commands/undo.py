"""``normalize-decisions undo [RUN]``: undo a run, bytes and modes, all or nothing."""

from __future__ import annotations

from collections.abc import Sequence

from decision_hooks.commands.options import parser, root_of
from decision_hooks.normalize.job import Job, NotOpened, open_by_hand
from decision_hooks.state import journal
from decision_hooks.state.runs import DamagedError, known_runs
from decision_hooks.system import locking
from decision_hooks.system.world import World


def run(argv: Sequence[str], world: World) -> int:
    """Undo the newest run that was not undone, or the named run; 1 if a file was changed since."""
    parse = parser(world, argv, "Take a run back: every file as it was before, removed drafts included.")
    parse.add_argument(
        "run", nargs="?", default="", metavar="RUN", help="id of the run (the newest by default)"
    )
    parse.add_argument("--list", action="store_true", help="show the runs that can be named")
    options = parse.parse_args(list(argv[1:]))
    job = open_by_hand(world, root_of(world, options.project_root), allow_missing=True)
    if isinstance(job, NotOpened):
        world.err(job.reason)
        return 1
    try:
        return _list(job) if options.list else _undo(job, options.run)
    finally:
        locking.release(job.lock)


def _list(job: Job) -> int:
    known = known_runs(job.at.project)
    for done in known:
        job.at.world.out(f"{done.id}  {done.state:<7}  {done.title}")
    if not known:
        job.at.world.err("no runs")
    return 0


def _undo(job: Job, wanted: str) -> int:
    known = known_runs(job.at.project)
    chosen = next((run for run in known if (run.id == wanted if wanted else run.state == "done")), None)
    if chosen is None:
        job.at.world.err(f"no run {wanted!r}: see `undo --list`" if wanted else "no run to undo")
        return 1
    try:
        names = journal.undo(chosen, job.at.world.environ)
    except (journal.JournalError, DamagedError) as error:
        job.at.log.write(f"undo refused: {error}")
        job.at.world.err(str(error))
        return 1
    job.state.stamp_attempt(job.at.world.now())  # or the next stop would repeat the run at once
    gone = {step.name for step in chosen.steps if step.before is None}
    for name in names:
        job.at.world.out(f"{'removed' if name in gone else 'restored'}: {name}")
    job.at.log.write(f"undone: {chosen.id}")
    return 0
