"""System calls that fail, by strace: a full disk, a broken one; and a root that heeds the modes of files."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from support.guard import STRACE
from support.kills import CALLS


def failing_from(call: str, number: int, error: str, command: Sequence[str]) -> list[str]:
    """The command that runs ``command`` and lets its ``number``-th ``call`` and all after it fail with ``error``."""
    assert STRACE, "strace is needed for the tests of faults: install it (apt-get install strace)"
    names = CALLS[call]
    return [
        STRACE, "-qq", "-o", "/dev/null",
        "-e", f"trace={names}", "-e", f"inject={names}:error={error}:when={number}+", *command,
    ]  # fmt: skip


def heeding_modes(command: Sequence[str]) -> list[str]:
    """The command that runs ``command`` so that the modes of files hold for it, though root should run it."""
    if os.geteuid() or sys.platform != "linux":
        return list(command)
    dropped = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={dropped}", f"--inh-caps={dropped}", *command]
