"""The payload on stdin, read without ever waiting for long."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from decision_hooks.hosts.event import read_payload

_QUIET = 5.0  # seconds without a byte
_MOST = 30.0  # seconds for all of it
_STEP = 0.5  # poll interval, seconds; a complete JSON object ends the wait although the pipe stays open
_MOST_BYTES = 16 * 1024 * 1024


def read() -> bytes:
    """The bytes on stdin: b"" from a terminal, a closed stdin, or a pipe that gives nothing for 5 s."""
    try:
        fd = sys.stdin.fileno() if sys.stdin else -1
        if fd < 0 or os.isatty(fd):
            return b""
        import select
        from time import monotonic

        return read_pipe(
            lambda seconds: bool(select.select([fd], [], [], seconds)[0]),
            lambda: os.read(fd, 1 << 16),
            monotonic,
        )
    except (OSError, ValueError):
        return b""


def read_pipe(wait: Callable[[float], bool], take: Callable[[], bytes], now: Callable[[], float]) -> bytes:
    """The bytes that ``take`` gives; ``wait`` waits so many seconds for the next ones and says whether they came."""
    data, quiet, until = b"", 0.0, now() + _MOST
    while len(data) < _MOST_BYTES and now() < until:
        if wait(_STEP):
            block = take()
            if not block:
                break
            data, quiet = data + block, 0.0
            continue
        quiet += _STEP
        if quiet >= _QUIET or (data.rstrip().endswith(b"}") and read_payload(data)):
            break
    return data
