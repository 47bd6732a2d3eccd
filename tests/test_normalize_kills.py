"""Kills in the middle of a normalisation: no draft lost, nothing appended twice, nothing torn, nothing left."""

from __future__ import annotations

import pytest
from support.inbox import CLAUDE, CLEAN, ONE, THREE, TWO, all_three, fill
from support.sandbox import NORMALIZE, Sandbox

MOST_CALLS = 80


def finished(sandbox: Sandbox) -> dict[str, bytes]:
    """Let the next run finish what the killed one began, and give the folder back."""
    sandbox.fake("claude").forget().answers(all_three(), all_three())
    done = sandbox.run(NORMALIZE, None, "run", env=CLAUDE)
    assert done.rc == 0, done.stderr + sandbox.log(NORMALIZE)
    return sandbox.snapshot()


def expected(make_sandbox: object) -> dict[str, bytes]:
    """The folder as a run that nobody disturbs leaves it."""
    world = make_sandbox("calm")  # type: ignore[operator]
    fill(world)
    return finished(world)


@pytest.mark.parametrize("call", ["rename", "link", "unlink", "fsync", "mkdir"])
def test_a_run_killed_at_any_file_changing_call_is_finished_by_the_next(
    make_sandbox: object, call: str
) -> None:
    wanted = expected(make_sandbox)
    for number in range(1, MOST_CALLS):
        world: Sandbox = make_sandbox(f"{call}-{number}")  # type: ignore[operator]
        fill(world)
        world.fake("claude").answers(all_three())
        done = world.run(NORMALIZE, None, "run", env=CLAUDE, kill_at=(call, number))
        killed = done.was_killed
        kept = set(world.adr_names())
        for draft in (ONE, TWO, THREE):
            assert draft in kept or killed or done.rc == 0
        assert finished(world) == wanted, f"{call} {number}"
        world.close()
        if not killed:
            assert number > 1
            return
    raise AssertionError(f"more than {MOST_CALLS} calls of {call}")


@pytest.mark.parametrize("call", ["rename", "link", "unlink", "fsync"])
def test_an_undo_killed_at_any_file_changing_call_is_finished_by_the_next_run(
    make_sandbox: object, call: str
) -> None:
    for number in range(1, MOST_CALLS):
        world: Sandbox = make_sandbox(f"undo-{call}-{number}")  # type: ignore[operator]
        fill(world)
        before = world.snapshot()
        world.fake("claude").answers(all_three())
        world.run(NORMALIZE, None, "run", env=CLAUDE)
        after = world.snapshot()
        done = world.run(NORMALIZE, None, "undo", kill_at=(call, number))
        world.run(NORMALIZE, None, "undo", "--list")  # opens the journal, and so finishes what was begun
        assert world.snapshot() in (before, after), f"{call} {number}"
        world.close()
        if not done.was_killed:
            assert number > 1
            return
    raise AssertionError(f"more than {MOST_CALLS} calls of {call}")


def test_no_temporary_file_is_left_by_a_kill_and_a_second_run(make_sandbox: object) -> None:
    for number in range(1, 12):
        world: Sandbox = make_sandbox(f"tmp-{number}")  # type: ignore[operator]
        fill(world)
        world.fake("claude").answers(all_three())
        world.run(NORMALIZE, None, "run", env=CLAUDE, kill_at=("rename", number))
        finished(world)
        assert [name for name in world.adr_names() if name.endswith(".tmp")] == []
        assert CLEAN in world.adr_names()
        world.close()
