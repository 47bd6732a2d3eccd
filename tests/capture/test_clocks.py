"""A clock that is set forward or back, for one stop or for good: nothing is lost, doubled or multiplied."""

from __future__ import annotations

import os
import time

import pytest

from support.agents import Reply
from support.capture_runs import (
    at_clock,
    decision,
    edit_state,
    log,
    pending,
    positions,
    ready,
    session,
    stems,
    turn,
)
from support.sandbox import CAPTURE, Sandbox

DAY = 86400.0
CREDIT = "Credit balance is too low"
JUMPS = [8 * DAY, 61 * DAY, 4000 * DAY, -8 * DAY, -4000 * DAY]


@pytest.mark.parametrize("ahead", JUMPS)
def test_a_part_that_waits_outlives_stops_with_a_wrong_clock(sandbox: Sandbox, ahead: float) -> None:
    pi = ready(sandbox).answers("no")
    sandbox.capture(session(sandbox, 1).payload())
    pi.answers(Reply(stdout="NONE", match="request 1 of 2"))
    for _ in range(3 if ahead > 0 else 1):  # where the part looks young each stop tries it
        at_clock(sandbox, CAPTURE, session(sandbox, 2).payload(), ahead)
    pi.answers(Reply(stdout=decision(1), match="request 1 of 1"), Reply(stdout="NONE", match="of 3"))
    sandbox.capture(session(sandbox, 3).payload())
    assert stems(sandbox) == ["decision-1"]
    assert pending(sandbox) == []


@pytest.mark.parametrize("ahead", JUMPS)
def test_what_was_captured_is_not_captured_again_after_a_wrong_clock(sandbox: Sandbox, ahead: float) -> None:
    pi = ready(sandbox)
    pi.always(decision(1))
    made = session(sandbox, 1)
    sandbox.capture(made.payload())
    for path in (sandbox.own_state / "positions").iterdir():
        os.utime(path, (time.time() - 5 * DAY,) * 2)
    for clock in (ahead, 0.0, ahead + 2 * DAY, 0.0):
        at_clock(sandbox, CAPTURE, made.payload(), clock)
    assert (len(pi.calls), stems(sandbox)) == (1, ["decision-1"])
    assert len(positions(sandbox)) == 1
    turn(made, 2)
    sandbox.capture(made.payload())
    assert len(pi.calls) == 2


def test_an_old_part_is_given_up_with_a_line_after_a_day_and_can_be_retried(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers("no", "NONE")
    sandbox.capture(session(sandbox, 1).payload())
    age = time.time() - 8 * DAY
    edit_state(sandbox, "pending", lambda value: value.update(stop=age, first=age, tried=age))
    other = session(sandbox, 2)
    for _ in range(3):
        sandbox.capture(other.payload())
    assert len(pending(sandbox)) == 1
    edit_state(sandbox, "pending", lambda value: value.update(old_since=value["old_since"] - DAY))
    sandbox.capture(other.payload())
    assert "given up after 7 days" in log(sandbox)
    assert (pending(sandbox), len(pi.calls)) == ([], 2)
    pi.answers(decision(1))
    env = {"CAPTURE_DECISIONS_BACKEND": "pi"}
    assert sandbox.capture(None, "backfill", "--retry", env=env).rc == 0
    assert stems(sandbox) == ["decision-1"]


@pytest.mark.parametrize("ahead", [3 * DAY, -3 * DAY])
def test_a_stop_takes_five_others_whatever_their_stamps_say(sandbox: Sandbox, ahead: float) -> None:
    pi = ready(sandbox)
    pi.always(Reply(exit=1, stderr=CREDIT))
    for number in range(1, 9):
        at_clock(sandbox, CAPTURE, session(sandbox, number).payload(), ahead)
    for path in (sandbox.own_state / "breaker").iterdir():
        path.unlink()
    pi.forget().always("NONE")
    before = len(pi.calls)
    sandbox.capture(session(sandbox, 9).payload())
    assert len(pi.calls) - before == 6
    assert len(pending(sandbox)) == 3


@pytest.mark.parametrize("ahead", [3 * 3600.0, 30 * DAY])
def test_a_pause_that_began_at_a_wrong_clock_is_no_longer_than_any(sandbox: Sandbox, ahead: float) -> None:
    pi = ready(sandbox).answers(Reply(exit=1, stderr=CREDIT), decision(1))
    made = session(sandbox, 1)
    at_clock(sandbox, CAPTURE, made.payload(), ahead)
    sandbox.capture(made.payload())
    assert (len(pi.calls), stems(sandbox)) == (2, ["decision-1"])


def test_two_workers_spend_one_try_each_stop_under_any_clock(sandbox: Sandbox) -> None:
    pi = ready(sandbox)
    pi.always("no")
    made = session(sandbox, 1)
    for number, ahead in enumerate((0.0, 9 * DAY, -9 * DAY), 1):
        at_clock(sandbox, CAPTURE, made.payload(), ahead)
        assert len(pi.calls) == number
    assert log(sandbox).count("given up after 3 tries") == 1


def test_the_wait_for_the_worker_ends_although_the_clock_is_set_back(sandbox: Sandbox) -> None:
    import fcntl
    import sys

    from support import programs

    ready(sandbox).always("NONE")
    sandbox.environ["CAPTURE_DECISIONS_TIMEOUT"] = "1"
    sandbox.capture(session(sandbox, 1).payload())
    code = (
        "import sys, time; real = time.time; start = time.monotonic()\n"
        "time.time = lambda: real() - 3600 * (time.monotonic() - start > 0.5)\n"
        "from decision_hooks import cli; sys.argv = ['capture-decisions']; sys.exit(cli.capture_main())"
    )
    with (sandbox.own_state / "worker.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = programs.start(
            [sys.executable, "-c", code], environ=sandbox.environment(), cwd=sandbox.root
        )
        assert programs.finish(process, session(sandbox, 2).payload(), 20)[0] == 0
