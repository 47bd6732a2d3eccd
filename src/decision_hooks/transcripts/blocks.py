"""Reading a transcript in blocks: from an offset, whole lines, the bulk of a very large part passed over."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from decision_hooks.text.fingerprint import fingerprint

_BLOCK = 256 * 1024
_LONGEST = 6 * 1024 * 1024  # a longer line is cut: blobs (images) go first, then its middle
_LARGE = 1024 * 1024  # a line over this loses its blobs while it is read
_CHECK = 4096
FIRST_LINE = 256 * 1024  # bytes in which a file's first line is looked for


class Extent(NamedTuple):
    """A regular file as it was when it was opened."""

    path: str  # real path
    size: int  # bytes
    modified: float  # seconds since the epoch


def extent(path: str) -> Extent | None:
    """The size and time of a readable regular file, links resolved; None for anything else."""
    try:
        real = os.path.realpath(path)
        status = os.stat(real)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode) or not os.access(real, os.R_OK):
        return None
    return Extent(real, status.st_size, status.st_mtime)


def check_before(path: str, offset: int) -> str:
    """A hash of the up to 4 KiB before ``offset``; "" when the file is shorter or cannot be read."""
    begin = max(0, offset - _CHECK)
    data = read_range(path, begin, offset)
    return fingerprint(data, 16) if len(data) == offset - begin else ""


def read_range(path: str, begin: int, end: int) -> bytes:
    """The bytes from ``begin`` to ``end``, fewer when the file is shorter."""
    try:
        with open(path, "rb") as stream:
            stream.seek(begin)
            return stream.read(end - begin)
    except OSError:
        return b""


def first_line(path: str) -> bytes:
    """The first line of a file without its newline, as far as it lies in the first 256 KiB."""
    return read_range(path, 0, FIRST_LINE).partition(b"\n")[0]


def lines(path: str, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Lines between two offsets as (offset after the line, line without its newline); the last may lack one.

    Only ``b"\\n"`` ends a line: U+2028 and the like occur inside JSON strings.
    """
    with open(path, "rb", buffering=0) as stream:
        stream.seek(begin)
        offset, rest, gone = begin, b"", 0  # gone: bytes of the rest that were cut out of it
        large = _LARGE
        while offset + gone + len(rest) < end:
            block = stream.read(min(_BLOCK, end - offset - gone - len(rest)))
            if not block:
                break
            *whole, rest = (rest + block).split(b"\n")
            for line in whole:
                offset += gone + len(line) + 1
                gone, large = 0, _LARGE
                yield offset, line
            if len(rest) > large:
                short = shortened(rest)
                gone += len(rest) - len(short)
                rest, large = short, len(short) + _LARGE
        if rest:
            yield offset + gone + len(rest), rest


def shortened(line: bytes) -> bytes:
    """A very long line without its blobs (images, files as base64); one that is still too long without its middle."""
    line = _blob().sub(b"", line)
    if len(line) <= _LONGEST:
        return line
    end = line.rfind(b" ", 0, _LONGEST // 2)  # at blanks, so that no escape is cut in two
    begin = line.find(b" ", len(line) - _LONGEST // 4)
    return (
        line[: end if end > 0 else _LONGEST // 2] + line[begin if begin > 0 else len(line) - _LONGEST // 4 :]
    )


@cache
def _blob() -> re.Pattern[bytes]:
    return re.compile(rb"[A-Za-z0-9+/=_-]{2048,}")


def blocks(path: str, begin: int, end: int, overlap: int) -> Iterator[bytes]:
    """The bytes between two offsets in blocks; each begins with the last ``overlap`` bytes before it."""
    with open(path, "rb", buffering=0) as stream:
        stream.seek(begin)
        left, data = end - begin, b""
        while left > 0:
            block = stream.read(min(4 * _BLOCK, left))
            if not block:
                return
            left -= len(block)
            data = data[max(0, len(data) - overlap) :] + block
            yield data


def line_start(path: str, offset: int, end: int) -> int:
    """The offset of the first line that begins at or after ``offset``, ``end`` when none does before it."""
    if offset <= 0:
        return 0
    at = offset - 1
    while at < end:
        found = read_range(path, at, min(end, at + _BLOCK)).find(b"\n")
        if found >= 0:
            return at + found + 1
        at += _BLOCK
    return end


class Tail(NamedTuple):
    """The complete lines from ``begin`` on; ``end`` is the offset after the last of them."""

    begin: int
    end: int
    lines: tuple[bytes, ...]


def tail(where: Extent, begin: int, window: int, is_record: Callable[[bytes], bool]) -> Tail:
    """The whole lines of at most the last ``window`` bytes after ``begin``.

    A last line without newline counts when it is a record; else it is still being written.
    """
    start = begin
    if where.size - begin > window:
        start = line_start(where.path, where.size - window, where.size)
    whole, end = [], start
    for offset, line in lines(where.path, start, where.size):
        if (
            offset == where.size
            and read_range(where.path, offset - 1, offset) != b"\n"
            and not is_record(line)
        ):
            break
        whole.append(line)
        end = offset
    return Tail(start, end, tuple(whole))


def candidates(
    path: str,
    begin: int,
    end: int,
    needles: Sequence[bytes],
    wanted: Callable[[bytes], bool],
    after: int = 0,
    passed: Callable[[bytearray, int, int], bool] | None = None,
) -> Iterator[tuple[bytes, bytes]]:
    """The wanted lines among those that hold a needle, each with the ``after`` bytes that follow it.

    ``passed`` says of the begin of a line and the place of a needle in it that this one does not count.

    The search runs over blocks, not over lines: the bulk of a very large part costs next to nothing.
    """
    buffer = bytearray(2 * _BLOCK)  # one for all blocks: new memory for each would cost more than the search
    filled, left, large = 0, end - begin, 2 * _LARGE
    with open(path, "rb", buffering=0) as stream:
        stream.seek(begin)
        while left > 0:
            if filled > large:
                short = shortened(bytes(buffer[:filled]))
                filled = len(short)
                buffer[:filled] = short
                large = max(_LARGE, filled) + _LARGE
            if filled == len(buffer):
                buffer.extend(bytes(len(buffer)))
            with memoryview(buffer) as whole, whole[filled : filled + left] as space:
                count = stream.readinto(space) or 0
            left = left - count if count else 0
            filled += count
            limit = filled if not left else buffer.rfind(b"\n", 0, max(0, filled - after)) + 1
            for start, stop in _holding(buffer, limit, filled, needles, passed):
                line = bytes(buffer[start:stop])
                if wanted(line):
                    yield line, bytes(buffer[stop + 1 : min(filled, stop + 1 + after)])
            buffer[: filled - limit] = buffer[limit:filled]
            filled -= limit
            large = 2 * _LARGE if limit else large


def _holding(
    data: bytearray,
    limit: int,
    end: int,
    needles: Sequence[bytes],
    passed: Callable[[bytearray, int, int], bool] | None,
) -> list[tuple[int, int]]:
    """Begin and end of the lines that begin below ``limit`` and hold a needle, in order; data ends at ``end``."""
    ends: dict[int, int] = {}
    for needle in needles:
        at = data.find(needle, 0, limit)
        while at >= 0:
            start = data.rfind(b"\n", 0, at) + 1
            if passed and passed(data, start, at):
                at = data.find(needle, at + len(needle), limit)
                continue
            stop = data.find(b"\n", at, end)
            stop = end if stop < 0 else stop
            ends[start] = stop
            at = data.find(needle, stop + 1, limit)
    return sorted(ends.items())
