"""A write-ahead journal of changes to docs/adr: an interrupted run is completed, a finished one can be undone.

Each step compares hashes: a file that is in neither its old nor its new state was changed by somebody else, and
is left alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from decision_hooks.errors import DecisionHooksError
from decision_hooks.state import runs
from decision_hooks.state.runs import DONE, OPEN, UNDOING, UNDONE, DamagedError, FileStep, Image, Run
from decision_hooks.system import adr_folder, files, process
from decision_hooks.system.adr_folder import Stored
from decision_hooks.system.project import Project

_LABEL = "normalize-"


class JournalError(DecisionHooksError):
    """A run cannot be undone; says why, and names the file in the way."""


def apply(run: Run) -> list[str]:
    """Do the steps of a run that are not done yet, writes first, and mark it done; returns names left alone.

    A removal is left alone as well where a file that it needs was.
    """
    with process.HeldSignals():
        files.remove_leftovers(run.adr, _LABEL)
        left: list[str] = []
        for step in sorted(run.steps, key=lambda step: step.after is None):
            if any(name in left for name in step.needs) or not _do(run, step):
                left.append(step.name)
        runs.mark(run, DONE, left)
    return left


def recover(project: Project, environ: Mapping[str, str]) -> list[str]:
    """Finish what a kill left of this machine's runs on this folder of records; returns the ids of the runs."""
    finished = []
    for run in runs.unfinished(project):
        if not run.is_ours(environ):
            continue
        if run.state == OPEN:
            apply(run)
        else:
            _take_back(run)
        finished.append(run.id)
    runs.remove_leftovers(project)
    return finished


def undo(run: Run, environ: Mapping[str, str]) -> list[str]:
    """Put every file of a run back, bytes and modes, all or nothing; returns the names.

    Raises ``JournalError`` naming a file that was changed since, ``DamagedError`` for an image that is gone.
    """
    if run.state != DONE:
        raise JournalError(f"run {run.id} is {run.state}: there is nothing to undo")
    if not run.is_ours(environ):
        raise JournalError(
            f"run {run.id} was not made on this machine, or by an earlier version: nothing was undone"
        )
    steps = _done(run)
    for step in steps:
        if step.before:
            run.before(step)
        if not _is(run, step.name, step.after) and not _is(run, step.name, step.before):
            raise JournalError(f"{step.name} was changed since run {run.id}: nothing was undone")
    files.make_folder(run.adr)
    runs.mark(run, UNDOING)
    _take_back(run)
    return [step.name for step in steps]


def _take_back(run: Run) -> None:
    with process.HeldSignals():
        files.remove_leftovers(run.adr, _LABEL)
        for step in sorted(_done(run), key=lambda step: step.before is None):
            if _is(run, step.name, step.after) or _is(run, step.name, step.before):
                _restore(run, step)
        runs.mark(run, UNDONE)


def _done(run: Run) -> list[FileStep]:
    return [step for step in run.steps if step.name not in run.left]


# -- one file


def _do(run: Run, step: FileStep) -> bool:
    if _is(run, step.name, step.after):
        return True
    if not _is(run, step.name, step.before):
        return False
    if step.after is None:
        return _remove(run.adr, step.name)
    try:
        data = run.after(step)
    except DamagedError:
        return False
    mode = step.before.permissions if step.before else None
    return _write(run.adr, step.name, data, mode, new=step.before is None)


def _restore(run: Run, step: FileStep) -> None:
    if step.before is None:
        _remove(run.adr, step.name)
        return
    there = adr_folder.read(run.adr, step.name)
    try:
        wanted = run.before(step)
    except DamagedError:
        return
    if there != wanted:
        _write(run.adr, step.name, wanted.data, wanted.mode, new=there is None)


def _is(run: Run, name: str, image: Image | None) -> bool:
    """Whether a file has the bytes of an image; no image: whether there is nothing of that name."""
    there: Stored | None = adr_folder.read(run.adr, name)
    if there is None:
        return image is None and not adr_folder.is_there(run.adr, name)
    return image is not None and adr_folder.digest(there.data) == image.digest


def _remove(adr: str, name: str) -> bool:
    files.remove(os.path.join(adr, name))
    files.sync_folder(adr)
    return True


def _write(adr: str, name: str, data: bytes, mode: int | None, *, new: bool) -> bool:
    path = os.path.join(adr, name)
    if new:
        return files.create_exclusive(path, data, mode=mode, label=_LABEL)
    files.write_atomic(path, data, mode=mode, label=_LABEL)
    return True
