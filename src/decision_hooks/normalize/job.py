"""The story of one normalisation run: gates, batch, reply, plan, second check, journal."""

from __future__ import annotations

import os
from typing import NamedTuple

from decision_hooks.settings import NormalizeSettings, normalize_settings
from decision_hooks.state import journal
from decision_hooks.state.normalize import NormalState
from decision_hooks.system import adr_folder, files, git, locking
from decision_hooks.system.project import Project, open_state, project
from decision_hooks.system.runlog import RunLog, iso_time, log_of
from decision_hooks.system.world import World

_LOCK = ".normalize.lock"


class Job(NamedTuple):
    """A run that may begin: its gates are passed and the lock is held."""

    world: World
    settings: NormalizeSettings
    place: Project
    log: RunLog
    lock: locking.Lock
    by_hand: bool = False

    @property
    def state(self) -> NormalState:
        """What normalisation remembers of this project."""
        return NormalState(self.place)

    def tell(self, text: str) -> None:
        """Progress for a person who watches a run by hand."""
        if self.by_hand and self.world.watched:
            self.world.err(text)


class Held(NamedTuple):
    """Why a run may not begin, in the words of the log; "" for a reason that leaves no trace."""

    reason: str
    fine: bool = False  # there is simply nothing to do


def gates(world: World, root: str, log: RunLog) -> Job | None:
    """Pass the gates of hook mode in their order; None (and mostly a log line) when one is closed."""
    place = project(root, "docs/adr")
    if (
        not world.environ.get("ADR_DIR")
        and not os.path.isdir(place.adr)
        and not git.operation_in_progress(root)
    ):
        return None
    settings = normalize_settings(world.environ)
    opened = open_job(world, settings, project(root, settings.adr_dir), log, by_hand=False)
    if isinstance(opened, Held):
        if opened.reason:
            log.write(opened.reason)
        return None
    closed = _closed_gate(opened)
    if closed:
        log.write(closed)
        locking.release(opened.lock)
        return None
    return opened


def open_job(
    world: World,
    settings: NormalizeSettings,
    place: Project,
    log: RunLog,
    *,
    by_hand: bool,
    made: bool = False,
) -> Job | Held:
    """Check git and folder, take the lock, finish an interrupted run; the gates that a run by hand has too.

    ``made``: the folder of records need not be there, it can be made.
    """
    busy = git.operation_in_progress(place.root)
    if busy:
        return Held(f"git {busy} in progress: nothing was done")
    if not os.path.isdir(place.adr) and not made:
        return Held("")
    files.make_folder(place.hooks)
    lock = locking.acquire(os.path.join(place.hooks, _LOCK))
    if lock is None:
        return Held("another normalize run holds the lock")
    if not lock.supported:
        log.write("locks are not supported here: going on without")
    job = Job(world, settings, place, log, lock, by_hand)
    job.state.remove_leftovers()
    for run_id in journal.recover(place):
        log.write(f"finished the interrupted run {run_id}")
    return job


def open_by_hand(world: World, root: str, *, made: bool = False) -> Job | Held:
    """A run that a person asked for: threshold, interval and back-off do not count; ``made`` as in ``open_job``."""
    settings = normalize_settings(world.environ)
    place = project(root, settings.adr_dir)
    log = log_of(root, "normalize-decisions", world.now)
    opened = open_job(world, settings, place, log, by_hand=True, made=made)
    if isinstance(opened, Held):
        return opened if opened.reason else Held(f"no {settings.adr_dir} in {root}: nothing to do", fine=True)
    open_state(place)
    return opened


def _closed_gate(job: Job) -> str:
    """The gate of interval, back-off or threshold that is closed, "" when all are open."""
    now = job.world.now()
    last = job.state.last_attempt(now)
    if last is not None and now - last < job.settings.min_interval:
        return f"last attempt at {iso_time(last)}, interval {job.settings.min_interval / 3600:g} h: nothing was done"
    backoff = job.state.backoff(now, job.settings.min_interval)
    if backoff:
        return f"backing off until {iso_time(backoff.until)}: {backoff.why}"
    enough, count = adr_folder.has_at_least(job.place.adr, max(1, job.settings.threshold))
    if not enough:
        return f"{count} drafts, threshold {job.settings.threshold}: nothing was done"
    return ""


def hook_run(job: Job) -> None:
    """One batch in hook mode, under the lock that the gates took."""
    from decision_hooks.normalize import batch as normalize_batch

    try:
        open_state(job.place)
        normalize_batch.run_batch(job)
    finally:
        locking.release(job.lock)
