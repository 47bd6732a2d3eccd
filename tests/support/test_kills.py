"""Kills come at the chosen system call. Files with "kills" in their name are collected on Linux only."""

from __future__ import annotations

import os
import sys

import pytest

from support import guard, kills, programs
from support.sandbox import Sandbox

CODE = "import os\nfor n in range(3):\n open('new', 'w').write(str(n))\n os.replace('new', f'file{n}')\n"


def killed(sandbox: Sandbox, number: int, call: str = "rename") -> tuple[int, list[str]]:
    command = kills.killed_at(call, number, [sys.executable, "-S", "-c", CODE])
    process = programs.start(command, environ=sandbox.environment(), cwd=sandbox.root)
    rc = programs.finish(process, None, 20)[0]
    return rc, sorted(name for name in os.listdir(sandbox.root) if name.startswith(("file", "new")))


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_kill_comes_in_place_of_the_chosen_call(sandbox: Sandbox, number: int) -> None:
    rc, names = killed(sandbox, number)
    assert rc == -9
    assert names == [f"file{n}" for n in range(number - 1)] + ["new"]


def test_beyond_the_last_call_the_program_comes_to_its_end(sandbox: Sandbox) -> None:
    assert killed(sandbox, 4) == (0, ["file0", "file1", "file2"])


@pytest.mark.parametrize("call", sorted(kills.CALLS))
def test_every_named_call_is_known_to_strace(sandbox: Sandbox, call: str) -> None:
    assert killed(sandbox, 60_000, call)[0] == 0


def test_children_are_killed_too_when_followed(sandbox: Sandbox) -> None:
    run = f"subprocess.run([sys.executable, '-S', '-c', {CODE!r}])"
    code = f"import subprocess, sys; sys.exit({run}.returncode == -9)"
    command = kills.killed_at("rename", 2, [sys.executable, "-S", "-c", code], follow=True)
    process = programs.start(command, environ=sandbox.environment(), cwd=sandbox.root)
    assert programs.finish(process, None, 20)[0] == 1
    assert (sandbox.root / "file0").exists()
    assert not (sandbox.root / "file1").exists()


def test_strace_is_there_where_the_kills_need_it() -> None:
    assert guard.STRACE, "install strace"
