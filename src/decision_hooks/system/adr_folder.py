"""The folder of drafts and records: only heads are read for a listing, links and sub-folders are skipped."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from decision_hooks.records import front_matter, naming
from decision_hooks.system import files

_HEAD = 4096  # bytes of a file in which its front matter has the session, if it is a draft
_LARGEST = 16 * 1024 * 1024  # bytes; a larger file could not be restored from a copy
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Stored(NamedTuple):
    """The bytes and the mode of a file."""

    data: bytes
    mode: int  # permission bits

    @property
    def text(self) -> str:
        """The bytes as text, bad ones replaced."""
        return self.data.decode("utf-8-sig", "replace")


class Snapshot:
    """A folder as it was at first sight: its names when the snapshot was taken, each file when it was first read.

    An absent folder is empty.
    """

    def __init__(self, folder: str) -> None:
        sessions: dict[str, str] = {}
        records = []
        for name, session in _sessions(folder):
            if not naming.is_record_name(name):
                continue
            if session is None:
                records.append(name)
            else:
                sessions[name] = session
        self.folder = folder
        self.names = frozenset(files.names(folder))
        self.drafts = tuple(sorted(sessions, key=naming.order_key))  # oldest first, by the time in the name
        self.records = tuple(sorted(records))
        self.sessions = sessions  # of the drafts
        self._seen: dict[str, Stored | None] = {}

    def stored(self, name: str) -> Stored | None:
        """The file as it was first read; None for anything but a regular file."""
        if name not in self._seen:
            self._seen[name] = read(self.folder, name)
        return self._seen[name]

    def text(self, name: str) -> str | None:
        """The file's text as it was first read."""
        stored = self.stored(name)
        return stored.text if stored else None

    def digest(self, name: str) -> str:
        """The digest of a file as it was first read; "" for anything but a regular file."""
        stored = self.stored(name)
        return digest(stored.data) if stored else ""

    def changed(self, names: Iterable[str]) -> set[str]:
        """Names whose content changed since the snapshot; refreshes the mode of the others."""
        changed = set()
        for name in names:
            now, before = read(self.folder, name), self.stored(name)
            if (now and now.data) != (before and before.data):
                changed.add(name)
            else:
                self._seen[name] = now
        return changed


def has_at_least(folder: str, drafts: int) -> tuple[bool, int]:
    """Whether there are at least so many drafts, and how many were counted; reads heads, stops early."""
    count = 0
    for name, session in _sessions(folder):
        count += session is not None and naming.is_record_name(name)
        if count >= drafts:
            return True, count
    return False, count


def read(folder: str, name: str) -> Stored | None:
    """A regular file of the folder, None for anything else: links are never followed."""
    try:
        fd = os.open(os.path.join(folder, name), _FLAGS)
    except (OSError, ValueError):
        return None
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
            return None
        with os.fdopen(fd, "rb", closefd=False) as stream:
            return Stored(stream.read(), stat.S_IMODE(found.st_mode))
    except OSError:
        return None
    finally:
        os.close(fd)


def stamps(folder: str, names: Iterable[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Size and time of change (ns) of the files that exist: while both are the same, cached content is valid."""
    for name in names:
        try:
            found = os.lstat(os.path.join(folder, name))
        except (OSError, ValueError):
            continue
        yield name, (found.st_size, found.st_mtime_ns)


def is_there(folder: str, name: str) -> bool:
    """Whether a name is taken, even by a dangling link."""
    return os.path.lexists(os.path.join(folder, name))


def can_be_written(folder: str) -> bool:
    """Whether files can be created in the folder, by its permissions and its file system."""
    return os.access(folder, os.W_OK | os.X_OK)


def digest(data: bytes) -> str:
    """The hash by which an unchanged file is known."""
    from decision_hooks.text.fingerprint import fingerprint

    return fingerprint(data, 20)


def _sessions(folder: str) -> Iterator[tuple[str, str | None]]:
    """The Markdown files and the session of each, None for one without; thousands are read at each stop."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (OSError, ValueError):
        return
    try:
        for name in _markdown(folder):
            yield name, _session(fd, name)
    finally:
        os.close(fd)


def _markdown(folder: str) -> Iterator[str]:
    """The names of regular Markdown files that are not hidden, as they are found."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if (
                    entry.name.endswith(".md")
                    and entry.name[0] not in "._"
                    and entry.is_file(follow_symlinks=False)
                ):
                    yield entry.name
    except OSError:
        return


def _session(folder: int, name: str) -> str | None:
    """The session in the front matter of a file, None without one."""
    try:
        fd = os.open(name, _FLAGS, dir_fd=folder)
    except OSError:
        return None
    try:
        head = os.read(fd, _HEAD)
    except OSError:
        return None
    finally:
        os.close(fd)
    return front_matter.session_of(head.decode("utf-8-sig", "replace")) if b"session" in head else None
