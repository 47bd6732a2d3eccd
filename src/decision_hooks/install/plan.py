"""What installing and taking back do to each file of a project's hosts; read and decided, nothing written."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from decision_hooks.hosts.entry_line import HookFile, OwnFile, Target, whole
from decision_hooks.hosts.marks import MARK, is_sealed
from decision_hooks.install import gitignore, merge
from decision_hooks.install.entries import LeftAlone
from decision_hooks.install.memory import Kept, Memory, backup, hash_of, read_memory
from decision_hooks.install.merge import Merged, Trace
from decision_hooks.system import files, git
from decision_hooks.system.project import Project, git_top

_LARGEST = 4 * 1024 * 1024  # bytes; settings are written by hand


class FileChange(NamedTuple):
    """What happens to one file; nothing when ``before`` equals ``after``."""

    name: str  # relative to the project, with "/"
    path: str  # links followed
    before: bytes | None  # None: there is no such file
    after: bytes | None  # None: there will be none
    trace: Trace = Trace()
    notes: tuple[str, ...] = ()
    trouble: str = ""  # why the file is left alone
    paste: str = ""  # what to write by hand instead

    @property
    def needed(self) -> bool:
        """Whether there is anything to do."""
        return not self.trouble and self.before != self.after


def plan_install(
    project: Project, hosts: Iterable[Target], backend: str, environ: Mapping[str, str]
) -> list[FileChange]:
    """What an installation does to each file; nothing is written."""
    at, changes = _Place(project.root, environ), []
    for host in hosts:
        if host.hooks:
            changes.append(_merged(at, host.hooks, backend))
        changes += [_written(at, own) for own in host.files]
    return [*changes, _ignored(at)]


def plan_uninstall(
    project: Project, hosts: Iterable[Target], environ: Mapping[str, str], *, ignore: bool
) -> list[FileChange]:
    """What taking back does to each file; ``ignore``: the block in ``.gitignore`` too."""
    at, changes = _Before(_Place(project.root, environ), project, read_memory(project)), []
    for host in hosts:
        if host.hooks:
            changes.append(_stripped(at, host.hooks))
        changes += [_removed(at, own) for own in host.files]
    if ignore:
        changes.append(_back(at, ".gitignore", _without_block))
    return changes


def present(project: Project, hosts: Iterable[Target], environ: Mapping[str, str]) -> bool:
    """Whether one of the hosts has an entry or a file of ours in this project."""
    changes = plan_uninstall(project, hosts, environ, ignore=False)
    return any(change.needed or change.trouble for change in changes)


def in_use(root: str, hosts: Iterable[Target], environ: Mapping[str, str]) -> list[str]:
    """The names of hosts that this project uses, or that are on the search path."""
    import shutil

    path = environ.get("PATH", os.defpath)
    return [
        host.name
        for host in hosts
        if set(files.names(os.path.join(root, host.folder))) - {"hooks"}  # .claude/hooks may be our own state
        or any(shutil.which(name, path=path) for name in host.programs)
    ]


class _Place(NamedTuple):
    """Where files are looked at."""

    root: str
    environ: Mapping[str, str]


class _Before(NamedTuple):
    """What was there before an installation."""

    place: _Place
    project: Project
    memory: Memory


def _merged(at: _Place, file: HookFile, backend: str) -> FileChange:
    paste = whole(file.entries, file.layout)
    return _change(at, file.name, lambda before: merge.merge(before, file, backend), paste)


def _written(at: _Place, own: OwnFile) -> FileChange:
    def make(before: bytes | None) -> Merged:
        text = own.text.encode()
        if before is not None and before != text and not is_sealed(before):
            raise LeftAlone("it is not ours, or was changed by hand")
        return Merged(text)

    return _change(at, own.name, make)


def _ignored(at: _Place) -> FileChange:
    # What a person's own git configuration ignores is not ignored for the others.
    alone = {**at.environ, "HOME": os.devnull, "XDG_CONFIG_HOME": os.devnull}

    def make(before: bytes | None) -> Merged:
        data = before or b""
        if b"\0" in data:
            raise LeftAlone("it is no text that git reads")
        lines = gitignore.needed(
            data,
            lambda paths: git.ignored(at.root, paths, alone),
            lambda: git.tracked_files(at.root, at.environ),
        )
        return Merged(gitignore.with_lines(data, lines) if lines else before)

    return _change(at, ".gitignore", make, "\n".join(rule.line for rule in gitignore.RULES) + "\n")


def _stripped(at: _Before, file: HookFile) -> FileChange:
    def make(data: bytes, kept: Kept | None) -> bytes | None:
        if kept is None and MARK.encode() not in data:
            return data  # nothing of ours, and its form is none of our business
        stripped = merge.strip(data, file, kept.trace if kept else None)
        gone = kept is not None and not kept.existed and merge.is_empty(stripped, file.layout)
        return None if gone else stripped

    return _back(at, file.name, make)


def _removed(at: _Before, own: OwnFile) -> FileChange:
    def make(data: bytes, kept: Kept | None) -> bytes | None:
        if data == own.text.encode() or is_sealed(data):
            return None
        if kept and not kept.existed:
            raise LeftAlone("it was changed by hand; remove it yourself")
        return data

    return _back(at, own.name, make)


def _without_block(data: bytes, kept: Kept | None) -> bytes | None:
    left = gitignore.without_block(data)
    return None if not left.strip() and kept is not None and not kept.existed else left


def _change(at: _Place, name: str, make: Callable[[bytes | None], Merged], paste: str = "") -> FileChange:
    path = os.path.join(at.root, *name.split("/"))
    before: bytes | None = None
    notes: tuple[str, ...] = ()
    try:
        notes = _followed(at, path)
        path, before, writable = _look(path)
        merged = make(before)
        if merged.data != before and not writable:
            raise LeftAlone("it is read-only")
    except LeftAlone as error:
        return FileChange(name, path, before, before, notes=notes, trouble=str(error), paste=paste)
    return FileChange(name, path, before, merged.data, merged.trace, (*notes, *merged.notes))


def _followed(at: _Place, path: str) -> tuple[str, ...]:
    """A note where the user's links are followed; raises ``LeftAlone`` where the repository may have brought them."""
    links, real = git.links(at.root, path, at.environ), os.path.realpath(path)
    brought = next((link for link in links if git.is_tracked(link, at.environ)), "")
    if brought:
        raise LeftAlone(f"git tracks the link {brought}, which leads to {real}; put a file in its place")
    if links and not git_top(at.root) and not git.is_in_project(at.root, real, at.environ):
        raise LeftAlone(f"the link {links[0]} leads out of the project, to {real}; put a file in its place")
    return (f"through a link to {real}",) if links else ()


