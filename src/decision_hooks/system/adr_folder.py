"""The folder of drafts and records, as it stands: heads read only, links and sub-folders passed over."""

from __future__ import annotations

import os
import stat
from hashlib import blake2b
from typing import NamedTuple

from decision_hooks.records import document, naming
from decision_hooks.system import files

_HEAD = 4096


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


def has_at_least(folder: str, drafts: int) -> tuple[bool, int]:
    """Whether at least so many drafts wait, and how many were counted; reads heads, stops early."""
    candidates = [entry.name for entry in _plain_files(folder)]
    if len(candidates) < drafts:
        return False, sum(1 for name in candidates if is_draft(folder, name))
    found = 0
    for name in candidates:
        found += is_draft(folder, name)
        if found >= drafts:
            return True, found
    return False, found


def listing(folder: str) -> Listing:
    """Read the folder once; raises nothing, an absent folder is empty."""
    drafts: list[str] = []
    records: list[str] = []
    for entry in _plain_files(folder):
        (drafts if is_draft(folder, entry.name) else records).append(entry.name)
    drafts.sort(key=naming.order_key)
    return Listing(frozenset(files.names(folder)), tuple(drafts), tuple(sorted(records)))


def is_draft(folder: str, name: str) -> bool:
    """Whether a file is a draft: its front matter has ``session:``."""
    try:
        fd = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        head = os.read(fd, _HEAD)
    except OSError:
        return False
    finally:
        os.close(fd)
    return b"session:" in head and document.session_of(head.decode("utf-8-sig", "replace")) is not None


def read(folder: str, name: str) -> Stored | None:
    """A regular file of the folder, None for anything else: links are never followed."""
    path = os.path.join(folder, name)
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    data = files.read_bytes(path)
    return None if data is None else Stored(data, stat.S_IMODE(found.st_mode))


def digest(data: bytes) -> str:
    """The hash by which a file is told to be unchanged."""
    return blake2b(data, digest_size=20).hexdigest()


def _plain_files(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [
                entry
                for entry in entries
                if entry.name.endswith(".md")
                and naming.is_record_name(entry.name)
                and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []
