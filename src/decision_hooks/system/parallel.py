"""Work in threads, and the time that is left of a limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

_MOST_THREADS = 16

T = TypeVar("T")
R = TypeVar("R")


class Countdown:
    """A time limit in seconds that starts now; changes of the system's clock do not move it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._until = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, negative after the limit."""
        return self._until - time.monotonic()

    def spent(self) -> float:
        """Seconds since the start."""
        return self.seconds - self.left()


class Threads:
    """Runs work in threads, at most ``jobs`` at once; once ``stopped`` is set, the work should end early."""

    def __init__(self, jobs: int) -> None:
        from threading import Event

        self.stopped = Event()
        self._jobs = min(jobs, _MOST_THREADS)

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """The results of ``work`` on each item, in their order.

        When the main thread is ended (``SystemExit``, ``KeyboardInterrupt``) or ``work`` raises, ``stopped`` is set,
        work that runs is waited for, the rest never begins, and the exception goes on.
        """
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(max_workers=max(1, min(self._jobs, len(items))))
        try:
            return list(pool.map(work, items))
        except BaseException:
            self.stopped.set()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
