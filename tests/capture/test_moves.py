"""A project that is renamed, mounted elsewhere or copied, a work tree that is moved or removed: nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.agents import FakeAgent, Reply
from support.capture_runs import decision, edit_state, log, part_of, pending, ready, session, stems, turn
from support.claude_session import ClaudeSession
from support.sandbox import CAPTURE, Sandbox

BACKEND = {"CAPTURE_DECISIONS_BACKEND": "pi"}


def rename(sandbox: Sandbox, name: str = "renamed") -> None:
    """Give the project's folder another name."""
    new = sandbox.base / name
    sandbox.root.rename(new)
    sandbox.root = new


def in_tree(sandbox: Sandbox, tree: Path) -> ClaudeSession:
    """A session with an edit in a work tree, which is stopped there."""
    made = ClaudeSession(sandbox.home, tree, "5e551011-0000-4000-8000-0000000000aa")
    made.user("decide in the tree")
    made.edit(tree / "src.py")
    made.assistant("decided in the tree")
    sandbox.capture(made.payload(), cwd=tree)
    return made


def answers_by_session(agent: FakeAgent) -> None:
    """One decision for the session of each number, or of the work tree."""
    for number in (1, 2, 3):
        agent.answers(Reply(stdout=decision(number), match=f"request 1 of {number}"))
    agent.answers(Reply(stdout=decision(9), match="decide in the tree"))


# -- the project


