"""Processes that a test has started, however far they detached: found by a mark in their environment."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

MARK = "TEST_SANDBOX"
_PROC = Path("/proc/self/environ")
_EMPTY: set[int] = set()  # processes known to have no environment


def marked(mark: str) -> list[int]:
    """Ids of the living processes (zombies left out) whose environment holds the mark; never our own."""
    found = _marked_proc(mark) if _PROC.exists() else _marked_ps(mark)
    return sorted(pid for pid in found if pid != os.getpid())


def wait_until_none(mark: str, seconds: float = 20.0) -> list[int]:
    """Wait until no marked process is left; those still there after ``seconds`` are returned."""
    end = time.monotonic() + seconds
    quiet = 0
    while True:
        left = marked(mark)
        # A process that ends while it is looked at may just have left a child: one look is not enough.
        quiet = 0 if left else quiet + 1
        if quiet == 3:
            return []
        if left and time.monotonic() > end:
            return left
        time.sleep(0.01 if left else 0.001)


def end_all(mark: str) -> list[int]:
    """Kill every marked process by its id; the ids that had to be killed are returned."""
    killed: list[int] = []
    for _ in range(50):
        left = wait_until_none(mark, 0.0)
        if not left:
            break
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed.append(pid)
        time.sleep(0.02)
    return killed


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return shown.stdout.strip() != "" and not shown.stdout.strip().startswith("Z")


def wait_until_gone(pid: int, seconds: float = 5.0) -> bool:
    """Wait until a process is gone; False when it still runs after ``seconds``."""
    end = time.monotonic() + seconds
    while is_alive(pid):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def describe(pids: list[int]) -> str:
    """The command lines of processes, for the text of a failure."""
    numbers = ",".join(map(str, pids))
    shown = subprocess.run(
        ["ps", "-o", "pid=,args=", "-p", numbers], capture_output=True, text=True, check=False
    )
    return shown.stdout


def _marked_proc(mark: str) -> list[int]:
    wanted = f"{MARK}={mark}".encode()
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and wanted in _environ(name)]


def _environ(pid: str) -> list[bytes]:
    """The environment of a process; one in the middle of exec shows it a moment later."""
    for _ in range(10):
        try:
            environ = _read(f"/proc/{pid}/environ")
            if environ or int(pid) in _EMPTY:
                return environ.split(b"\0")
            os.readlink(f"/proc/{pid}/exe")  # fails for a zombie and a thread of the kernel
        except OSError:
            return []
        time.sleep(0.002)
    _EMPTY.add(int(pid))  # started without any environment
    return []


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, 1 << 20)
    finally:
        os.close(fd)


def _marked_ps(mark: str) -> list[int]:
    shown = subprocess.run(
        ["ps", "-Axww", "-E", "-o", "pid=,command="], capture_output=True, text=True, check=False
    )
    wanted = f"{MARK}={mark}"
    lines = (line.split(None, 1) for line in shown.stdout.splitlines() if line.strip())
    return [int(pid) for pid, *rest in lines if rest and wanted in rest[0]]
