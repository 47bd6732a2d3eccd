"""The journal's runs on disk: ``runs/<id>/`` of the state folder, each published as a whole.

A run's folder holds ``journal.json`` (the steps with hashes), ``before/<n>`` and ``after/<n>`` (images), the marks
``done``, ``undoing``, ``undone``, and ``left.json`` with the files whose steps were not done. It is made under a
hidden name and renamed, so no other run sees half of it.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, NamedTuple

from decision_hooks.errors import FolderError
from decision_hooks.records import naming
from decision_hooks.system import adr_folder, files, stored
from decision_hooks.system.adr_folder import Stored
from decision_hooks.system.project import Project, tree_mark, tree_marks
from decision_hooks.system.seal import is_seal, seal

OPEN, DONE, UNDOING, UNDONE, DAMAGED = "open", "done", "undoing", "undone", "damaged"
_JOURNAL, _LEFT = "journal.json", "left.json"
_SEALED = "run"  # what a seal of a journal is for
_KINDS = ("before", "after")  # of images
_KEPT = 20  # newest runs


def _record(name: str) -> str | None:
    """The name; None where it leads out of the folder."""
    return name if naming.is_plain_name(name) else None


class DamagedError(FolderError):
    """An image of a run is gone or torn; nothing can be written from it."""


class Change(NamedTuple):
    """One file's change: bytes before (None = there was none) and after (None = it goes)."""

    name: str
    before: Stored | None
    after: bytes | None
    needs: tuple[str, ...] = ()  # files that must have been written before this one may go


class Image(NamedTuple):
    """What is known of a file's bytes before or after a step; the bytes lie in the run's folder."""

    digest: str
    mode: Annotated[int, range(0o10000)] | None  # before; None: the usual one

    @property
    def permissions(self) -> int | None:
        """The mode without set-user-id and the like."""
        return None if self.mode is None else self.mode & 0o777


class FileStep(NamedTuple):
    """A change as the journal stores it: names of images instead of bytes."""

    name: Annotated[str, _record]
    before: Image | None
    after: Image | None
    needs: tuple[str, ...]


class Run(NamedTuple):
    """A run of the journal."""

    id: str
    folder: str  # of the journal
    adr: str
    steps: tuple[FileStep, ...]
    state: str  # open | done | undoing | undone | damaged
    title: str  # what the run was, for a person
    left: frozenset[str] = frozenset()  # files that were changed by others, so that their steps were not done
    sealed: tuple[str, str] = ("", "")  # what the journal says, and its seal

    def is_ours(self, environ: Mapping[str, str]) -> bool:
        """Whether the run was begun on this machine: no other's journal is carried out."""
        text, stored_seal = self.sealed
        return is_seal(stored_seal, environ, _SEALED, text)

    def before(self, step: FileStep) -> Stored:
        """The bytes and mode of a file before its step; raises ``DamagedError``."""
        image = step.before or Image("", None)
        mode = image.permissions
        return Stored(self._image("before", step, image), 0o644 if mode is None else mode)

    def after(self, step: FileStep) -> bytes:
        """The bytes of a file after its step; raises ``DamagedError``."""
        return self._image("after", step, step.after or Image("", None))

    def _image(self, kind: str, step: FileStep, image: Image) -> bytes:
        data = files.read_bytes(os.path.join(self.folder, kind, str(self.steps.index(step))))
        if data is None or adr_folder.digest(data) != image.digest:
            raise DamagedError(f"run {self.id} is damaged: its image of {step.name} is gone or torn")
        return data


# -- writing


def new_id(now: float, others: Iterable[str]) -> str:
    """An id for what is done now: the time (UTC), numbered when it is taken.

    It sorts after the others, whatever the clock says now or said then.
    """
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    newest, number = max(map(id_order, filter(is_id, others)), default=("", 0))
    return stamp if stamp > newest else f"{newest}-{number + 1}"


def is_id(name: str) -> bool:
    """Whether ``new_id`` can have made it."""
    return re.fullmatch(r"\d{8}T\d{6}Z(?:-\d+)?", name, re.ASCII) is not None


def begin(
    project: Project, now: float, changes: Sequence[Change], title: str, environ: Mapping[str, str]
) -> Run:
    """Write the journal of a run, durably and as a whole; nothing of the records is changed yet."""
    top = project.state_file("runs")
    run_id = new_id(now, _names(project))
    files.make_folder(top, 0o700)
    making = os.path.join(top, _making(project) + run_id)
    try:
        for kind in _KINDS:
            files.make_folder(os.path.join(making, kind), 0o700)
        steps = tuple(_write_images(making, number, change) for number, change in enumerate(changes))
        for kind in _KINDS:
            files.sync_folder(os.path.join(making, kind))
        value = {"tree": tree_mark(project), "adr": _relative(project), "title": title, "steps": steps}
        text = json.dumps(value)
        sealed = (text, seal(environ, _SEALED, text))
        files.write_new(os.path.join(making, _JOURNAL), _with_seal(value, sealed[1]))
        files.publish_folder(making, os.path.join(top, run_id))
    except FolderError:
        files.remove_folder(making)
        raise
    return Run(run_id, os.path.join(top, run_id), project.adr, steps, OPEN, title, sealed=sealed)


def _with_seal(value: Mapping[str, object], own: str) -> bytes:
    """A journal with its seal, in ASCII: names that are no UTF-8 must come back as they are."""
    return json.dumps({**value, "seal": own}).encode("ascii")


