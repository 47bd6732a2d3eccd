"""Opens the state folder: only one that this machine made, or a person took over, is read, written or swept.

A repository, an archive or another user can put anything in its place. So nothing in it is used before each
folder from the project's root down is found to be a plain folder, the state folder ours, free of links, not
tracked by git, and sealed with the key of this machine.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from decision_hooks.errors import FolderError, StateRefused
from decision_hooks.system import files, git, index
from decision_hooks.system.project import SEAL, Project, git_dir, git_top, main_root
from decision_hooks.system.seal import is_seal, seal

_IGNORE, _ALL = ".gitignore", b"*\n"
_SEAL_LENGTH = 32
_MOST_SEALS = 20  # one a line: several machines may share a project
_WHILE = 2_000_000_000  # nanoseconds: no clock of a file system is coarser
_NOWHERE = os.devnull  # nothing can lie below it
_SEALED, _EMPTY, _FOREIGN = "sealed", "empty", "foreign"  # what a state folder is


def check_state(project: Project, environ: Mapping[str, str], *, adopt: bool = False) -> bool:
    """Whether there is a state folder; ``StateRefused`` when it must not be used. Changes nothing in it.

    ``adopt``: a person asks to use it, so that content from elsewhere is no hindrance.
    """
    return bool(_checked(project, environ, adopt))


def _checked(project: Project, environ: Mapping[str, str], adopt: bool) -> str:
    found = _look(project, environ)
    if found == _FOREIGN and not adopt:
        raise StateRefused(
            f"{project.state} has content that was not written on this machine",
            "remove it, or keep it with `capture-decisions doctor --fix`",
        )
    return found


def open_state(project: Project, environ: Mapping[str, str], *, adopt: bool = False) -> bool:
    """Make the state folder ready: private to the user, ignored by git, sealed; raises ``StateRefused``.

    True when it had content from elsewhere, which a person has asked to keep by ``adopt``.
    """
    found = _checked(project, environ, adopt)
    if not found:
        files.make_folder(os.path.dirname(project.state))
    elif found == _FOREIGN or (files.mode_of(project.state) or 0) & 0o077:
        files.close_to_others(project.state)
    files.make_folder(project.state, 0o700)
    if files.read_bytes(project.state_file(_IGNORE), 16) != _ALL:
        try:
            files.write_new(project.state_file(_IGNORE), _ALL)
        except (
            FolderError
        ):  # another hook may be writing it now; any other problem surfaces at the next write
            pass
    if found != _SEALED:
        _add_seal(project.state, environ)
    return found == _FOREIGN


def _add_seal(state: str, environ: Mapping[str, str]) -> None:
    """Add the seal of this machine to the file: a kill leaves nothing beside it."""
    seals, path = _seals(state), os.path.join(state, SEAL)
    own = seal(environ, "state")
    if len(seals) < _MOST_SEALS:
        files.append(path, f"\n{own}\n".encode() if seals else f"{own}\n".encode(), sync=True)
        files.sync_folder(state)
    else:
        lines = [*seals[1 - _MOST_SEALS :], own]
        files.write_atomic(path, ("\n".join(lines) + "\n").encode())


def usable(project: Project, environ: Mapping[str, str]) -> tuple[Project, StateRefused | None]:
    """The project; or one without state, and why its state folder is not used."""
    try:
        check_state(project, environ)
    except StateRefused as error:
        plain = all(map(files.is_free_or_folder, _above(project.root)))
        return project._replace(state=_NOWHERE, hooks=project.hooks if plain else _NOWHERE), error
    return project, None


# -- what is looked at


def _look(project: Project, environ: Mapping[str, str]) -> str:
    """What the state folder is, "" when there is none; raises ``StateRefused`` for what nobody can take over."""
    main = main_root(project)
    for root in dict.fromkeys((project.root, main)):
        owner = _owner(root)
        for folder in _above(root):
            if not _is_folder_of(folder, {os.geteuid(), owner}):
                break
    if not _is_folder_of(project.state, {os.geteuid()}):
        return ""
    _check_entries(project.state)
    sealed = _is_sealed(_seals(project.state), environ)
    _check_git(project.state, main, environ, sealed)
    if sealed:
        return _SEALED
    if not _has_content(project.state):
        return _EMPTY
    # a run beside this one writes the seal before anything else: look again
    return _SEALED if _is_sealed(_seals(project.state), environ) else _FOREIGN


def _above(root: str) -> tuple[str, str]:
    hooks = os.path.join(root, ".claude", "hooks")
    return os.path.dirname(hooks), hooks


def _owner(path: str) -> int:
    try:
        return os.stat(path).st_uid
    except OSError:
        return os.geteuid()


def _is_folder_of(path: str, owners: set[int]) -> bool:
    """Whether the folder is there; raises ``StateRefused`` for a link, another thing or another owner."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    if stat.S_ISLNK(found.st_mode):
        raise StateRefused(f"{path} is a link", "remove it, or put a folder in its place")
    if not stat.S_ISDIR(found.st_mode):
        raise StateRefused(f"{path} is no folder", "remove it")
    if found.st_uid not in owners:
        raise StateRefused(
            f"{path} belongs to another user (id {found.st_uid})", "remove it, or make it yours with chown"
        )
    return True


