"""Which folder is the project, and where its drafts, log and state lie."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from support.capture_runs import decision, log, ready, session, stems
from support.claude_session import ClaudeSession
from support.cursor_session import CursorSession
from support.sandbox import CAPTURE, Sandbox

MakeSandbox = Callable[..., Sandbox]


def place(sandbox: Sandbox, name: str, *, repository: bool = False) -> Path:
    """A further folder beside the project, as a repository or not."""
    path = sandbox.base / name
    path.mkdir(parents=True)
    if repository:
        sandbox.git("init", "-q", cwd=path)
    return path


def logs_in(folder: Path) -> bool:
    """Whether the hook took that folder for the root."""
    return (folder / ".claude" / "hooks" / "capture-decisions.log").exists()


# -- the order


@pytest.mark.parametrize(
    "first",
    ["--project-root", "CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "roots", "cwd", "working directory"],
)
def test_the_root_is_the_first_folder_that_is_told(sandbox: Sandbox, first: str) -> None:
    order = [
        "--project-root",
        "CLAUDE_PROJECT_DIR",
        "CURSOR_PROJECT_DIR",
        "roots",
        "cwd",
        "working directory",
    ]
    told = {name: place(sandbox, f"place-{number}") for number, name in enumerate(order)}
    for name in order[: order.index(first)]:  # those that come before are no folders
        told[name] = sandbox.base / "gone" / name
    env = {name: str(told[name]) for name in order[1:3]}
    payload = {"workspace_roots": [str(told["roots"])], "cwd": str(told["cwd"])}
    sandbox.capture(payload, f"--project-root={told['--project-root']}", env=env, cwd=told[order[-1]])
    assert [name for name in order if logs_in(told[name])] == [first]


def test_the_top_of_the_repository_around_the_payloads_cwd_is_the_root(sandbox: Sandbox) -> None:
    inner = sandbox.root / "src" / "deep"
    inner.mkdir(parents=True)
    sandbox.capture({"cwd": str(inner)}, cwd=sandbox.home)
    assert logs_in(sandbox.root)
    assert not logs_in(inner)
    assert not logs_in(sandbox.home)


def test_the_working_directory_itself_counts_not_its_repository(sandbox: Sandbox) -> None:
    inner = sandbox.root / "src"
    inner.mkdir()
    sandbox.capture({}, cwd=inner)
    assert logs_in(inner)


def test_a_cwd_that_is_gone_is_passed_over(sandbox: Sandbox) -> None:
    sandbox.capture({"cwd": str(sandbox.root / "gone")})
    assert logs_in(sandbox.root)


@pytest.mark.parametrize("value", ["", "file", "/nonexistent", "a\0b"])
def test_a_value_that_is_no_folder_is_passed_over(sandbox: Sandbox, value: str) -> None:
    path = str(sandbox.root / "README.md") if value == "file" else value
    sandbox.capture({"workspace_roots": [path], "cwd": path})
    assert logs_in(sandbox.root)


@pytest.mark.parametrize(
    "project", ["with space", "проєкт-ї", "quote'\"s", "$(touch x)", "-dash", "a\nb", "[b]*?"]
)
def test_a_root_of_any_name_works(make_sandbox: MakeSandbox, project: str) -> None:
    sandbox = make_sandbox(project=project)
    pi = ready(sandbox).answers(decision())
    sandbox.capture(session(sandbox).payload(), env={"CLAUDE_PROJECT_DIR": str(sandbox.root)})
    assert stems(sandbox) == ["decision-1"]
    assert len(pi.calls) == 1


def test_a_root_whose_name_is_no_utf_8_works_where_there_can_be_one(sandbox: Sandbox) -> None:
    root = Path(os.fsdecode(os.fsencode(sandbox.base) + b"/\xff\xfe"))
    try:
        root.mkdir()
    except OSError:  # a file system of macOS
        return
    pi = ready(sandbox).answers("no", decision(1), decision(2))
    for number in (1, 2):
        made = session(sandbox, number, turns=0)
        made.user("decide")
        made.assistant("decided")
        sandbox.capture(made.payload(), env={"CLAUDE_PROJECT_DIR": str(root)})
    assert sorted(name[12:] for name in os.listdir(root / "docs" / "adr")) == [
        "decision-1.md",
        "decision-2.md",
    ]
    assert len(pi.calls) == 3


def test_without_any_folder_nothing_is_made_and_a_command_says_so(sandbox: Sandbox) -> None:
    from support import programs

    for words, rc, told in (("", 0, ""), (" status", 2, "the working directory is gone")):
        gone = place(sandbox, "gone")
        script = f'cd "$1" && rmdir "$1" && exec "$0"{words}'
        command = ["/bin/sh", "-c", script, programs.script(CAPTURE), str(gone)]
        before = os.path.exists("/.claude")
        process = programs.start(command, environ=sandbox.environment(), cwd=sandbox.root)
        found = programs.finish(process, None, 20)
        assert (found[0], found[1], told in found[2]) == (rc, "", True)
        assert os.path.exists("/.claude") == before
        assert not gone.exists()


def test_a_root_reached_by_a_link_is_the_same_project(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    link = sandbox.base / "link"
    link.symlink_to(sandbox.root)
    made = session(sandbox)
    sandbox.capture(made.payload(cwd=str(link)), env={"CLAUDE_PROJECT_DIR": str(link)})
    sandbox.capture(made.payload())
    assert stems(sandbox) == ["decision-1"]
    assert len(pi.calls) == 1
    assert "cross-project" not in log(sandbox)


# -- what is made where


def test_only_the_draft_and_the_folder_of_hooks_are_made(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    before = set(sandbox.snapshot(without=(".git",)))
    sandbox.capture(session(sandbox).payload())
    made = sorted(set(sandbox.snapshot(without=(".git",))) - before)
    (draft,) = sandbox.drafts()
    assert f"docs/adr/{draft}" in made
    others = [name for name in made if name != f"docs/adr/{draft}"]
    assert ".claude/hooks/capture-decisions.log" in others
    inner = [name for name in others if name != ".claude/hooks/capture-decisions.log"]
    assert all(name.startswith(".claude/hooks/.decision-hooks/") for name in inner)


def test_the_state_is_private_and_ignores_itself(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    sandbox.capture(session(sandbox).payload())
    assert stat.S_IMODE(sandbox.own_state.stat().st_mode) == 0o700
    assert (sandbox.own_state / ".gitignore").read_text() == "*\n"
    assert ".decision-hooks" not in sandbox.git("status", "--porcelain", "-uall")


def test_a_stop_without_a_transcript_makes_no_state(sandbox: Sandbox) -> None:
    sandbox.capture({})
    assert not sandbox.own_state.exists()
    assert not (sandbox.root / "docs").exists()


def test_git_is_not_written_to(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    sandbox.write("package.json", '{\n  "version": "1.0.0"\n}\n')
    sandbox.commit_all()
    sandbox.write("package.json", '{\n  "version": "1.0.1"\n}\n')
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("release")
    made.edit(sandbox.root / "package.json")
    made.edit(sandbox.root / "README.md")
    made.assistant("done")
    index = sandbox.root / ".git" / "index"
    os.utime(sandbox.root / "README.md", (1, 1))  # makes a plain `git diff` refresh the index
    before = sandbox.snapshot(of=sandbox.root / ".git"), index.stat().st_mtime_ns
    sandbox.capture(made.payload())
    assert stems(sandbox) == ["decision-1"]
    assert (sandbox.snapshot(of=sandbox.root / ".git"), index.stat().st_mtime_ns) == before


# -- ADR_DIR


def test_adr_dir_names_the_folder_of_records(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    sandbox.capture(session(sandbox).payload(), env={"ADR_DIR": "./doc//decisions/"})
    assert len(list((sandbox.root / "doc" / "decisions").iterdir())) == 1
    assert sandbox.adr_names() == []


@pytest.mark.parametrize("value", ["../out", "/tmp/x", "a/../../b", "~/adr", ".git/adr", "."])
def test_a_folder_of_records_outside_of_the_root_is_refused(sandbox: Sandbox, value: str) -> None:
    pi = ready(sandbox).answers(decision())
    done = sandbox.capture(session(sandbox).payload(), env={"ADR_DIR": value})
    assert done.rc == 0
    assert len(done.messages) == 1
    assert "ADR_DIR" in done.messages[0]
    assert value in done.messages[0]
    assert pi.calls == []


def test_a_folder_of_records_that_leads_out_by_a_link_is_refused(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    outside = place(sandbox, "outside")
    (sandbox.root / "docs").mkdir()
    (sandbox.root / "docs" / "adr").symlink_to(outside)
    done = sandbox.capture(session(sandbox).payload())
    assert len(done.messages) == 1
    assert "fault" not in done.log
    assert "docs/adr" in done.messages[0]
    assert pi.calls == []
    assert list(outside.iterdir()) == []


# -- work trees


def test_drafts_of_a_linked_work_tree_stay_there_and_its_state_lies_in_the_main_one(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    tree = sandbox.worktree("feature")
    made = ClaudeSession(sandbox.home, tree)
    made.user("decide")
    made.edit(tree / "src.py")
    made.assistant("decided")
    sandbox.capture(made.payload(), cwd=tree)
    assert [name[-13:] for name in os.listdir(tree / "docs" / "adr")] == ["decision-1.md"]
    assert sandbox.adr_names() == []
    assert logs_in(tree)
    assert (sandbox.own_state / "positions").is_dir()
    assert not (tree / ".claude" / "hooks" / ".decision-hooks").exists()


def test_an_edit_in_another_work_tree_of_the_repository_is_no_other_project(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision(1), decision(2))
    tree = sandbox.worktree("feature")
    for number, (cwd, edited) in enumerate(((sandbox.root, tree), (tree, sandbox.root)), 1):
        made = ClaudeSession(sandbox.home, cwd, f"5e551011-0000-4000-8000-00000000010{number}")
        made.user("decide")
        made.edit(edited / "src.py")
        made.assistant("decided")
        sandbox.capture(made.payload(), cwd=cwd)
    assert len(pi.calls) == 2


# -- several roots of Cursor


def test_the_first_workspace_root_of_cursor_is_the_project(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    other = place(sandbox, "other")
    made = CursorSession(sandbox.home, sandbox.root)
    made.user("decide")
    made.write(sandbox.root / "a.py")
    made.assistant("decided")
    sandbox.capture(made.payload(workspace_roots=[str(sandbox.root), str(other)]), cwd=other)
    assert stems(sandbox) == ["decision-1"]
    assert not logs_in(other)
