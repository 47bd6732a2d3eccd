"""Kills at a chosen system call, by strace: what a power cut or an impatient host does, but exactly there."""

from __future__ import annotations

from collections.abc import Sequence

from support.guard import STRACE

# A call has several names over machines (rename, renameat, renameat2); strace takes a regex.
CALLS = {
    "fsync": "/^f(data)?sync$",
    "link": "/^link(at)?$",
    "mkdir": "/^mkdir(at)?$",
    "open": "/^open(at|at2)?$",
    "rename": "/^rename(at|at2)?$",
    "unlink": "/^unlink(at)?$",
    "write": "/^write$",
}


def killed_at(call: str, number: int, command: Sequence[str], *, follow: bool = False) -> list[str]:
    """The command that runs ``command`` and kills it in place of its ``number``-th ``call`` (1 is the first).

    The chosen call itself is not made. A program with fewer calls comes to its own end. With ``follow`` every
    child is traced too, each with a count of its own, so whichever comes to that number is killed: use it for
    ``--detach``, where the work is done in a child.
    """
    assert STRACE, "strace is needed for the kill tests: install it (apt-get install strace)"
    names = CALLS[call]
    return [
        STRACE, "-qq", "-o", "/dev/null", *(["-f"] if follow else []),
        "-e", f"trace={names}", "-e", f"inject={names}:signal=KILL:when={number}", *command,
    ]  # fmt: skip
