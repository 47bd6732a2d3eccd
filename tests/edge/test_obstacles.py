"""A pipe, a folder, a link, a socket or a device in the place of any file hangs nothing and is no fault."""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support import programs
from support.capture_runs import decision, ready, session
from support.inbox import NOW, all_three, fill
from support.sandbox import CAPTURE, NORMALIZE, Sandbox

STATE = ".claude/hooks/.decision-hooks"
RUN = "20260101T000000Z"
DEEP = (
    f"ledger/{time.strftime('%Y-%m')}.jsonl",
    *(f"seen/{shard:x}" for shard in range(16)),
    "positions/a.json",
    "pending/a.json",
    "outbox/a.json",
    "given-up/a-0.json",
    "breaker/a.json",
    f"plans/{RUN}.json",
    f"runs/{RUN}/journal.json",
    f"runs/{RUN}/before/0",
    "runs/20260102T000000Z",
    "backups/a",
)
TOP = (
    ".gitignore", "worker.lock", "pending.lock", "log.lock", "swept", "normalize.json", "records.index", "bin",
    "install.json",
)  # fmt: skip
FOLDERS = (
    "ledger",
    "seen",
    "positions",
    "pending",
    "outbox",
    "given-up",
    "breaker",
    "plans",
    "runs",
    "backups",
)
HOOKS = tuple(
    f".claude/hooks/{name}"
    for name in ("capture-decisions.log", "normalize-decisions.log", ".normalize-state", ".normalize.lock")
)
OTHERS = (
    ".claude/settings.json", ".claude/settings.local.json", ".cursor/hooks.json", ".codex/hooks.json", ".gitignore",
    "docs/adr/260304-0509-odd.md", "docs/adr/odd.md", "docs/adr/.decision-hooks-capture-1-ab.tmp",
)  # fmt: skip
GIT = (".git/index", ".git/HEAD", ".git/MERGE_HEAD", ".git/commondir", ".git/worktrees/x/gitdir")


def as_pipe(path: Path) -> None:
    os.mkfifo(path)


def as_folder(path: Path) -> None:
    path.mkdir()
    (path / "inside").write_text("kept")


def as_link_to_a_pipe(path: Path) -> None:
    target = path.parent / f".pipe-{path.name}"
    os.mkfifo(target)
    path.symlink_to(target)


def as_link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def as_socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # a path of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


KINDS = (as_pipe, as_folder, as_link_to_a_pipe, as_link_to_a_device, as_socket)
REFUSED_AS_A_WHOLE = (
    as_pipe,
    as_folder,
)  # what else refuses the whole folder: tests/system/test_state_folder.py
CASES = [
    *((tuple(f"{STATE}/{name}" for name in DEEP) + OTHERS, make) for make in KINDS),
    *((HOOKS, make) for make in KINDS),
    *((GIT, make) for make in KINDS[:3]),
    *((tuple(f"{STATE}/{name}" for name in TOP), make) for make in REFUSED_AS_A_WHOLE),
    *((tuple(f"{STATE}/{name}" for name in FOLDERS), make) for make in REFUSED_AS_A_WHOLE),
    ((f"{STATE}/.sealed",), as_folder),
]
COMMANDS = (
    (CAPTURE,), (NORMALIZE,), (CAPTURE, "status", "--json"), (CAPTURE, "doctor"), (NORMALIZE, "undo", "--list"),
    (NORMALIZE, "plan"), (CAPTURE, "doctor", "--fix"),
)  # fmt: skip


def put(root: Path, name: str, make: Callable[[Path], None]) -> None:
    """Put an obstacle in the place of a file or folder."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()
    make(path)


@pytest.mark.parametrize(("names", "make"), CASES)
def test_nothing_hangs_and_nothing_is_a_fault(
    sandbox: Sandbox, names: tuple[str, ...], make: Callable[[Path], None]
) -> None:
    ready(sandbox).always(decision())
    sandbox.fake("claude").always(all_three())
    fill(sandbox)
    sandbox.open_state()
    for name in names:
        put(sandbox.root, name, make)
    payload = session(sandbox).payload()
    for command in COMMANDS:
        process = programs.start(
            [programs.script(command[0]), *command[1:]],
            environ=sandbox.environment({**NOW, "CAPTURE_DECISIONS_TIMEOUT_SECONDS": "5"}),
            cwd=sandbox.root,
        )
        rc, _, err, _ = programs.finish(process, payload if len(command) == 1 else None, 20)
        assert "Traceback" not in err, (command, err)
        assert rc in ((0,) if len(command) == 1 else (0, 1, 2)), (command, err)
    sandbox.settle(10)
    for program in (CAPTURE, NORMALIZE):
        log = sandbox.hooks / f"{program}.log"
        if log.is_file() and not log.is_symlink():
            assert "fault" not in log.read_text()
    for kept in sandbox.root.rglob("inside"):
        assert kept.read_text() == "kept"