def _back(at: _Before, name: str, make: Callable[[bytes, Kept | None], bytes | None]) -> FileChange:
    """Back to the backup where the file is as we left it, else our part is taken out of what is there."""

    def undone(before: bytes | None) -> Merged:
        if before is None:
            return Merged(None)
        path = os.path.realpath(os.path.join(at.place.root, *name.split("/")))
        kept = at.memory.kept.get(path)
        if kept and kept.exact and kept.after == hash_of(before):
            saved = files.read_bytes(backup(at.project, path)) if kept.existed else None
            if saved is not None or not kept.existed:
                return Merged(saved)
        return Merged(make(before, kept))

    return _change(at.place, name, undone)


def _look(path: str) -> tuple[str, bytes | None, bool]:
    """The real path of a file, its bytes (None: no file) and whether its owner may write it."""
    real = os.path.realpath(path)
    try:
        status = os.stat(path)
    except FileNotFoundError:
        if os.path.islink(path):
            raise LeftAlone("it is a link to a file that does not exist") from None
        return real, None, True
    except (OSError, ValueError) as error:
        raise LeftAlone(f"it cannot be read ({error})") from None
    if not stat.S_ISREG(status.st_mode):
        raise LeftAlone("it is not a file")
    data = files.read_bytes(real, _LARGEST + 1)
    if data is None:
        raise LeftAlone("it cannot be read")
    if len(data) > _LARGEST:
        raise LeftAlone("it is larger than any settings file")
    return real, data, bool(status.st_mode & 0o222) and os.access(real, os.W_OK)
