"""The folder of drafts and records, as it stands: heads read only, links and sub-folders passed over."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from decision_hooks.records import front_matter, naming
from decision_hooks.system import files

_HEAD = 4096  # bytes in which the front matter of a draft tells that it is one
_LARGEST = 16 * 1024 * 1024  # bytes; a larger file is none that could be put back from an image
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Listing(NamedTuple):
    """What stands in the folder: all names, and which of them are drafts and records."""

    names: frozenset[str]
    drafts: tuple[str, ...]  # oldest first, by the time in the name
    records: tuple[str, ...]


class Stored(NamedTuple):
    """A file's bytes with what is needed to put it back."""

    data: bytes
    mode: int  # permission bits

    @property
    def text(self) -> str:
        """The bytes as text, bad ones replaced."""
        return self.data.decode("utf-8-sig", "replace")


class Snapshot:
    """The files of a folder as they were when they were first looked at: what a run judges by."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._seen: dict[str, Stored | None] = {}

    def stored(self, name: str) -> Stored | None:
        """The file as it was first seen; None for anything that is no regular file."""
        if name not in self._seen:
            self._seen[name] = read(self.folder, name)
        return self._seen[name]

    def text(self, name: str) -> str | None:
        """The file's text as it was first seen."""
        found = self.stored(name)
        return found.text if found else None

    def changed(self, names: Iterable[str]) -> set[str]:
        """Those of the files whose bytes are others now; the new mode of the rest is taken over."""
        found = set()
        for name in names:
            now, before = read(self.folder, name), self.stored(name)
            if (now and now.data) != (before and before.data):
                found.add(name)
            else:
                self._seen[name] = now
        return found


def has_at_least(folder: str, drafts: int) -> tuple[bool, int]:
    """Whether at least so many drafts wait, and how many were counted; reads heads, stops early."""
    found = 0
    with _Opened(folder) as opened:
        for name in opened.markdown():
            found += opened.is_draft(name)
            if found >= drafts:
                return True, found
    return False, found


def listing(folder: str) -> Listing:
    """Read the folder once; raises nothing, an absent folder is empty."""
    drafts: list[str] = []
    records: list[str] = []
    with _Opened(folder) as opened:
        for name in opened.markdown():
            if opened.is_draft(name):
                drafts.append(name)
            elif naming.is_record_name(name):
                records.append(name)
    drafts.sort(key=naming.order_key)
    return Listing(frozenset(files.names(folder)), tuple(drafts), tuple(sorted(records)))


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
    """Size and time of change (ns) of the files that are there, by which a kept reading of one is still good."""
    for name in names:
        try:
            found = os.lstat(os.path.join(folder, name))
        except (OSError, ValueError):
            continue
        yield name, (found.st_size, found.st_mtime_ns)


def is_there(folder: str, name: str) -> bool:
    """Whether a name is taken, be it by a link that leads nowhere."""
    return os.path.lexists(os.path.join(folder, name))


def can_be_written(folder: str) -> bool:
    """Whether files can be made in the folder, as far as its rights and its file system tell."""
    return os.access(folder, os.W_OK | os.X_OK)


def digest(data: bytes) -> str:
    """The hash by which a file is told to be unchanged."""
    from hashlib import blake2b

    return blake2b(data, digest_size=20).hexdigest()


class _Opened:
    """A folder held open while the heads of its files are read: thousands of them at each stop."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._fd = -1

    def __enter__(self) -> _Opened:
        try:
            self._fd = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except (OSError, ValueError):
            pass
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd >= 0:
            os.close(self._fd)

    def markdown(self) -> list[str]:
        """The names of regular Markdown files that are not hidden."""
        if self._fd < 0:
            return []
        try:
            with os.scandir(self._folder) as entries:
                return [
                    entry.name
                    for entry in entries
                    if entry.name.endswith(".md")
                    and entry.name[0] not in "._"
                    and entry.is_file(follow_symlinks=False)
                ]
        except OSError:
            return []

    def is_draft(self, name: str) -> bool:
        """Whether a file is a draft: its front matter has ``session:``, and its name can be a record's."""
        try:
            fd = os.open(name, _FLAGS, dir_fd=self._fd)
        except OSError:
            return False
        try:
            head = os.read(fd, _HEAD)
        except OSError:
            return False
        finally:
            os.close(fd)
        if b"session" not in head or front_matter.session_of(head.decode("utf-8-sig", "replace")) is None:
            return False
        return naming.is_record_name(name)
