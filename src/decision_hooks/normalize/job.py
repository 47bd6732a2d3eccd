"""A normalisation that may begin: git and folder are checked, the lock is held."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from decision_hooks.settings import NormalizeSettings, normalize_settings
from decision_hooks.state.normalize import NormalState
from decision_hooks.system import files, git, locking
from decision_hooks.system.project import Project
from decision_hooks.system.state_folder import check_state, open_state
from decision_hooks.system.workplace import Workplace, workplace
from decision_hooks.system.world import World

if TYPE_CHECKING:
    from decision_hooks.system.holder import Holder

_LOCK = ".normalize.lock"


class Job(NamedTuple):
    """A run that may begin: it passed its gates and has the lock."""

    at: Workplace
    settings: NormalizeSettings
    lock: locking.Lock
    by_hand: bool = False

    @property
    def state(self) -> NormalState:
        """The stored state of normalisation in this project."""
        return NormalState(self.at.project)

    def progress(self, text: str) -> None:
        """Show progress to a person who watches a run by hand."""
        if self.by_hand and self.at.world.watched:
            self.at.world.err(text)


class NotOpened(NamedTuple):
    """The reason a run did not start, as logged; "" when nothing should be logged."""

    reason: str
    kind: str = ""  # git busy | lock held, as ``status`` counts it
    no_folder: bool = False  # there is no records folder, so there is nothing to do


def open_job(
    at: Workplace, settings: NormalizeSettings, *, by_hand: bool, allow_missing: bool = False
) -> Job | NotOpened:
    """Check git and folder, take the lock, finish an interrupted run; a run by hand passes these gates too.

    ``allow_missing``: start although the records folder does not exist yet.
    """
    project = at.project
    busy = git.operation_in_progress(project.root)
    if busy:
        return NotOpened(f"git {busy} in progress: nothing was done", "git busy")
    if not os.path.isdir(project.adr) and not allow_missing:
        return NotOpened("")
    check_state(project, at.world.environ)
    files.make_folder(project.hooks)
    lock = locking.acquire(os.path.join(project.hooks, _LOCK))
    if lock is None:
        found = working(project, at.world.now(), settings.timeout)
        text = f": {found}" if found and found.hangs else ""
        return NotOpened(f"another normalize run holds the lock{text}", "lock held")
    locking.sign(lock)
    if not lock.supported:
        at.log.write("locks are not supported here: continuing without a lock")
    job = Job(at, settings, lock, by_hand)
    job.state.remove_leftovers()
    _recover(at)
    return job


def working(project: Project, now: float, timeout: float) -> Holder | None:
    """The run that normalises now, None when none does; ``timeout``: of its calls, in seconds."""
    from decision_hooks.system import holder

    return holder.working(os.path.join(project.hooks, _LOCK), now, timeout)


def _recover(at: Workplace) -> None:
    """Finish interrupted runs that were begun here; the others are put aside."""
    if not os.path.isdir(at.project.state_file("runs")):
        return  # most stops of most projects: the journal is not even imported
    from decision_hooks.state import journal, runs

    for run_id in runs.put_aside(at.project, at.world.environ):
        at.log.write(f"put aside the unfinished run {run_id}: it was not begun on this machine")
    for run_id in journal.recover(at.project, at.world.environ):
        at.log.write(f"finished the interrupted run {run_id}")


def open_by_hand(world: World, root: str, *, allow_missing: bool = False) -> Job | NotOpened:
    """Open a run that a person asked for: threshold, interval and back-off do not count."""
    settings = normalize_settings(world.environ)
    at = workplace(world, root, settings.adr_dir)
    opened = open_job(at, settings, by_hand=True, allow_missing=allow_missing)
    if isinstance(opened, NotOpened):
        nothing = NotOpened(f"no {settings.adr_dir} in {root}: nothing to do", no_folder=True)
        return opened if opened.reason else nothing
    open_state(at.project, world.environ)
    return opened
