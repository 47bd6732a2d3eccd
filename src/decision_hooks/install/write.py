"""Applies changes to files of hosts, with backup and memory; the script that the entries start."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from decision_hooks.errors import FolderError
from decision_hooks.hosts.entry_line import PROGRAMS
from decision_hooks.install import memory
from decision_hooks.install.memory import Memory
from decision_hooks.install.plan import FileChange
from decision_hooks.system import files, git, process
from decision_hooks.system.project import SEAL, Project, git_top
from decision_hooks.system.state_folder import open_state

_BIN = "bin"
_LONGEST = 8192  # bytes of the file that names the script


def named_script(project: Project) -> str:
    """What the state folder names as the script of ``capture-decisions``, "" when it names none."""
    return (files.read_text(project.state_file(_BIN), _LONGEST) or "").rstrip("\n")


def refused_script(project: Project, script: str, environ: Mapping[str, str]) -> str:
    """Why the entries do not start the script that the state folder names; "" when they do."""
    named = project.state_file(_BIN)
    if not script:
        return ""
    if git.links(project.root, named, environ) or git.is_tracked(os.path.realpath(named), environ):
        return f"{named} came with the repository"
    if not os.path.isabs(script) or os.path.basename(script) != PROGRAMS[0]:
        return f"{named} names {script}, which is no path of {PROGRAMS[0]}"
    if came_with_project(project, script, environ):
        return f"{script} lies in the project, and git tracks it or is not there"
    return ""


def came_with_project(project: Project, script: str, environ: Mapping[str, str]) -> bool:
    """Whether the entries take a script, or its sister, for a program of the repository; as their line of sh does."""
    real = [
        os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        for path in (script, sister(script))
    ]
    inside = [path for path in real if git.is_in_project(project.root, path, environ)]
    return any(not git_top(os.path.dirname(path)) or git.is_tracked(path, environ) for path in inside)


def usable_script(script: str) -> str:
    """The path of a ``capture-decisions`` that the entries can start, its sister too; else ""."""
    whole = os.path.isabs(script) and "\n" not in script and os.path.basename(script) == PROGRAMS[0]
    return script if whole and process.is_program(script) and process.is_program(sister(script)) else ""


def sister(script: str) -> str:
    """The path of ``normalize-decisions``, which lies beside ``capture-decisions``."""
    return os.path.join(os.path.dirname(script), PROGRAMS[1])


def install(project: Project, changes: Sequence[FileChange], script: str, environ: Mapping[str, str]) -> bool:
    """Apply an installation: what is remembered first, then the files, then the script's name.

    True when a state folder with content from elsewhere was taken over.
    """
    doing = [change for change in changes if change.needed]
    before = memory.read_memory(project)
    folders = _missing_folders([*(os.path.dirname(change.path) for change in doing), project.state])
    adopted = open_state(project, environ, adopt=True)
    kept = dict(before.kept)
    for change in doing:
        kept[change.path] = memory.keep(
            project, change.path, change.before, change.after or b"", change.trace, kept.get(change.path)
        )
    memory.write_memory(project, Memory(kept, tuple(dict.fromkeys([*before.folders, *folders]))))
    for change in doing:
        files.make_folder(os.path.dirname(change.path))
        _write(change)
    _sweep(project, changes)
    name = project.state_file(_BIN)
    line = files.to_bytes(script + "\n")
    if script and files.read_bytes(name) != line:
        files.write_atomic(name, line, label=memory.LABEL)
    return adopted


def uninstall(project: Project, changes: Sequence[FileChange], *, last: bool) -> bool:
    """Apply a removal; ``last``: no host is left, what all share goes too. False when other state stays."""
    before = memory.read_memory(project)
    kept = dict(before.kept)
    for change in changes:
        if change.needed:
            _write(change)
        if not change.trouble and change.path in kept:
            del kept[change.path]
            files.remove(memory.backup(project, change.path))
    _sweep(project, changes)
    if os.path.isdir(project.state):
        if last and not kept:
            _forget(project)
        else:
            memory.write_memory(project, Memory(kept, before.folders))
    for folder in sorted({*before.folders, project.state}, key=len, reverse=True):
        _remove_folder(folder)
    return bool(kept) or not os.path.isdir(project.state)


def _forget(project: Project) -> None:
    for name in (_BIN, memory.MEMORY):
        files.remove(project.state_file(name))
    _remove_folder(project.state_file(memory.BACKUPS))
    left = {name for name in files.names(project.state) if not name.startswith(files.TEMPORARY)}
    if left <= {".gitignore", SEAL}:
        files.remove_leftovers(project.state, "")  # of whoever made the folder and was killed over it
        files.remove(project.state_file(".gitignore"))
        files.remove(project.state_file(SEAL))


def _write(change: FileChange) -> None:
    if files.read_bytes(change.path) != change.before:
        raise FolderError(f"{change.name} was changed meanwhile; nothing was written to it, try again")
    if change.after is None:
        files.remove(change.path)
    else:
        files.write_atomic(change.path, change.after, mode=files.mode_of(change.path), label=memory.LABEL)


def _sweep(project: Project, changes: Sequence[FileChange]) -> None:
    """Remove what a killed run has left beside the files."""
    own = (project.state, project.state_file(memory.BACKUPS))
    for folder in {*(os.path.dirname(change.path) for change in changes if not change.trouble), *own}:
        files.remove_leftovers(folder, memory.LABEL)


def _missing_folders(paths: Iterable[str]) -> list[str]:
    missing: list[str] = []
    for path in paths:
        while path and not os.path.isdir(path) and path not in missing:
            missing.append(path)
            path = os.path.dirname(path)
    return missing


def _remove_folder(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:  # not empty, or gone: both are fine
        pass
