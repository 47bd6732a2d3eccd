"""The installed console scripts, run as processes the way a host runs them."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

SCRIPTS = Path(sys.executable).parent

Payload = Mapping[str, Any] | str | bytes | None


class Finished(NamedTuple):
    """A program that has ended."""

    rc: int  # negative: ended by that signal
    stdout: str
    stderr: str
    log: str  # what its log grew by, workers included when the run waited for them
    seconds: float

    @property
    def messages(self) -> list[str]:
        """The log's new lines without their time stamps."""
        return [line.split(" ", 1)[-1] for line in self.log.splitlines()]

    @property
    def was_killed(self) -> bool:
        """Whether SIGKILL ended it."""
        return self.rc in (-signal.SIGKILL, 128 + signal.SIGKILL)


def script(name: str) -> str:
    """The path of an installed console script; that it is missing fails with what to do."""
    path = SCRIPTS / name
    assert path.exists(), (
        f"{name} is not beside {sys.executable}: install the package first (pip install -e .)"
    )
    return str(path)


def stdin_bytes(payload: Payload) -> bytes:
    """A payload as the bytes a host writes: an object as JSON, text as UTF-8, bytes as they are."""
    if isinstance(payload, bytes):
        return payload
    if isinstance(payload, str):
        return payload.encode("utf-8", "surrogatepass")
    return b"" if payload is None else json.dumps(payload).encode()


def start(command: Sequence[str], *, environ: Mapping[str, str], cwd: Path) -> subprocess.Popen[bytes]:
    """Start a program in a process group of its own, all three streams as pipes."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        list(command),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=dict(environ),
        cwd=cwd,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[bytes], payload: Payload, seconds: float) -> tuple[int, str, str, float]:
    """Give the payload, close stdin and wait; an overrun kills the process group and fails."""
    begun = time.monotonic()
    try:
        out, err = process.communicate(stdin_bytes(payload), timeout=seconds)
    except subprocess.TimeoutExpired:
        end_group(process)
        out, err = process.communicate()
        raise AssertionError(
            f"{process.args!r} did not end in {seconds} s\nstdout: {out!r}\nstderr: {err!r}"
        ) from None
    took = time.monotonic() - begun
    return process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), took


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the process group of a program that was started here."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def on_terminal(
    command: Sequence[str], *, environ: Mapping[str, str], cwd: Path, typed: str = "", seconds: float = 30.0
) -> tuple[int, str, str]:
    """Run a program as a person does: all three streams are terminals; exit code, stdout, stderr."""
    stdin, stdin_end = pty.openpty()
    stdout, stdout_end = pty.openpty()
    stderr, stderr_end = pty.openpty()
    process = subprocess.Popen(
        list(command), stdin=stdin_end, stdout=stdout_end, stderr=stderr_end,
        env=dict(environ), cwd=cwd, start_new_session=True,
    )  # fmt: skip
    for end in (stdin_end, stdout_end, stderr_end):
        os.close(end)
    if typed:
        os.write(stdin, typed.encode())
    try:
        shown = _read_until_closed({stdout: bytearray(), stderr: bytearray()}, time.monotonic() + seconds)
        rc = process.wait(timeout=seconds)
    except (TimeoutError, subprocess.TimeoutExpired):
        end_group(process)
        process.wait()
        raise AssertionError(f"{command!r} did not end on a terminal in {seconds} s") from None
    finally:
        for end in (stdin, stdout, stderr):
            os.close(end)
    out, err = (shown[end].decode("utf-8", "replace").replace("\r\n", "\n") for end in (stdout, stderr))
    return rc, out, err


def _read_until_closed(streams: dict[int, bytearray], end: float) -> dict[int, bytearray]:
    import select

    open_ends = set(streams)
    while open_ends:
        if time.monotonic() > end:
            raise TimeoutError
        for ready in select.select(list(open_ends), [], [], 0.2)[0]:
            try:
                data = os.read(ready, 65536)
            except OSError:  # Linux: the other end of the terminal is closed
                data = b""
            streams[ready] += data
            if not data:
                open_ends.discard(ready)
    return streams
