"""The log of a program: one event a line, opened for each line, halved at 1 MiB."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from decision_hooks.errors import FolderError
from decision_hooks.system import files, locking, project

_LIMIT = 1024 * 1024


def iso_time(seconds: float) -> str:
    """A time as ISO 8601 with the local zone, to the second."""
    try:
        local = time.localtime(seconds)
    except (OverflowError, ValueError, OSError):
        local = time.localtime(0)
    offset = (local.tm_gmtoff or 0) // 60
    sign = "-" if offset < 0 else "+"
    zone = f"{sign}{abs(offset) // 60:02d}:{abs(offset) % 60:02d}"
    return time.strftime("%Y-%m-%dT%H:%M:%S", local) + zone


def one_line(text: str) -> str:
    """The text on one line: newlines and other control characters escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def log_of(root: str, program: str, now: Callable[[], float]) -> RunLog:
    """The log of a program in the project at ``root``."""
    lock = os.path.join(project.state_folder(root), "log.lock")
    return RunLog(os.path.join(root, ".claude", "hooks", f"{program}.log"), now, lock)


class RunLog:
    """Appends events to one log file; errors while writing are ignored."""

    def __init__(self, path: str, now: Callable[[], float], lock: str = "") -> None:
        self.path = path
        self.last = ""  # the newest event, for the terminal
        self._now = now
        self._lock = lock

    def write(self, event: str, lines: str = "") -> None:
        """Append one event, and unchanged below it ``lines`` (a traceback)."""
        self.last = one_line(event)
        text = f"{iso_time(self._now())} {self.last}\n"
        if lines:
            text += lines.rstrip("\n") + "\n"
        folder = os.path.dirname(self.path)
        if not (files.is_free_or_folder(os.path.dirname(folder)) and files.is_free_or_folder(folder)):
            return  # a link would lead out of the project
        try:
            files.make_folder(folder)
            self._halve()
            files.append(self.path, files.to_bytes(text), mode=0o644)
        except FolderError:
            pass

    def fault(self, error: Exception) -> str:
        """Append an error that nobody expected, with its traceback; returns its type and place."""
        import traceback

        self.write(f"fault: {type(error).__name__}: {error}", "".join(traceback.format_exception(error)))
        frames = traceback.extract_tb(error.__traceback__)
        where = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
        return f"{type(error).__name__} {where}"

    def skip(self, reason: str, text: str) -> None:
        """Append why a run did nothing; ``status`` counts the skips by their reasons."""
        self.write(f"{text} [{reason}]")
        self.last = one_line(text)

    def _halve(self) -> None:
        if files.size_of(self.path) < _LIMIT:
            return
        lock = self._acquire()
        if lock is None:
            return
        try:
            data = files.read_bytes(self.path) or b""
            if len(data) < _LIMIT:
                return
            half = data[len(data) // 2 :]
            files.write_atomic(self.path, half[half.find(b"\n") + 1 :], mode=files.mode_of(self.path))
        except FolderError:  # no room: the log keeps growing
            pass
        finally:
            locking.release(lock)

    def _acquire(self) -> locking.Lock | None:
        """The lock for writing the whole log; None while another run has it, or where no folder of ours is."""
        mark = os.path.join(os.path.dirname(self._lock), project.SEAL)
        try:
            return locking.acquire(self._lock) if self._lock and os.path.lexists(mark) else None
        except FolderError:
            return None
