"""Reading a transcript in blocks: from an offset, whole lines, the bulk of a very large part passed over."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

_BLOCK = 256 * 1024
_LONGEST = 6 * 1024 * 1024  # a longer line (an image, stored twice) is passed over
_CHECK = 4096


class Extent(NamedTuple):
    """A regular file as it stood when it was opened."""

    path: str  # real path
    size: int  # bytes
    modified: float  # seconds since the epoch


def extent(path: str) -> Extent | None:
    """The size and time of a readable regular file, links resolved; None for anything else."""
    try:
        real = os.path.realpath(path)
        found = os.stat(real)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode) or not os.access(real, os.R_OK):
        return None
    return Extent(real, found.st_size, found.st_mtime)


def host_transcripts(host: str, name: str, environ: Mapping[str, str]) -> list[str]:
    """Paths where a host keeps the transcript of that session id; ``*`` as ``name`` finds those of all."""
    home = environ.get("HOME", "")
    if not home:
        return []
    claude = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    codex = environ.get("CODEX_HOME") or os.path.join(home, ".codex")
    pi = environ.get("PI_CODING_AGENT_DIR") or os.path.join(home, ".pi", "agent")
    patterns = {
        "claude": [f"{claude}/projects/*/{name}.jsonl"],
        "cursor": [
            f"{home}/.cursor/projects/*/agent-transcripts/{name}.jsonl",
            f"{home}/.cursor/projects/*/agent-transcripts/{name}/{name}.jsonl",
            f"{home}/.cursor/projects/*/agent-transcripts/{name}.txt",
        ],
        "pi": [f"{pi}/sessions/*/*_{name}.jsonl"],
        "codex": [f"{codex}/sessions/*/*/*/rollout-*{name}.jsonl"],
    }
    from glob import glob

    found: list[str] = []
    for pattern in patterns.get(host, []):
        found.extend(sorted(glob(pattern)))
    return found


def check_before(path: str, offset: int) -> str:
    """A hash of the up to 4 KiB before ``offset``; "" when the file is shorter or cannot be read."""
    from hashlib import blake2b

    begin = max(0, offset - _CHECK)
    data = read_range(path, begin, offset)
    return blake2b(data, digest_size=16).hexdigest() if len(data) == offset - begin else ""


def read_range(path: str, begin: int, end: int) -> bytes:
    """The bytes from ``begin`` to ``end``, fewer when the file is shorter."""
    try:
        with open(path, "rb") as stream:
            stream.seek(begin)
            return stream.read(end - begin)
    except OSError:
        return b""


def lines(path: str, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Lines between two offsets as (offset after the line, line without its newline); the last may lack one.

    Only ``b"\\n"`` ends a line: U+2028 and the like stand inside of JSON strings.
    """
    with open(path, "rb", buffering=0) as stream:
        stream.seek(begin)
        offset, rest, dropping = begin, b"", False
        while offset + len(rest) < end:
            block = stream.read(min(_BLOCK, end - offset - len(rest)))
            if not block:
                break
            *whole, rest = (rest + block).split(b"\n") if not dropping else block.split(b"\n")
            for line in whole:
                offset += len(line) + 1
                if dropping:
                    dropping = False
                    continue
                yield offset, line
            if len(rest) > _LONGEST or dropping:
                offset += len(rest)
                rest, dropping = b"", True
        if rest:
            yield offset + len(rest), rest


class PartReader:
    """The lines of a part that are worth parsing; ``end`` is the offset after the last one that counts.

    A part up to ``window`` bytes is given whole. Of a larger one the last ``window`` bytes are; of what lies
    before them ``always`` lines are given, and of the ``sometimes`` lines the first and the newest.
    """

    def __init__(
        self,
        where: Extent,
        begin: int,
        *,
        is_record: Callable[[bytes], bool],
        always: Callable[[bytes], bool],
        sometimes: Callable[[bytes], bool],
        window: int = 2 * 1024 * 1024,
        most_kept: int = 256 * 1024,
    ) -> None:
        self.end = begin
        self.passed_over = 0  # bytes that were not given
        self._where, self._begin, self._window, self._most_kept = where, begin, window, most_kept
        self._is_record, self._always, self._sometimes = is_record, always, sometimes

    def __iter__(self) -> Iterator[bytes]:
        tail = max(self._begin, self._where.size - self._window)
        if tail > self._begin:
            yield from self._head(tail)
        for offset, line in self._numbered(
            self._begin if tail == self._begin else self.end, self._where.size
        ):
            self.end = offset
            yield line

    def _numbered(self, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
        for offset, line in lines(self._where.path, begin, end):
            if offset == end and not self._ends_with_newline(offset, line) and not self._is_record(line):
                return  # still being written
            yield offset, line

    def _ends_with_newline(self, offset: int, line: bytes) -> bool:
        return read_range(self._where.path, offset - 1, offset) == b"\n"

    def _head(self, tail: int) -> Iterator[bytes]:
        first, newest, kept = 0, deque[bytes](), 0
        for offset, line in lines(self._where.path, self._begin, self._where.size):
            self.end = offset
            if self._always(line):
                yield line
            elif first < self._most_kept and self._sometimes(line):
                first += len(line)
                yield line
            elif self._sometimes(line):
                newest.append(line)
                kept += len(line)
                while kept > self._most_kept and len(newest) > 1:
                    gone = len(newest.popleft())
                    kept -= gone
                    self.passed_over += gone
            else:
                self.passed_over += len(line)
            if offset >= tail:
                break
        yield from newest
