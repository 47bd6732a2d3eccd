"""Processes that a test has started, however far they detached: found by a mark in their environment."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

MARK = "TEST_SANDBOX"
_PROC = Path("/proc/self/environ")


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
        # A process in the middle of exec shows an empty environment: one look is not enough.
        quiet = 0 if left else quiet + 1
        if quiet == 3:
            return []
        if left and time.monotonic() > end:
            return left
        time.sleep(0.02)


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
    found = []
    for folder in os.listdir("/proc"):
        if not folder.isdigit():
            continue
        try:
            environ = Path("/proc", folder, "environ").read_bytes()
        except OSError:
            continue
        if wanted in environ.split(b"\0"):
            found.append(int(folder))
    return found


def _marked_ps(mark: str) -> list[int]:
    shown = subprocess.run(
        ["ps", "-Axww", "-E", "-o", "pid=,command="], capture_output=True, text=True, check=False
    )
    wanted = f"{MARK}={mark}"
    lines = (line.split(None, 1) for line in shown.stdout.splitlines() if line.strip())
    return [int(pid) for pid, *rest in lines if rest and wanted in rest[0]]
