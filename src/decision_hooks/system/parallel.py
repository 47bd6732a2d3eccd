"""Work in threads beside each other, and how much of a time limit is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

_MOST_THREADS = 16

T = TypeVar("T")
R = TypeVar("R")


class Countdown:
    """Counts from its making on how many of its seconds are left, whatever the clock on the wall does."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._until = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, negative when the time is over."""
        return self._until - time.monotonic()

    def spent(self) -> float:
        """Seconds since it was made."""
        return self.seconds - self.left()


class Stop:
    """A word to all threads that they shall end; given once, kept for good."""

    def __init__(self) -> None:
        self._given = False

    def give(self) -> None:
        """Tell them."""
        self._given = True

    def given(self) -> bool:
        """Whether it was told."""
        return self._given


def in_parallel(work: Callable[[T], R], items: Sequence[T], jobs: int, stop: Stop) -> list[R]:
    """The results of ``work`` on each item, in their order, at most ``jobs`` at once.

    When the main thread is ended (``SystemExit``, ``KeyboardInterrupt``), or a piece of work raises, ``stop`` is
    given, what runs is waited for, what has not begun never does, and the exception goes on.
    """
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(max_workers=max(1, min(jobs, len(items), _MOST_THREADS)))
    try:
        return list(pool.map(work, items))
    except BaseException:
        stop.give()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
