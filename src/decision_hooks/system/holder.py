"""The process that has a lock: since when, whether it hangs, and how to end it."""

from __future__ import annotations

from typing import NamedTuple

from decision_hooks.system import files, locking
from decision_hooks.system.runlog import iso_time


class Holder(NamedTuple):
    """The process that has a lock."""

    pid: int  # 0: unknown
    since: str  # ISO, "" when unknown
    hangs: bool
    stopped: bool  # by a signal, as Ctrl-Z sends it

    def __str__(self) -> str:
        """Since when it runs, its pid, and what to do when it hangs."""
        if not self.pid:
            return "running, by a process that did not write who it is"
        text = f"{'hangs' if self.hangs else 'running'}, since {self.since}, pid {self.pid}"
        return f"{text}; {self.fix}" if self.hangs else text

    @property
    def fix(self) -> str:
        """What to do about a process that hangs, "" about any other."""
        if not self.hangs:
            return ""
        if self.stopped:
            return f"`kill -CONT {self.pid}` lets it go on, `kill -KILL {self.pid}` ends it"
        return f"`kill {self.pid}` ends it (`kill -KILL {self.pid}` if it stays)"


def working(path: str, now: float, timeout: float) -> Holder | None:
    """Who has the lock of a worker whose calls may each take ``timeout`` seconds."""
    return holder(path, now, 2 * timeout + 120)


def holder(path: str, now: float, most: float) -> Holder | None:
    """Who has the lock at ``path``, None when nobody has.

    It hangs when it is stopped, or has given no sign of life for ``most`` seconds.
    """
    found = locking.signature(path)
    if found is None:
        return None
    stopped = _is_stopped(found.pid)
    since = iso_time(now - found.age) if found.pid else ""
    return Holder(found.pid, since, stopped or found.quiet > most, stopped)


def _is_stopped(pid: int) -> bool:
    """Whether a process is stopped, where the system has a file that says so (Linux)."""
    after_name = (files.read_text(f"/proc/{pid}/stat", 4096) or "").rpartition(")")[2] if pid else ""
    return after_name.split()[:1] in (["T"], ["t"])
