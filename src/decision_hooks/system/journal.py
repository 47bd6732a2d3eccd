"""Changes of the folder of records as a journal: durable before the first change, finished forward, undone whole.

A run lies in ``runs/<id>/`` of the state folder: ``journal.json`` (the steps with hashes), ``before/<n>`` and
``after/<n>`` (images), and the marks ``done``, ``undoing``, ``undone``. Recovery decides each step by hashes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import NamedTuple

from decision_hooks.errors import DecisionHooksError
from decision_hooks.system import adr_folder, files
from decision_hooks.system.adr_folder import Stored
from decision_hooks.system.project import Project

_KEPT = 20  # newest runs
_LABEL = "normalize-"


class Step(NamedTuple):
    """One file's change: bytes before (None = there was none) and after (None = it goes)."""

    name: str
    before: Stored | None
    after: bytes | None
    needs: tuple[str, ...] = ()  # files that must have been written before this one may go


class Run(NamedTuple):
    """A run of the journal."""

    id: str
    folder: str  # of the journal
    adr: str
    steps: tuple[Step, ...]
    state: str  # open | done | undoing | undone
    title: str  # what the run was, for a person


class JournalError(DecisionHooksError):
    """A run cannot be undone; names the file that stands in the way."""


def begin(place: Project, run_id: str, steps: Sequence[Step], title: str) -> Run:
    """Write the journal of a run, durably; nothing of the records is changed yet."""
    folder = place.state_file("runs", run_id)
    for kind in ("before", "after"):
        files.make_folder(os.path.join(folder, kind), 0o700)
    rows = []
    for number, step in enumerate(steps):
        if step.before is not None:
            files.write_atomic(os.path.join(folder, "before", str(number)), step.before.data)
        if step.after is not None:
            files.write_atomic(os.path.join(folder, "after", str(number)), step.after)
        rows.append(
            {
                "name": step.name,
                "before": step.before is not None,
                "mode": step.before.mode if step.before else None,
                "after": step.after is not None,
                "needs": list(step.needs),
            }
        )
    value = {"adr": place.adr, "title": title, "steps": rows}
    files.write_atomic(os.path.join(folder, "journal.json"), files.json_bytes(value))
    return Run(run_id, folder, place.adr, tuple(steps), "open", title)


def apply(run: Run) -> list[str]:
    """Do the steps of a run that are not done yet, writes first, and mark it done; returns names left alone.

    A file that is neither as it was before nor as it shall be has been changed by somebody: it is left, and
    so is every removal that needs it.
    """
    files.remove_leftovers(run.adr, _LABEL)
    left: list[str] = []
    for step in sorted(run.steps, key=lambda step: step.after is None):
        if any(name in left for name in step.needs) or not _do(run.adr, step.name, step.before, step.after):
            left.append(step.name)
    _mark(run, "done")
    return left


def recover(place: Project) -> list[str]:
    """Finish what a kill left of runs in this folder of records; returns the ids of the runs."""
    finished = []
    for run in runs(place):
        if run.adr != place.adr:
            continue
        if run.state == "open":
            apply(run)
        elif run.state == "undoing":
            _take_back(run)
        else:
            continue
        finished.append(run.id)
    files.remove_leftovers(place.adr, _LABEL)
    return finished


def undo(run: Run) -> None:
    """Put every file of a run back, bytes and modes, all or nothing; raises ``JournalError`` naming a file."""
    if run.state != "done":
        raise JournalError(f"run {run.id} is {run.state}: there is nothing to undo")
    for step in run.steps:
        there = adr_folder.read(run.adr, step.name)
        if _same(there, step.before) or (there.data if there else None) == step.after:
            continue
        raise JournalError(f"{step.name} was changed since run {run.id}: nothing was undone")
    _mark(run, "undoing")
    _take_back(run)


def _take_back(run: Run) -> None:
    files.remove_leftovers(run.adr, _LABEL)
    for step in sorted(run.steps, key=lambda step: step.before is None):
        there = adr_folder.read(run.adr, step.name)
        if (there.data if there else None) == step.after or _same(there, step.before):
            _put(run.adr, step.name, there, step.before.data if step.before else None, step.before)
    _mark(run, "undone")


def runs(place: Project) -> list[Run]:
    """All runs that have a journal, newest first."""
    folder = place.state_file("runs")
    found = (_read(os.path.join(folder, name), name) for name in sorted(files.names(folder), reverse=True))
    return [run for run in found if run]


def forget_old(place: Project) -> None:
    """Keep the newest runs; folders of runs whose journal was never finished go."""
    folder = place.state_file("runs")
    known = {run.id: run for run in runs(place)}
    closed = [run_id for run_id, run in known.items() if run.state in ("done", "undone")]
    for name in files.names(folder):
        if name not in known or name in closed[_KEPT:]:
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def _read(folder: str, run_id: str) -> Run | None:
    value = files.read_json(os.path.join(folder, "journal.json"))
    rows = value.get("steps") if value else None
    if value is None or not isinstance(rows, list):
        return None
    steps = []
    for number, row in enumerate(rows):
        name, mode = row["name"], row["mode"]
        before = files.read_bytes(os.path.join(folder, "before", str(number))) if row["before"] else None
        after = files.read_bytes(os.path.join(folder, "after", str(number))) if row["after"] else None
        stored = Stored(before, int(mode)) if before is not None and mode is not None else None
        steps.append(Step(name, stored, after, tuple(row["needs"])))
    marks = ("undone", "undoing", "done")
    state = next((mark for mark in marks if os.path.exists(os.path.join(folder, mark))), "open")
    return Run(run_id, folder, str(value["adr"]), tuple(steps), state, str(value.get("title", "")))


def _do(adr: str, name: str, before: Stored | None, after: bytes | None) -> bool:
    there = adr_folder.read(adr, name)
    if (there.data if there else None) == after and (there or not os.path.lexists(os.path.join(adr, name))):
        return True
    if there is None and os.path.lexists(os.path.join(adr, name)):
        return False
    if (there.data if there else None) != (before.data if before else None):
        return False
    return _put(adr, name, there, after, before)


def _put(adr: str, name: str, there: Stored | None, data: bytes | None, mode_of: Stored | None) -> bool:
    path = os.path.join(adr, name)
    if data is None:
        files.remove(path)
        files.sync_folder(adr)
        return True
    mode = mode_of.mode if mode_of else None
    if there is None:
        if not files.create_exclusive(path, data, mode=mode, label=_LABEL):
            return False
    elif there.data != data or (mode is not None and there.mode != mode):
        files.write_atomic(path, data, mode=mode, label=_LABEL)
    return True


def _same(there: Stored | None, wanted: Stored | None) -> bool:
    return (there.data if there else None) == (wanted.data if wanted else None)


def _mark(run: Run, state: str) -> None:
    files.write_atomic(os.path.join(run.folder, state), b"")
