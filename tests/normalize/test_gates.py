"""The gates of ``normalize-decisions`` as a Stop hook: their order, their lines, and what leaves no trace."""

from __future__ import annotations

import fcntl
import time

import pytest

from support.adr_texts import operations
from support.inbox import CLAUDE, NOW, all_three, fill
from support.sandbox import NORMALIZE, Sandbox


@pytest.mark.parametrize("guard", ["CAPTURE_DECISIONS_RUNNING", "ADR_NORMALIZE_RUNNING", "ADR_HOOKS_SKIP"])
def test_a_guard_leaves_no_trace(sandbox: Sandbox, guard: str) -> None:
    fill(sandbox)
    done = sandbox.normalize({}, env={**NOW, guard: "1"})
    assert (done.rc, done.stdout, done.stderr) == (0, "", "")
    assert not sandbox.hooks.exists()


def test_without_a_folder_of_records_nothing_is_left(sandbox: Sandbox) -> None:
    done = sandbox.normalize({}, env=NOW)
    assert (done.rc, done.stdout) == (0, "")
    assert not (sandbox.root / ".claude").exists()


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("MERGE_HEAD", "merge"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("REVERT_HEAD", "revert"),
        ("BISECT_LOG", "bisect"),
    ],
)
def test_an_operation_of_git_stops_the_run(sandbox: Sandbox, name: str, operation: str) -> None:
    fill(sandbox)
    sandbox.write(f".git/{name}", "0" * 40 + "\n")
    fake = sandbox.fake("claude").answers(all_three())
    done = sandbox.normalize({}, env=NOW)
    assert done.messages == [f"git {operation} in progress: nothing was done [git busy]"]
    assert not fake.calls


@pytest.mark.parametrize("name", ["rebase-merge", "rebase-apply"])
def test_a_rebase_stops_the_run_in_a_linked_work_tree_too(sandbox: Sandbox, name: str) -> None:
    tree = sandbox.worktree("linked")
    (tree / "docs/adr").mkdir(parents=True)
    (sandbox.root / ".git/worktrees/linked" / name).mkdir()
    sandbox.normalize({}, env={**NOW, "CLAUDE_PROJECT_DIR": str(tree)})
    log = (tree / ".claude/hooks/normalize-decisions.log").read_text()
    assert "git rebase" in log


def test_a_held_lock_stops_the_run(sandbox: Sandbox) -> None:
    fill(sandbox)
    sandbox.hooks.mkdir(parents=True)
    with (sandbox.hooks / ".normalize.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = sandbox.normalize({}, env=NOW)
    assert done.messages == ["another normalize run holds the lock [lock held]"]
    assert (sandbox.hooks / ".normalize.lock").exists()


def test_within_the_interval_nothing_is_done(sandbox: Sandbox) -> None:
    fill(sandbox)
    sandbox.write(".claude/hooks/.normalize-state", f"{int(time.time()) - 3600}\n")
    done = sandbox.normalize({}, env={**CLAUDE, "ADR_NORMALIZE_THRESHOLD": "1"})
    assert "interval 6 h" in done.log


@pytest.mark.parametrize("state", ["", "soon", "99999999999", "-5", "{}"])
def test_an_attempt_that_cannot_be_one_is_none(sandbox: Sandbox, state: str) -> None:
    fill(sandbox)
    sandbox.write(".claude/hooks/.normalize-state", state)
    fake = sandbox.fake("claude").answers(all_three())
    sandbox.normalize({}, env={**CLAUDE, "ADR_NORMALIZE_THRESHOLD": "3"})
    assert len(fake.calls) == 1


def test_below_the_threshold_nothing_is_done(sandbox: Sandbox) -> None:
    fill(sandbox)
    done = sandbox.normalize({}, env=CLAUDE)
    assert done.messages == ["3 drafts, threshold 30: nothing was done [threshold]"]


def test_an_attempt_is_stamped_as_epoch_seconds_and_nothing_else(sandbox: Sandbox) -> None:
    fill(sandbox)
    sandbox.fake("claude").answers(operations())
    before = int(time.time())
    sandbox.normalize({}, env=NOW)
    stamp = sandbox.read(".claude/hooks/.normalize-state").strip()
    assert before <= int(stamp) <= time.time()


@pytest.mark.parametrize(
    ("name", "value"),
    [("ADR_NORMALIZE_BATCH", "ten"), ("ADR_NORMALIZE_THRESHOLD", "-1"), ("ADR_DIR", "../up")],
)
def test_a_bad_value_is_named_and_ends_the_run(sandbox: Sandbox, name: str, value: str) -> None:
    fill(sandbox)
    before = sandbox.snapshot()
    done = sandbox.normalize({}, env={**NOW, name: value})
    assert (done.rc, done.stdout) == (0, "")
    assert len(done.messages) == 1
    assert name in done.log
    assert value in done.log
    assert sandbox.snapshot() == before


def test_no_backend_is_one_line(sandbox: Sandbox) -> None:
    fill(sandbox)
    done = sandbox.normalize({}, env={**NOW, "ADR_NORMALIZE_BACKEND": None})
    assert done.messages[-1] == "no LLM backend available [no backend]"
    assert not (sandbox.hooks / ".normalize-state").exists()


def test_an_unknown_backend_is_one_line(sandbox: Sandbox) -> None:
    fill(sandbox)
    done = sandbox.normalize({}, env={**NOW, "ADR_NORMALIZE_BACKEND": "oracle"})
    assert done.messages[-1] == "unknown ADR_NORMALIZE_BACKEND=oracle [unknown backend]"


def test_detached_a_batch_that_is_not_due_starts_no_worker(sandbox: Sandbox) -> None:
    fill(sandbox)
    done = sandbox.normalize({}, "--detach", env=CLAUDE, wait=False)
    assert not sandbox.processes()
    assert "threshold 30" in done.log


def test_detached_a_due_batch_is_done_after_the_hook_has_ended(sandbox: Sandbox) -> None:
    fill(sandbox)
    fake = sandbox.fake("claude").answers(all_three())
    done = sandbox.normalize({}, "--detach", env=NOW)
    assert (done.rc, done.stdout) == (0, "")
    assert len(fake.calls) == 1
    assert not sandbox.drafts()


def test_two_runs_at_once_make_one_call(sandbox: Sandbox) -> None:
    fill(sandbox)
    fake = sandbox.fake("claude").answers(all_three(), all_three())
    for _ in range(2):
        sandbox.normalize({}, "--detach", env={**NOW, "ADR_NORMALIZE_MIN_INTERVAL_HOURS": "1"}, wait=False)
    sandbox.settle()
    assert len(fake.calls) == 1
    assert sandbox.log(NORMALIZE).count("fault") == 0
