"""Doing what ``host_plan`` has decided: files are written with a backup and a memory, and taken back."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence

from decision_hooks.errors import FolderError
from decision_hooks.install import memory as host_memory
from decision_hooks.install.memory import Kept, Memory
from decision_hooks.install.plan import Step
from decision_hooks.system import files
from decision_hooks.system.project import Project, open_state

_BIN = "bin"


def install(project: Project, steps: Sequence[Step], script: str) -> None:
    """Do the steps of an installation: what is remembered first, then the files, then the script's name."""
    doing = [step for step in steps if step.changes]
    memory = host_memory.read_memory(project)
    wanted = [os.path.dirname(step.path) for step in doing] + [project.state]
    folders = _missing_folders(wanted)
    open_state(project)
    kept = dict(memory.kept)
    for step in doing:
        kept[step.path] = _keep(project, step, kept.get(step.path))
    host_memory.write_memory(project, Memory(kept, tuple(dict.fromkeys([*memory.folders, *folders]))))
    for step in doing:
        files.make_folder(os.path.dirname(step.path))
        _write(step)
    _sweep(project, steps)
    name = project.state_file(_BIN)
    line = files.to_bytes(script + "\n")
    if script and files.read_bytes(name) != line:
        files.write_atomic(name, line, label=host_memory.LABEL)


def uninstall(project: Project, steps: Sequence[Step], *, last: bool) -> bool:
    """Do the steps back; ``last``: no host is left, what all share goes too. False when other state stays."""
    memory = host_memory.read_memory(project)
    kept = dict(memory.kept)
    for step in steps:
        if step.changes:
            _write(step)
        if not step.trouble and step.path in kept:
            del kept[step.path]
            files.remove(host_memory.backup(project, step.path))
    _sweep(project, steps)
    if os.path.isdir(project.state):
        if last and not kept:
            _forget(project)
        else:
            host_memory.write_memory(project, Memory(kept, memory.folders))
    for folder in sorted({*memory.folders, project.state}, key=len, reverse=True):
        _remove_folder(folder)
    return bool(kept) or not os.path.isdir(project.state)


def _forget(project: Project) -> None:
    for name in (_BIN, host_memory.MEMORY):
        files.remove(project.state_file(name))
    _remove_folder(project.state_file(host_memory.BACKUPS))
    left = {name for name in files.names(project.state) if not name.startswith(files.TEMPORARY)}
    if left <= {".gitignore"}:
        files.remove_leftovers(project.state, "")  # of whoever made the folder and was killed over it
        files.remove(project.state_file(".gitignore"))


def _keep(project: Project, step: Step, old: Kept | None) -> Kept:
    return host_memory.keep(project, step.path, step.before, step.after or b"", step.trace, old)


def _write(step: Step) -> None:
    now = files.read_bytes(step.path)
    if now != step.before:
        raise FolderError(f"{step.name} was changed meanwhile; nothing was written to it, try again")
    if step.after is None:
        files.remove(step.path)
        return
    mode = stat.S_IMODE(os.stat(step.path).st_mode) if step.before is not None else None
    files.write_atomic(step.path, step.after, mode=mode, label=host_memory.LABEL)


def _sweep(project: Project, steps: Sequence[Step]) -> None:
    """Remove what a killed run has left beside the files."""
    own = (project.state, project.state_file(host_memory.BACKUPS))
    for folder in {*(os.path.dirname(step.path) for step in steps), *own}:
        files.remove_leftovers(folder, host_memory.LABEL)


def _missing_folders(paths: Iterable[str]) -> list[str]:
    found: list[str] = []
    for path in paths:
        while path and not os.path.isdir(path) and path not in found:
            found.append(path)
            path = os.path.dirname(path)
    return found


def _remove_folder(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:  # not empty, or gone: both are fine
        pass
