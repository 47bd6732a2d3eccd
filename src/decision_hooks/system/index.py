"""Whether git tracks a path, read from its index file: a hook asks at each stop, and must not start git for it."""

from __future__ import annotations

import os

from decision_hooks.system import files

_LARGEST = 1024 * 1024 * 1024  # bytes
_EXTENDED = 0x4000  # of an entry's flags: two more bytes follow
_LENGTH = 0xFFF  # of an entry's flags: the length of its name, as far as it fits
_HEAD = 12  # bytes before the first entry
_STAT = 40  # bytes of an entry before its hash


def index_file(git_dir: str) -> str:
    """The path of the index in a git directory."""
    return os.path.join(git_dir, "index")


def tracks(git_dir: str, name: str) -> bool:
    """Whether the index has the path or anything below it; ``name`` is relative to the work tree."""
    data = files.read_bytes(index_file(git_dir), _LARGEST) or b""
    return index_has(data, os.fsencode(name))


def may_share(git_dir: str, name: str) -> bool:
    """Whether a file that a split index builds on has the path: git must be asked whether it still counts."""
    shared = [other for other in files.names(git_dir) if other.startswith("sharedindex.")]
    return any(
        index_has(files.read_bytes(os.path.join(git_dir, other), _LARGEST) or b"", os.fsencode(name))
        for other in shared
    )


def index_has(data: bytes, name: bytes) -> bool:
    """Whether an index (version 2, 3 or 4) has an entry of that name or below it; False for anything else."""
    if data[:4] != b"DIRC":
        return False
    version = int.from_bytes(data[4:8], "big")
    if version == 4:
        return _has_in_4(data, name)
    return version in (2, 3) and _has_in_2(data, name)


def _has_in_2(data: bytes, name: bytes) -> bool:
    """Versions 2 and 3 have whole names, and the length of each in the flags before it: a hit is certain."""
    at = data.find(name, _HEAD)
    while at != -1:
        flags = int.from_bytes(data[at - 2 : at], "big")
        before = int.from_bytes(data[at - 4 : at - 2], "big")
        plain = not flags & _EXTENDED and _is_long(data, at, flags)
        if data[at + len(name) : at + len(name) + 1] in (b"\0", b"/") and (
            plain or (before & _EXTENDED and _is_long(data, at, before))
        ):
            return True
        at = data.find(name, at + 1)
    return False


def _is_long(data: bytes, at: int, flags: int) -> bool:
    """Whether the name there is as long as the flags say."""
    length = flags & _LENGTH
    ends = length == _LENGTH or data[at + length : at + length + 1] == b"\0"
    return ends and data.find(b"\0", at, at + length) == -1


def _has_in_4(data: bytes, name: bytes) -> bool:
    """Version 4 stores of a name what differs from the one before it; the names are sorted."""
    hash_size = 20 if _length_fits(data, 20) else 32
    at, path = _HEAD, b""
    for _ in range(int.from_bytes(data[8:12], "big")):
        at += _STAT + hash_size
        at += 4 if int.from_bytes(data[at : at + 2], "big") & _EXTENDED else 2
        cut, at = _number(data, at)
        end = data.find(b"\0", at)
        if end == -1 or cut > len(path):
            return False  # damaged: git cannot read it either
        path = path[: len(path) - cut] + data[at:end]
        at = end + 1
        if path == name or path.startswith(name + b"/"):
            return True
        if path > name + b"0":  # the byte after "/"
            return False
    return False


def _length_fits(data: bytes, hash_size: int) -> bool:
    """Whether the first entry is sound for hashes of that size."""
    at = _HEAD + _STAT + hash_size
    flags = int.from_bytes(data[at : at + 2], "big")
    cut, begin = _number(data, at + (4 if flags & _EXTENDED else 2))
    return cut == 0 and flags & _LENGTH == min(data.find(b"\0", begin) - begin, _LENGTH)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and the position after it (as in pack files: each byte adds one)."""
    value = -1
    while at < len(data):
        byte = data[at]
        value = (value + 1) << 7 | byte & 0x7F
        at += 1
        if byte < 0x80:
            break
    return max(value, 0), at
