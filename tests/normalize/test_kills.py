"""Kills in the middle of a normalisation: no draft lost, nothing appended twice, nothing torn, nothing left.

Each file-changing call of a run is answered with SIGKILL in turn; then a run that nobody disturbs must come to the
very folder that it would have come to without the kill.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.adr_texts import operations
from support.agents import Reply
from support.inbox import CLAUDE, CLEAN, NOW, ONE, THREE, TWO, all_three, delete, fill, merge, rewrite
from support.sandbox import NORMALIZE, Sandbox
from support.stage import Stage, planned

MOST_CALLS = 120
# A file that is opened to be written is synced at once after: a kill between is one before the sync.
CALLS = ("rename", "link", "unlink", "fsync", "mkdir", "write")
Make = Callable[..., Sandbox]


def killed_at_each(stage: Stage, call: str, *arguments: str) -> Iterator[int]:
    """Run the program by hand, killed at its first call, its second ..., until it comes to its own end."""
    for number in range(1, MOST_CALLS):
        stage.again()
        done = stage.sandbox.run(NORMALIZE, None, *arguments, env=CLAUDE, kill_at=(call, number), wait=False)
        yield number
        if not done.was_killed:
            assert done.rc == 0, done.stderr
            return
    raise AssertionError(f"more than {MOST_CALLS} calls of {call}")


def temporary(sandbox: Sandbox) -> list[str]:
    """Temporary files anywhere in the project."""
    found = sandbox.snapshot(without=(".git",))
    return [name for name in found if Path(name).name.startswith(".decision-hooks-") or ".making" in name]


@pytest.mark.parametrize("call", CALLS)
def test_a_run_killed_at_any_file_changing_call_is_finished_by_the_next(sandbox: Sandbox, call: str) -> None:
    stage, plan = planned(sandbox)
    before = sandbox.snapshot()
    stage.by_hand("run", "--plan", plan)
    wanted = sandbox.snapshot()
    kills = 0
    for number in killed_at_each(stage, call, "run", "--plan", plan):
        kills = number
        torn = sandbox.snapshot()
        assert {torn.get(name, wanted.get(name)) for name in wanted} <= {*before.values(), *wanted.values()}
        stage.by_hand("run", "--plan", plan)
        assert sandbox.snapshot() == wanted, f"{call} {number}"
        assert temporary(sandbox) == [], f"{call} {number}"
    assert kills > 1


@pytest.mark.parametrize("call", ["rename", "link", "unlink", "fsync", "write"])
def test_an_undo_killed_at_any_file_changing_call_is_none_or_finished_by_the_next_run(
    sandbox: Sandbox, call: str
) -> None:
    stage, plan = planned(sandbox)
    before = sandbox.snapshot()
    stage.by_hand("run", "--plan", plan)
    after = sandbox.snapshot()
    shutil.rmtree(sandbox.base / "kept")
    stage = Stage(sandbox)
    kills = 0
    for number in killed_at_each(stage, call, "undo"):
        kills = number
        stage.by_hand("undo", "--list")  # opens the journal, and so finishes what was begun
        assert sandbox.snapshot() in (before, after), f"{call} {number}"
        assert temporary(sandbox) == [], f"{call} {number}"
    assert sandbox.snapshot() == before
    assert kills > 1


def test_a_kill_before_during_or_after_the_call_loses_no_draft(sandbox: Sandbox) -> None:
    fill(sandbox)
    sandbox.write(".claude/hooks/.keep", "")
    stage = Stage(sandbox)
    sandbox.fake("claude").always(all_three())
    stage.by_hand("run")
    wanted = sandbox.snapshot()
    for number in killed_at_each(stage, "rename", "run"):
        sandbox.settle()
        stage.by_hand("run")
        assert sandbox.snapshot() == wanted, number
        assert temporary(sandbox) == [], number


@pytest.mark.parametrize("call", ["rename", "unlink"])
def test_a_detached_worker_killed_at_any_change_is_finished_by_the_next_stop(
    sandbox: Sandbox, call: str
) -> None:
    fill(sandbox)
    sandbox.write(".claude/hooks/.keep", "")
    stage = Stage(sandbox)
    fake = sandbox.fake("claude")
    fake.always(all_three())
    sandbox.normalize({}, "--detach", env=NOW)
    wanted = sandbox.snapshot()
    assert sandbox.adr_names() == [CLEAN, "260304-0501-price-cache.md"]
    for number in range(1, MOST_CALLS):
        stage.again()
        before = len(fake.ended)
        sandbox.normalize({}, "--detach", env=NOW, kill_at=(call, number), follow=True)
        whole = sandbox.snapshot() == wanted and "done: 3 operations" in sandbox.log(NORMALIZE)
        sandbox.normalize({}, env=NOW)
        assert sandbox.snapshot() == wanted, number
        if whole and len(fake.ended) > before:
            return
    raise AssertionError("the worker never came to its end")


def test_merges_into_one_record_are_one_replace_and_never_doubled(sandbox: Sandbox) -> None:
    fill(sandbox)
    reply = operations(rewrite(), merge(TWO, "price-cache"), merge(THREE, "price-cache", additions="More."))
    sandbox.fake("claude").answers(reply)
    plan = sandbox.run(NORMALIZE, None, "plan", env=CLAUDE).stdout.split("--plan ")[1].split("`")[0]
    stage = Stage(sandbox)
    for number in killed_at_each(stage, "fsync", "run", "--plan", plan):
        stage.by_hand("run", "--plan", plan)
        text = sandbox.records()["260304-0501-price-cache.md"]
        assert (text.count("The queue is bounded."), text.count("More.")) == (1, 1), number
        assert sandbox.adr_names() == [CLEAN, "260304-0501-price-cache.md"]


def test_a_run_that_was_ended_by_a_signal_leaves_no_half_state(sandbox: Sandbox) -> None:
    fill(sandbox)
    before = sandbox.snapshot()
    python = "import os, signal; os.kill(os.getppid(), signal.SIGTERM)"
    sandbox.fake("claude").answers(Reply(all_three(), python=python, delay=0.5))
    done = sandbox.normalize({}, env=NOW)
    assert done.rc == 0
    assert sandbox.snapshot() == before
    assert not sandbox.processes()
    assert ONE in sandbox.drafts()


def test_an_interrupted_run_is_finished_though_the_next_stop_is_not_due(sandbox: Sandbox) -> None:
    stage, plan = planned(sandbox)
    stage.by_hand("run", "--plan", plan)
    wanted = sandbox.snapshot()
    stage.again()
    for number in range(1, 30):
        stage.again()
        sandbox.run(NORMALIZE, None, "run", "--plan", plan, env=CLAUDE, kill_at=("unlink", number))
        if ONE in sandbox.adr_names() and CLEAN in sandbox.adr_names() and sandbox.snapshot() != wanted:
            runs = list((sandbox.own_state / "runs").glob("[0-9]*")) if sandbox.own_state.exists() else []
            if runs:
                break
    done = sandbox.normalize({}, env=CLAUDE)
    assert sandbox.snapshot() == wanted
    assert any(message.startswith("finished the interrupted run ") for message in done.messages)


def test_a_draft_that_comes_while_a_run_lies_open_stays(sandbox: Sandbox) -> None:
    stage, plan = planned(sandbox)
    for _ in killed_at_each(stage, "unlink", "run", "--plan", plan):
        sandbox.write("docs/adr/260304-0504-new.md", "---\nsession: s\n---\n\nnew\n")
        sandbox.write(f"docs/adr/{THREE}", "---\nsession: s\n---\n\nwritten anew\n")
        stage.by_hand("undo", "--list")
        assert sandbox.drafts()["260304-0504-new.md"].endswith("new\n")
        assert sandbox.drafts()[THREE].endswith("written anew\n")


def test_what_delete_removes_was_in_the_journal_first(sandbox: Sandbox) -> None:
    fill(sandbox)
    sandbox.fake("claude").answers(operations(delete(ONE), delete(TWO), delete(THREE)))
    sandbox.run(NORMALIZE, None, "run", env=CLAUDE)
    images = sorted((sandbox.own_state / "runs").glob("*/before/*"))
    assert len(images) == 3
    assert sandbox.run(NORMALIZE, None, "undo").rc == 0
    assert set(sandbox.drafts()) == {ONE, TWO, THREE}
