"""The payload on stdin, read without ever waiting for long."""

from __future__ import annotations

import os
import sys

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
        return _read(fd)
    except (OSError, ValueError):
        return b""


def _read(fd: int) -> bytes:
    import select
    from time import monotonic

    data, quiet, until = b"", 0.0, monotonic() + _MOST
    while len(data) < _MOST_BYTES and monotonic() < until:
        if select.select([fd], [], [], _STEP)[0]:
            block = os.read(fd, 1 << 16)
            if not block:
                break
            data, quiet = data + block, 0.0
            continue
        quiet += _STEP
        if quiet >= _QUIET or (data.rstrip().endswith(b"}") and read_payload(data)):
            break
    return data
