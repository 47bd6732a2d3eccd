"""The hook of ``normalize-decisions``: its gates in their order, then one batch under the lock."""

from __future__ import annotations

import os

from decision_hooks.normalize.job import Job, NotOpened, open_job
from decision_hooks.settings import normalize_settings
from decision_hooks.system import adr_folder, git, locking
from decision_hooks.system.project import project_at
from decision_hooks.system.runlog import RunLog, iso_time
from decision_hooks.system.state_folder import open_state
from decision_hooks.system.workplace import Workplace
from decision_hooks.system.world import World


def gates(world: World, root: str, log: RunLog) -> Job | None:
    """Pass the gates of hook mode in their order; None (and mostly a log line) when one is closed."""
    project = project_at(root, "docs/adr")
    if (
        not world.environ.get("ADR_DIR")
        and not os.path.isdir(project.adr)
        and not git.operation_in_progress(root)
    ):
        return None
    settings = normalize_settings(world.environ)
    at = Workplace(world, project_at(root, settings.adr_dir), log)
    opened = open_job(at, settings, by_hand=False)
    if isinstance(opened, NotOpened):
        if opened.reason:
            log.skip(opened.kind, opened.reason)
        return None
    closed = _closed_gate(opened)
    if closed:
        log.skip(*closed)
        locking.release(opened.lock)
        return None
    return opened


def run(job: Job) -> None:
    """One batch in hook mode, under the lock that the gates took."""
    from decision_hooks.normalize import batch

    try:
        open_state(job.at.project, job.at.world.environ)
        batch.run_batch(job)
    finally:
        locking.release(job.lock)


def _closed_gate(job: Job) -> tuple[str, str] | None:
    """The first closed gate, and the line for the log; None when all are open."""
    now = job.at.world.now()
    job.state.mend_clock(now)
    last = job.state.last_attempt(now)
    if last is not None and now - last < job.settings.min_interval:
        hours = f"{job.settings.min_interval / 3600:g} h"
        return "interval", f"last attempt at {iso_time(last)}, interval {hours}: nothing was done"
    backoff = job.state.backoff(now, job.settings.min_interval)
    if backoff:
        return "backing off", f"backing off until {iso_time(backoff.until)}: {backoff.why}"
    enough, count = adr_folder.has_at_least(job.at.project.adr, max(1, job.settings.threshold))
    if not enough:
        return "threshold", f"{count} drafts, threshold {job.settings.threshold}: nothing was done"
    return None
