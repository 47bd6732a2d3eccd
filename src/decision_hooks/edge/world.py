"""The real world of one run: environment, clock, terminal, signals."""

from __future__ import annotations

import os
import sys

from decision_hooks.system.world import World
from decision_hooks.text.controls import visible


def real_world(program: str) -> World:
    """The world as it is now, for a program."""
    import time

    def out(line: str) -> None:
        sys.stdout.write(visible(line) + "\n")

    def err(line: str) -> None:
        try:
            sys.stderr.write(visible(line) + "\n")
            sys.stderr.flush()
        except (OSError, ValueError):  # nobody reads it any more
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

    return World(
        program=program,
        script=os.path.abspath(sys.argv[0]) if sys.argv[0] else "",
        environ=dict(os.environ),
        cwd=cwd(),
        now=time.time,
        sleep=time.sleep,
        out=out,
        err=err,
        watched=sys.stderr is not None and sys.stderr.isatty(),
    )


def cwd() -> str:
    """The working directory, "" when it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def end_on_signals() -> None:
    """SIGTERM and SIGHUP end the run in order: backends are ended, nothing is left half done."""
    import signal

    numbers = (signal.SIGTERM, signal.SIGHUP)

    def leave(number: int, frame: object) -> None:
        for one in numbers:  # a second one must not break into the ending
            signal.signal(one, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for number in numbers:
        signal.signal(number, leave)
