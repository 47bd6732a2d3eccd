"""What undo and the waits of normalisation need outlives moves of the project and wrong clocks."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path

import pytest

from decision_hooks.system.project import project_at, tree_marks
from support.adr_texts import draft, operations
from support.capture_runs import at_clock
from support.inbox import CLAUDE, NOW, ONE, THREE, TWO, delete, fill
from support.sandbox import CAPTURE, NORMALIZE, Sandbox

DAY = 86400.0


def run_in(sandbox: Sandbox, tree: Path) -> None:
    """A run in a work tree that removes its one draft, which git does not track."""
    (tree / "docs" / "adr").mkdir(parents=True, exist_ok=True)
    (tree / "docs" / "adr" / ONE).write_text(draft("A decision"))
    sandbox.fake("claude").answers(operations(delete(ONE)))
    assert sandbox.run(NORMALIZE, None, "run", env=CLAUDE, cwd=tree).rc == 0
    assert not (tree / "docs" / "adr" / ONE).exists()


def move(sandbox: Sandbox, tree: Path) -> Path:
    """Let git move a work tree."""
    sandbox.git("worktree", "move", str(tree), str(sandbox.base / "moved"))
    return sandbox.base / "moved"


def test_undo_brings_back_a_draft_in_a_work_tree_that_was_moved(sandbox: Sandbox) -> None:
    tree = sandbox.worktree("feature")
    run_in(sandbox, tree)
    moved = move(sandbox, tree)
    assert sandbox.run(NORMALIZE, None, "undo").rc == 1  # it is not of the main work tree
    assert sandbox.run(NORMALIZE, None, "undo", cwd=moved).rc == 0
    assert os.listdir(moved / "docs" / "adr") == [ONE]
    assert not tree.exists()


def test_undo_brings_back_a_draft_in_the_renamed_project(sandbox: Sandbox) -> None:
    run_in(sandbox, sandbox.root)
    sandbox.root.rename(sandbox.base / "renamed")
    sandbox.root = sandbox.base / "renamed"
    assert sandbox.run(NORMALIZE, None, "undo").rc == 0
    assert sandbox.adr_names() == [ONE]


def test_a_run_that_an_earlier_version_made_in_a_work_tree_can_be_undone(sandbox: Sandbox) -> None:
    tree = sandbox.worktree("feature")
    run_in(sandbox, tree)
    [journal] = sandbox.own_state.glob("runs/*/journal.json")
    new, old = tree_marks(project_at(str(tree), "docs/adr"))
    text = journal.read_text()
    assert text.count(new) == 1
    assert len({new, old}) == 2
    value = json.loads(text.replace(new, old))
    del value["seal"]  # earlier versions gave none
    journal.write_text(json.dumps(value))
    (sandbox.own_state / ".sealed").unlink()
    sandbox.run(CAPTURE, None, "doctor", "--fix", cwd=tree)
    assert sandbox.run(NORMALIZE, None, "undo", cwd=tree).rc == 0
    assert os.listdir(tree / "docs" / "adr") == [ONE]


@pytest.mark.parametrize("earlier", [False, True])
def test_a_pause_lasts_in_a_work_tree_that_was_moved(sandbox: Sandbox, earlier: bool) -> None:
    tree = sandbox.worktree("feature")
    (tree / "docs" / "adr").mkdir(parents=True)
    (tree / "docs" / "adr" / ONE).write_text(draft("A decision"))
    fake = sandbox.fake("claude")
    fake.always("Credit balance is too low")
    env = NOW | {"ADR_NORMALIZE_MIN_INTERVAL_HOURS": "0.001"}
    sandbox.normalize({}, env=env, cwd=tree)
    new, old = tree_marks(project_at(str(tree), "docs/adr"))
    [memory] = sandbox.own_state.glob("normalize-*.json")
    value = json.loads(memory.read_text())
    value["backoff"]["until"] = time.time() + 890
    memory.write_text(json.dumps(value | {"backoff": value["backoff"] | {"step": 900}}))
    assert memory.name == f"normalize-{new}.json"
    if earlier:
        memory.rename(memory.with_name(f"normalize-{old}.json"))
    moved = tree if earlier else move(sandbox, tree)
    (moved / ".claude" / "hooks" / ".normalize-state").unlink(missing_ok=True)
    before = len(fake.calls)
    sandbox.normalize({}, env=env, cwd=moved)
    log = (moved / ".claude" / "hooks" / "normalize-decisions.log").read_text()
    assert "backing off until" in log.splitlines()[-1]
    assert len(fake.calls) == before


# -- clocks


def test_undo_takes_the_newest_run_back_although_the_clock_was_set_back(sandbox: Sandbox) -> None:
    fill(sandbox)
    fake = sandbox.fake("claude")
    sandbox.environ.update(NOW)
    for name, ahead in ((ONE, 400 * DAY), (TWO, 0.0), (THREE, -400 * DAY)):
        fake.answers(operations(delete(name)))
        at_clock(sandbox, NORMALIZE, None, ahead, "run")
    for name in (THREE, TWO, ONE):
        assert name in sandbox.run(NORMALIZE, None, "undo").stdout


@pytest.mark.parametrize("ahead", [2 * 3600.0, 300 * DAY])
def test_an_interval_begun_at_a_clock_that_was_ahead_begins_anew_once(sandbox: Sandbox, ahead: float) -> None:
    fill(sandbox)
    fake = sandbox.fake("claude")
    fake.always("Sure.")
    sandbox.environ.update(CLAUDE | {"ADR_NORMALIZE_THRESHOLD": "1"})
    at_clock(sandbox, NORMALIZE, {}, ahead)
    assert len(fake.calls) == 1
    for _ in range(2):
        assert "interval 6 h" in sandbox.normalize({}).log
    assert len(fake.calls) == 1
    at_clock(sandbox, NORMALIZE, {}, 6 * 3600.0 + 5)
    assert len(fake.calls) == 2


# -- a run that hangs


def test_a_run_that_hangs_is_named_by_the_next_stop_and_by_status(sandbox: Sandbox) -> None:
    fill(sandbox)
    sandbox.fake("claude")
    sandbox.write(".claude/hooks/.normalize.lock", f"{os.getpid()} 0.1 0.2\n")
    with (sandbox.hooks / ".normalize.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = sandbox.normalize({}, env={**NOW, "ADR_NORMALIZE_TIMEOUT": "1"})
        assert "another normalize run holds the lock: hangs, since 20" in done.log
        assert f"`kill {os.getpid()}`" in done.log
        status = sandbox.capture(None, "status", env={"ADR_NORMALIZE_TIMEOUT": "1"}).stdout
        assert f"pid {os.getpid()}" in status
        assert "hangs" not in sandbox.normalize({}, env={**NOW, "ADR_NORMALIZE_TIMEOUT": "9999999"}).log