def _check_entries(state: str) -> None:
    try:
        with os.scandir(state) as entries:
            for entry in entries:
                if not (entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)):
                    kind = "a link" if entry.is_symlink() else "neither a file nor a folder"
                    raise StateRefused(f"{entry.path} is {kind}", "remove it")
    except OSError as error:
        raise _unreadable(state, error) from error


def _unreadable(path: str, error: OSError | ValueError) -> StateRefused:
    return StateRefused(f"{path} cannot be read ({getattr(error, 'strerror', error)})", "check its modes")


def _check_git(state: str, main: str, environ: Mapping[str, str], sealed: bool) -> None:
    """Refuse a folder of which git tracks anything.

    The index is read only when it has changed: the time of the seal is that of the index which was clean, if it
    was given a while after the index was written (later changes then have another time).
    """
    top = git_top(state)
    if top.startswith(
        os.path.realpath(main) + os.sep
    ):  # a repository within: it may have come as a submodule
        _check_index(state, git_top(main), environ)
    there = _stat(index.index_file(git_dir(top))) if top else None
    if there is None:
        return
    mark = os.path.join(state, SEAL)
    seen = _stat(mark) if sealed else None
    changed = there.st_mtime_ns
    if seen and seen.st_mtime_ns == changed and seen.st_ctime_ns > changed + _WHILE:
        return
    _check_index(state, top, environ)
    if sealed:
        try:
            os.utime(mark, ns=(changed, changed), follow_symlinks=False)
        except OSError:  # it is only slower without
            pass


def _check_index(state: str, top: str, environ: Mapping[str, str]) -> None:
    folder = git_dir(top)
    name = os.path.relpath(os.path.realpath(state), top)
    if index.tracks(folder, name) or (index.may_share(folder, name) and git.tracked(top, [name], environ)):
        raise StateRefused(
            f"git tracks files in {state}", f"take them out: git -C '{top}' rm -r --cached '{name}'"
        )


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


# -- the seal


def _seals(state: str) -> list[str]:
    text = files.read_text(os.path.join(state, SEAL), 4096) or ""
    return list(dict.fromkeys(line for line in text.split() if len(line) == _SEAL_LENGTH))


def _is_sealed(seals: list[str], environ: Mapping[str, str]) -> bool:
    return bool(seals) and (
        seal(environ, "state") in seals or any(is_seal(one, environ, "state") for one in seals)
    )


def _has_content(state: str) -> bool:
    """Whether there is more than what a run leaves that was killed while it made the folder."""
    with os.scandir(state) as entries:
        return any(map(_is_content, entries))


def _is_content(entry: os.DirEntry[str]) -> bool:
    if entry.is_dir(follow_symlinks=False):
        return bool(files.names(entry.path))
    if files.is_temporary(entry.name) or files.read_bytes(entry.path, 1) in (None, b""):
        return False
    return entry.name != _IGNORE or (files.read_bytes(entry.path, 16) or b"").strip() != _ALL.strip()
