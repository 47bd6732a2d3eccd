"""What the edge hands to stories and commands: environ, clock, place, terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple


class World(NamedTuple):
    """The world of one run; real in ``cli``, made up in tests of single functions."""

    program: str  # capture-decisions | normalize-decisions
    script: str  # path of the running console script, "" when unknown
    environ: Mapping[str, str]
    cwd: str
    now: Callable[[], float]  # seconds since the epoch
    out: Callable[[str], None]  # one line to stdout; subcommands only
    err: Callable[[str], None]  # one line to stderr
    ask: Callable[[str], str]  # one question to the person; "" without a terminal
    watched: bool  # a person sees stderr

    @property
    def home(self) -> str:
        """The home folder, "" when there is none."""
        return self.environ.get("HOME", "")