def mark(run: Run, state: str, left: Sequence[str] = ()) -> None:
    """Note, durably, what a run has come to."""
    if left:
        files.write_new(os.path.join(run.folder, _LEFT), json.dumps({"left": sorted(left)}).encode("ascii"))
    files.write_new(os.path.join(run.folder, state), b"")
    files.sync_folder(run.folder)


def _write_images(folder: str, number: int, change: Change) -> FileStep:
    before = after = None
    if change.before is not None:
        files.write_new(os.path.join(folder, "before", str(number)), change.before.data)
        before = Image(adr_folder.digest(change.before.data), change.before.mode & 0o777)
    if change.after is not None:
        files.write_new(os.path.join(folder, "after", str(number)), change.after)
        after = Image(adr_folder.digest(change.after), None)
    return FileStep(change.name, before, after, change.needs)


# -- reading


def known_runs(project: Project) -> list[Run]:
    """All runs on this work tree's folder of records, newest first."""
    names = sorted(_names(project), key=id_order, reverse=True)
    found = (_read(project, name) for name in names)
    return [run for run in found if run]


def unfinished(project: Project) -> list[Run]:
    """The runs that a kill left in the middle, oldest first; reads no more of the others than a mark."""
    names = (
        name for name in sorted(_names(project), key=id_order) if _state(project, name) in (OPEN, UNDOING)
    )
    found = (_read(project, name) for name in names)
    return [run for run in found if run and run.state != DAMAGED]


def _names(project: Project) -> list[str]:
    top = project.state_file("runs")
    shown = (name for name in files.names(top) if not name.startswith("."))
    return [name for name in shown if files.is_plain_folder(os.path.join(top, name))]


def id_order(run_id: str) -> tuple[str, int]:
    """What sorts the ids of runs and plans by their age."""
    stamp, _, number = run_id.partition("-")
    return stamp, int(number) if number.isascii() and number.isdigit() else 1


def _state(project: Project, run_id: str) -> str:
    folder = project.state_file("runs", run_id)
    return next(
        (mark for mark in (UNDONE, UNDOING, DONE) if os.path.exists(os.path.join(folder, mark))), OPEN
    )


def _read(project: Project, run_id: str) -> Run | None:
    """A run by its journal; None for one of another work tree, or on another folder of records."""
    folder = project.state_file("runs", run_id)
    value = files.read_json(os.path.join(folder, _JOURNAL)) or {}
    own_seal = str(value.pop("seal", ""))
    rows = value.get("steps")
    steps = stored.read_rows(FileStep, rows)
    of_tree = value.get("tree") in tree_marks(project)
    if value and not (of_tree and value.get("adr") == _relative(project)):
        return None
    sound = isinstance(rows, list) and len(rows) == len(steps)
    state = _state(project, run_id) if sound else DAMAGED
    left = (files.read_json(os.path.join(folder, _LEFT)) or {}).get("left")
    names = (
        frozenset(name for name in left if isinstance(name, str)) if isinstance(left, list) else frozenset()
    )
    sealed = (json.dumps(value), own_seal)
    return Run(run_id, folder, project.adr, steps, state, str(value.get("title", "")), names, sealed)


def _relative(project: Project) -> str:
    return os.path.relpath(project.adr, project.root)


# -- what was not begun here


def put_aside(project: Project, environ: Mapping[str, str]) -> list[str]:
    """Put unfinished runs aside that were not begun on this machine; returns their ids."""
    top = project.state_file("runs")
    aside = []
    for run in unfinished(project):
        if not run.is_ours(environ):
            try:
                files.publish_folder(run.folder, os.path.join(top, f".aside-{run.id}"))
            except FolderError:  # it stays, and is not carried out either
                continue
            aside.append(run.id)
    return aside


def take_over(project: Project, environ: Mapping[str, str]) -> None:
    """Seal the finished runs of a state folder that a person wants to keep, so that ``undo`` takes them."""
    for run in known_runs(project):
        if run.state in (DONE, UNDONE) and not run.is_ours(environ):
            text, _ = run.sealed
            data = _with_seal(json.loads(text), seal(environ, _SEALED, text))
            files.write_atomic(os.path.join(run.folder, _JOURNAL), data)


# -- forgetting


def forget_old(project: Project) -> None:
    """Keep the newest runs and those that are unfinished."""
    top = project.state_file("runs")
    closed = [name for name in _names(project) if is_id(name) and _state(project, name) in (DONE, UNDONE)]
    for name in sorted(closed, key=id_order, reverse=True)[_KEPT:]:
        going = os.path.join(top, _making(project) + name)
        try:
            files.publish_folder(os.path.join(top, name), going)  # a kill leaves no half of a run to be read
        except FolderError:
            continue
        files.remove_folder(going)


def remove_leftovers(project: Project) -> None:
    """Remove what a kill left of runs that were being made or removed; under the lock of the work tree."""
    top = project.state_file("runs")
    begin_of_name = _making(project)
    for name in files.names(top):
        if name.startswith(begin_of_name) and is_id(name[len(begin_of_name) :]):
            files.remove_folder(os.path.join(top, name))


def _making(project: Project) -> str:
    """The prefix of run folders being created or removed; per work tree, like the lock."""
    return f".making{tree_mark(project)}-"