def test_a_part_that_waits_is_captured_in_the_renamed_project(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers("no")
    sandbox.capture(session(sandbox, 1).payload())
    rename(sandbox)
    answers_by_session(pi)
    sandbox.capture(session(sandbox, 2).payload())
    assert stems(sandbox) == ["decision-1", "decision-2"]  # its edits are in the project's old folder
    assert pending(sandbox) == []


def test_a_part_of_an_earlier_version_is_captured_in_the_renamed_project(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers("no")
    made = session(sandbox, 1)
    sandbox.capture(made.payload())
    new = ("main", "tree", "place", "tried_place", "old_since", "defect", "defects", "seal")
    edit_state(sandbox, "pending", lambda value: [value.pop(name) for name in new])
    rename(sandbox)
    answers_by_session(pi)
    sandbox.capture(session(sandbox, 2).payload())
    assert stems(sandbox) == ["decision-1", "decision-2"]


@pytest.mark.parametrize("kind", ["renamed", "another there"])
def test_drafts_that_could_not_be_written_are_written_in_the_renamed_project(
    sandbox: Sandbox, kind: str
) -> None:
    pi = ready(sandbox).answers(decision(1) + decision(2), "NONE")
    (sandbox.root / "docs").write_text("in the way")
    sandbox.capture(session(sandbox, 1).payload())
    old = sandbox.root
    rename(sandbox)
    if kind == "another there":  # a folder without a state of its own
        old.mkdir()
    (sandbox.root / "docs").unlink()
    sandbox.capture(session(sandbox, 2).payload())
    assert stems(sandbox) == ["decision-1", "decision-2"]
    assert len(pi.calls) == 2


def test_a_new_project_under_the_old_name_takes_nothing_from_the_renamed_one(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers("no", "NONE")
    sandbox.capture(session(sandbox, 1).payload())
    old = sandbox.root
    rename(sandbox)
    new = ClaudeSession(sandbox.home, old, "5e551011-0000-4000-8000-000000000003")
    new.user("something else")
    old.mkdir()
    sandbox.capture(new.payload(), cwd=old)
    assert (old / ".claude" / "hooks" / ".decision-hooks" / "positions").is_dir()
    answers_by_session(pi)
    sandbox.capture(session(sandbox, 2).payload())
    assert stems(sandbox) == ["decision-1", "decision-2"]


def test_what_was_given_up_is_taken_up_in_the_renamed_project(sandbox: Sandbox) -> None:
    ready(sandbox).answers("no", "no", "no", decision(1))
    made = session(sandbox, 1)
    for _ in range(3):
        sandbox.capture(made.payload())
    rename(sandbox)
    assert sandbox.capture(None, "backfill", "--retry", env=BACKEND).rc == 0
    assert stems(sandbox) == ["decision-1"]


def test_under_two_paths_in_turn_no_side_drops_what_only_the_other_can_read(sandbox: Sandbox) -> None:
    """As on a host and in a container, which has another home and does not see the host's transcripts."""
    pi = ready(sandbox).answers("no")
    first, host = session(sandbox, 1), sandbox.root
    sandbox.capture(first.payload())
    hidden = first.path.rename(sandbox.base / "hidden")
    rename(sandbox, "mount")
    home = sandbox.base / "container"
    home.mkdir()
    made = ClaudeSession(home, sandbox.root, "5e551011-0000-4000-8000-000000000002")
    answers_by_session(pi)
    turn(made)
    env = {"HOME": str(home)}
    sandbox.capture(made.payload(), env=env)
    assert "doctor --fix" in sandbox.log(
        CAPTURE
    )  # a machine that has never seen this state: a person decides
    sandbox.capture(None, "doctor", "--fix", env=env)
    for _ in range(2):
        sandbox.capture(made.payload(), env=env)
    assert stems(sandbox) == ["decision-2"]
    assert [(one["tries"], Path(one["root"])) for one in pending(sandbox)] == [(1, host)]
    rename(sandbox, host.name)
    hidden.rename(first.path)
    sandbox.capture(session(sandbox, 3).payload())
    assert stems(sandbox) == ["decision-1", "decision-2", "decision-3"]


def test_a_copy_of_a_project_gives_up_what_waits_for_the_first_and_says_so(
    make_sandbox: Callable[..., Sandbox],
) -> None:
    first, copy = make_sandbox("first"), make_sandbox("copy")
    ready(first).answers("no")
    first.capture(session(first, 1).payload())
    shutil.copytree(first.hooks, copy.hooks)
    pi = ready(copy).answers(decision(2))
    copy.environ["HOME"] = first.environ["HOME"]
    copy.capture(session(copy, 2).payload())
    assert (stems(copy), len(pi.calls), pending(copy)) == (["decision-2"], 1, [])
    assert f"given up as a part of another project, {first.root}" in log(copy)
    assert len(pending(first)) == 1


# -- linked work trees


def test_a_part_of_a_work_tree_that_was_removed_is_captured_into_the_main_one(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers("no")
    tree = sandbox.worktree("feature")
    in_tree(sandbox, tree)
    sandbox.git("worktree", "remove", "--force", str(tree))
    answers_by_session(pi)
    sandbox.capture(session(sandbox, 2).payload())
    assert stems(sandbox) == ["decision-2", "decision-9"]
    assert f"gone: {tree}" in log(sandbox)
    assert (pending(sandbox), tree.exists()) == ([], False)


@pytest.mark.parametrize("removed", ["by git", "by hand"])
def test_drafts_of_a_work_tree_that_was_removed_are_written_into_the_main_one(
    sandbox: Sandbox, removed: str
) -> None:
    pi = ready(sandbox).answers(decision(9), "NONE")
    tree = sandbox.worktree("feature")
    (tree / "docs").write_text("in the way")
    in_tree(sandbox, tree)
    if removed == "by git":
        sandbox.git("worktree", "remove", "--force", str(tree))
    else:
        shutil.rmtree(tree)
    sandbox.capture(session(sandbox, 2).payload())
    assert stems(sandbox) == ["decision-9"]
    assert len(pi.calls) == 2
    assert not tree.exists()


def test_what_waits_follows_a_work_tree_that_was_moved_without_git(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers("no")
    tree, moved = sandbox.worktree("feature"), sandbox.base / "moved"
    in_tree(sandbox, tree)
    tree.rename(moved)
    answers_by_session(pi)
    made = ClaudeSession(sandbox.home, moved, "5e551011-0000-4000-8000-000000000002")
    turn(made)
    sandbox.capture(made.payload(), cwd=moved)
    names = sorted(name[12:] for name in os.listdir(moved / "docs" / "adr"))
    assert names == ["decision-2.md", "decision-9.md"]


@pytest.mark.parametrize("outbox", [False, True])
def test_what_waits_follows_a_work_tree_that_git_moves(sandbox: Sandbox, outbox: bool) -> None:
    pi = ready(sandbox).answers(decision(9) if outbox else "no")
    tree = sandbox.worktree("feature")
    if outbox:
        (tree / "docs").write_text("in the way")
    in_tree(sandbox, tree)
    if outbox:
        (tree / "docs").unlink()
    sandbox.git("worktree", "move", str(tree), str(sandbox.base / "moved"))
    answers_by_session(pi)
    sandbox.capture(session(sandbox, 2).payload())
    assert [name[12:] for name in os.listdir(sandbox.base / "moved" / "docs" / "adr")] == ["decision-9.md"]
    assert (stems(sandbox), tree.exists()) == (["decision-2"], False)


def test_what_waits_for_a_work_tree_stays_where_only_the_other_place_sees_that_tree(sandbox: Sandbox) -> None:
    """As in a container that has the main work tree alone, under another path."""
    pi = ready(sandbox).answers("no")
    tree, host = sandbox.worktree("feature"), sandbox.root
    in_tree(sandbox, tree)
    hidden = tree.rename(sandbox.base / "hidden")
    rename(sandbox, "mount")
    answers_by_session(pi)
    sandbox.capture(session(sandbox, 2).payload())
    assert [one["tree"] for one in pending(sandbox)] == ["feature"]
    assert stems(sandbox) == ["decision-2"]
    rename(sandbox, host.name)
    hidden.rename(tree)
    sandbox.capture(session(sandbox, 3).payload())
    assert [name[12:] for name in os.listdir(tree / "docs" / "adr")] == ["decision-9.md"]
    assert pending(sandbox) == []


# -- an outbox knows which of its drafts it has made


@pytest.mark.parametrize("meanwhile", ["edited", "deleted", "renamed"])
@pytest.mark.parametrize("made", [1, 2])
def test_a_draft_that_was_made_is_the_persons(
    make_sandbox: Callable[..., Sandbox], meanwhile: str, made: int
) -> None:
    sandbox, pi = killed_after(make_sandbox, made)
    path = sandbox.adr / drafted(sandbox)[0]
    if meanwhile == "edited":
        path.write_text(path.read_text() + "a note of the person\n")
    elif meanwhile == "deleted":
        path.unlink()
    else:
        path.rename(sandbox.adr / "kept.md")
    sandbox.capture(session(sandbox, 2).payload())
    left = drafted(sandbox)
    assert len(left) == (2 if meanwhile == "deleted" else 3), left
    assert sum("decision-1" in name for name in left) == (meanwhile == "edited")
    assert len(pi.calls) == 2


@pytest.mark.parametrize("call", ["rename", "write", "fsync"])
def test_a_draft_that_was_edited_after_a_kill_at_any_call_is_not_there_twice(
    make_sandbox: Callable[..., Sandbox], call: str
) -> None:
    for number in range(1, 60):
        sandbox = make_sandbox(f"{call}-{number}")
        ready(sandbox).answers(decision(1) + decision(2), decision(1) + decision(2))
        done = sandbox.capture(session(sandbox, 1).payload(), kill_at=(call, number))
        for name in drafted(sandbox):
            path = sandbox.adr / name
            path.write_text(path.read_text() + "a note of the person\n")
        if not done.was_killed:
            break
        if drafted(sandbox):
            sandbox.capture(session(sandbox, 1).payload())
            assert stems(sandbox) == ["decision-1", "decision-2"], number
    assert 3 < number < 59


def killed_after(make_sandbox: Callable[..., Sandbox], made: int) -> tuple[Sandbox, FakeAgent]:
    """A stop with three decisions that was killed when it had made so many drafts."""
    for number in range(made, made + 9):
        sandbox = make_sandbox(f"{number}")
        pi = ready(sandbox).answers(decision(1) + decision(2) + decision(3), "NONE")
        sandbox.capture(session(sandbox, 1).payload(), kill_at=("link", number))
        if len(drafted(sandbox)) == made:
            return sandbox, pi
    raise AssertionError("no kill left so many drafts")


def drafted(sandbox: Sandbox) -> list[str]:
    """The names in the folder of records that a person sees."""
    return [name for name in sandbox.adr_names() if not name.startswith(".")]


# -- what may be read


def test_a_waiting_part_that_nobody_stored_here_is_put_aside(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers("no")
    sandbox.capture(session(sandbox, 1).payload())
    secret = sandbox.base / "notes.jsonl"
    secret.write_text(session(sandbox, 3).path.read_text().replace("request 1", "of another project"))
    edit_state(sandbox, "pending", lambda value: value.update(transcript=str(secret)))
    pi.forget().always("NONE")
    sandbox.capture(session(sandbox, 2).payload())
    assert ["of another project" in call.prompt for call in pi.calls[1:]] == [False]
    assert (pending(sandbox), len(os.listdir(sandbox.own_state / "aside"))) == ([], 1)
    assert "no stop has named" in log(sandbox)
    assert "1 stored part put aside" in sandbox.capture(None, "doctor").stdout


@pytest.mark.parametrize("transcript", ["../notes.jsonl", "notes.jsonl", "~/notes.jsonl"])
def test_a_transcript_is_absolute(sandbox: Sandbox, transcript: str) -> None:
    pi = ready(sandbox).answers("no")
    sandbox.capture(session(sandbox, 1).payload())
    for folder in (sandbox.base, sandbox.root, sandbox.home):
        shutil.copy(session(sandbox, 3).path, folder / "notes.jsonl")
    edit_state(sandbox, "pending", lambda value: value.update(transcript=transcript, root="."))
    pi.forget().always("NONE")
    sandbox.capture(session(sandbox, 2).payload())
    assert ["request 1 of 2" in part_of(call.prompt) for call in pi.calls[1:]] == [True]
    assert pending(sandbox) == []


def test_a_part_without_a_seal_is_taken_where_its_host_keeps_transcripts(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers("no")
    sandbox.capture(session(sandbox, 1).payload())
    edit_state(sandbox, "pending", lambda value: value.update(seal=""))
    answers_by_session(pi)
    sandbox.capture(session(sandbox, 2).payload())
    assert stems(sandbox) == ["decision-1", "decision-2"]


def test_a_transcript_elsewhere_is_taken_when_a_stop_named_it(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers("no")
    made = session(sandbox, 1)
    path = made.path.rename(sandbox.base / "elsewhere.jsonl")
    sandbox.capture(made.payload(transcript_path=str(path)))
    answers_by_session(pi)
    sandbox.capture(session(sandbox, 2).payload())
    assert stems(sandbox) == ["decision-1", "decision-2"]


def test_a_given_up_part_that_nobody_stored_here_is_not_sent(sandbox: Sandbox) -> None:
    pi = ready(sandbox).always("no")
    made = session(sandbox, 1)
    for _ in range(3):
        sandbox.capture(made.payload())
    copied = shutil.copy(made.path, sandbox.base / "copied.jsonl")
    edit_state(sandbox, "given-up", lambda value: value.update(transcript=str(copied)))
    calls = len(pi.calls)
    done = sandbox.capture(None, "backfill", "--retry", "--json", env=BACKEND)
    assert json.loads(done.stdout)["left_aside"]["foreign"] == 1
    assert len(pi.calls) == calls


def test_a_stop_puts_only_some_aside_and_the_next_ones_go_on(sandbox: Sandbox) -> None:
    ready(sandbox).always("NONE")
    made = session(sandbox, 1)
    sandbox.capture(made.payload())
    value = {"transcript": "/etc/passwd", "session_id": "s", "root": str(sandbox.root), "stop": time.time()}
    for number in range(40):
        key = f"{number:020x}"
        sandbox.write(f".claude/hooks/.decision-hooks/pending/{key}.json", json.dumps(value | {"key": key}))
    left = []
    for _ in range(3):
        sandbox.capture(made.payload())
        left.append(len(pending(sandbox)))
    assert left == [32, 24, 16]
    assert len(os.listdir(sandbox.own_state / "aside")) == 40 - left[-1]


def test_a_waiting_file_that_cannot_be_read_holds_up_nobody(sandbox: Sandbox) -> None:
    ready(sandbox).always("NONE")
    sandbox.open_state()
    for number, text in enumerate(("", "[[[", "{}", '{"key": "other"}', "\0")):
        sandbox.write(f".claude/hooks/.decision-hooks/pending/k{number}.json", text)
    sandbox.capture(session(sandbox).payload())
    assert list((sandbox.own_state / "pending").iterdir()) == []
    assert sandbox.capture(None, "status").rc == 0
    assert "fault" not in sandbox.log(CAPTURE)
