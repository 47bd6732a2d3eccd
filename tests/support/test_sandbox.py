"""The isolated world is isolated, and what runs in it is found again."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import adr_texts, guard, processes, programs
from support.sandbox import CAPTURE, Sandbox

REAL_HOME = Path("~").expanduser()  # read when the tests are collected, before the guard


def python(sandbox: Sandbox, code: str) -> subprocess.Popen[bytes]:
    return programs.start([sys.executable, "-c", code], environ=sandbox.environment(), cwd=sandbox.root)


def test_the_home_of_the_run_is_not_the_real_one() -> None:
    assert Path("~").expanduser() != REAL_HOME
    assert os.environ["HOME"] != str(REAL_HOME)


def test_no_agent_is_on_the_search_path_by_accident(sandbox: Sandbox) -> None:
    assert os.environ["PATH"] == guard.SAFE_PATH
    assert sandbox.environment()["PATH"] == f"{sandbox.bin}:{guard.SAFE_PATH}"


@pytest.mark.parametrize(
    "name", ["CLAUDE_PROJECT_DIR", "CURSOR_VERSION", "ADR_DIR", "N_LOCAL_MIN_MODEL", "GIT_DIR"]
)
def test_variables_of_the_person_do_not_reach_a_test(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(name, "leaked")
    with pytest.MonkeyPatch.context() as patch:
        guard.enclose(patch, tmp_path)
        assert name not in os.environ
    assert guard.is_foreign(name)


def test_a_run_gets_only_the_variables_of_its_world(sandbox: Sandbox) -> None:
    rc, out, _, _ = programs.finish(python(sandbox, "import os; print(sorted(os.environ))"), None, 10)
    assert rc == 0
    strange = set(eval(out)) - set(sandbox.environ) - {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"}
    assert strange == set()


def test_variables_can_be_added_and_taken_away_for_one_run(sandbox: Sandbox) -> None:
    environ = sandbox.environment({"ADR_DIR": "x", "HOME": None})
    assert environ["ADR_DIR"] == "x"
    assert "HOME" not in environ
    assert "HOME" in sandbox.environ


def test_no_test_can_connect_beyond_this_machine() -> None:
    with socket.socket() as outside, pytest.raises(guard.NetworkRefused):
        outside.connect(("192.0.2.1", 443))
    with socket.socket() as outside, pytest.raises(guard.NetworkRefused):
        outside.connect_ex(("example.invalid", 443))


def test_loopback_stays_open() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        client.sendall(b"x")
        assert server.accept()[0].recv(1) == b"x"


@given(st.text())
def test_the_guards_allow_hypothesis(text: str) -> None:
    assert isinstance(text, str)
    assert Path("~").expanduser() != REAL_HOME


def test_the_project_is_a_git_repository_with_one_commit(sandbox: Sandbox) -> None:
    assert sandbox.git("rev-list", "--count", "HEAD") == "1\n"
    assert sandbox.git("status", "--porcelain") == ""
    assert Path(sandbox.git("rev-parse", "--show-toplevel").strip()) == sandbox.root


def test_names_with_spaces_and_foreign_letters_are_possible(make_sandbox: Callable[..., Sandbox]) -> None:
    sandbox = make_sandbox(project="мій проєкт 'x'")
    fake = sandbox.fake("pi", path=sandbox.root / "node_modules" / ".bin" / "pi").answers("так")
    process = programs.start([str(fake.path)], environ=sandbox.environment(), cwd=sandbox.root)
    assert programs.finish(process, None, 10)[:2] == (0, "так")
    assert fake.only_call.cwd == str(sandbox.root)


def test_a_work_tree_has_its_own_branch_and_a_git_file(sandbox: Sandbox) -> None:
    tree = sandbox.worktree("side")
    assert (tree / ".git").is_file()
    assert sandbox.git("branch", "--show-current", cwd=tree) == "side\n"


def test_a_snapshot_is_every_file_but_git_and_state(sandbox: Sandbox) -> None:
    sandbox.write("docs/adr/a.md", "a")
    sandbox.write(".claude/hooks/x.log", "x")
    (sandbox.root / "link").symlink_to("README.md")
    assert sandbox.snapshot() == {"README.md": b"# Project\n", "docs/adr/a.md": b"a", "link": b"README.md"}


def test_drafts_and_records_are_told_apart(sandbox: Sandbox) -> None:
    sandbox.write("docs/adr/260304-0506-a.md", adr_texts.draft("A"))
    sandbox.write("docs/adr/260304-0506-b.md", adr_texts.record("B"))
    assert list(sandbox.drafts()) == ["260304-0506-a.md"]
    assert list(sandbox.records()) == ["260304-0506-b.md"]


def test_what_detached_is_waited_for(sandbox: Sandbox) -> None:
    code = (
        "import subprocess, sys\n"
        "late = \"import time; time.sleep(0.5); open('done', 'w').write('x')\"\n"
        "subprocess.Popen([sys.executable, '-c', late],"
        " stdin=-3, stdout=-3, stderr=-3, start_new_session=True)\n"
    )
    assert programs.finish(python(sandbox, code), None, 10)[0] == 0
    assert not (sandbox.root / "done").exists()
    sandbox.settle(10)
    assert (sandbox.root / "done").exists()


def test_what_never_ends_fails_and_is_ended_by_its_id(sandbox: Sandbox) -> None:
    process = python(sandbox, "import time; time.sleep(600)")
    with pytest.raises(AssertionError, match="still running"):
        sandbox.settle(0.3)
    assert sandbox.close() == [process.pid]
    assert process.wait(5) == -9


def test_worlds_do_not_see_each_other(make_sandbox: Callable[..., Sandbox]) -> None:
    first, second = make_sandbox("one"), make_sandbox("two")
    process = python(first, "import time; time.sleep(600)")
    time.sleep(0.1)
    assert (first.processes(), second.processes()) == ([process.pid], [])
    first.close()
    process.wait(5)


def test_an_overrun_is_killed_and_told(sandbox: Sandbox) -> None:
    process = python(sandbox, "print('begun', flush=True); import time; time.sleep(600)")
    with pytest.raises(AssertionError, match=r"did not end in 0.5 s(?s:.*)begun"):
        programs.finish(process, None, 0.5)
    assert process.returncode == -9


def test_on_a_terminal_all_three_streams_are_terminals(sandbox: Sandbox) -> None:
    code = "import sys; print(sys.stdin.isatty(), input()); print(sys.stderr.isatty(), file=sys.stderr)"
    shown = programs.on_terminal(
        [sys.executable, "-c", code], environ=sandbox.environment(), cwd=sandbox.root, typed="yes\n"
    )
    assert shown == (0, "True yes\n", "True\n")


def test_the_log_of_a_run_is_what_it_added(sandbox: Sandbox) -> None:
    sandbox.write(".claude/hooks/capture-decisions.log", "2026-03-04T05:06:07+00:00 old\n")
    before = sandbox.log_bytes(CAPTURE)
    sandbox.write(".claude/hooks/capture-decisions.log", before + b"2026-03-04T05:06:08+00:00 NONE\n")
    finished = programs.Finished(0, "", "", sandbox.log_since(CAPTURE, before), 0.1)
    assert finished.messages == ["NONE"]


def test_git_is_there() -> None:
    assert shutil.which("git")


def test_the_processes_of_a_mark_never_hold_the_test_itself() -> None:
    assert os.getpid() not in processes.marked("no such mark")
