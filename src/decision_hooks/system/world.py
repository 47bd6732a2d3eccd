"""What the edge hands to stories and commands: environment, clock, terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple


class World(NamedTuple):
    """The outside world of one run: built in ``edge``, faked in unit tests."""

    program: str  # capture-decisions | normalize-decisions
    script: str  # path of the running console script, "" when unknown
    environ: Mapping[str, str]
    cwd: str
    now: Callable[[], float]  # seconds since the epoch
    sleep: Callable[[float], None]  # seconds
    out: Callable[[str], None]  # one line to stdout; subcommands only
    err: Callable[[str], None]  # one line to stderr
    watched: bool  # a person sees stderr
    monotonic: Callable[[], float] = time.monotonic  # seconds; nobody can set this clock

    @property
    def home(self) -> str:
        """The home folder, "" when there is none."""
        return self.environ.get("HOME", "")
