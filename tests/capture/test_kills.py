"""A kill at any call that changes files, and a second stop: no decision is lost, none is drafted twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.capture_runs import decision, log, pending, positions, ready, session, stems
from support.sandbox import Sandbox

MakeSandbox = Callable[..., Sandbox]
MOST = 60  # calls of a kind that a capture may make


def stop_with_two_decisions(sandbox: Sandbox) -> dict[str, object]:
    """A stop to be captured; the backend answers each call with the same two decisions."""
    program = ready(sandbox).path  # a small shell script: some hundred runs are made here
    program.write_text(f"#!/bin/sh\ncat >/dev/null\ncat <<'END'\n{decision(1)}\n{decision(2)}\nEND\n")
    return session(sandbox).payload()


def assert_each_decision_once(sandbox: Sandbox, where: str) -> None:
    """Both drafts are there, once, and nothing waits or lies about."""
    told = f"{where}: {sandbox.adr_names()}\n{log(sandbox)}"
    assert stems(sandbox) == ["decision-1", "decision-2"], told
    assert len(sandbox.adr_names()) == 2, told
    assert pending(sandbox) == [], told
    assert len(positions(sandbox)) == 1, told
    assert list((sandbox.own_state / "outbox").glob("*.json")) == [], told


@pytest.mark.parametrize("call", ["fsync", "link", "mkdir", "rename", "unlink", "write"])
def test_a_kill_at_any_call_and_a_second_stop_leave_each_decision_once(
    make_sandbox: MakeSandbox, call: str
) -> None:
    for number in range(1, MOST):
        sandbox = make_sandbox(f"{call}-{number}")
        payload = stop_with_two_decisions(sandbox)
        done = sandbox.capture(payload, kill_at=(call, number))
        assert (done.stdout, done.stderr) == ("", "")
        if not done.was_killed:
            break
        again = sandbox.capture(payload)
        assert (again.rc, again.stdout) == (0, "")
        assert_each_decision_once(sandbox, f"{call} {number}")
    assert_each_decision_once(sandbox, "to its end")
    assert 1 < number < MOST - 1


@pytest.mark.parametrize(
    ("call", "number"), [("fsync", 3), ("rename", 3), ("rename", 4), ("link", 2), ("write", 9)]
)
def test_a_kill_of_the_worker_or_of_the_hook_before_it_loses_nothing_either(
    make_sandbox: MakeSandbox, call: str, number: int
) -> None:
    sandbox = make_sandbox()
    payload = stop_with_two_decisions(sandbox)
    sandbox.capture(payload, "--detach", kill_at=(call, number), follow=True)
    sandbox.capture(payload, "--detach")
    assert_each_decision_once(sandbox, f"{call} {number}")


@pytest.mark.parametrize("drafts_there", [1, 2])
def test_the_stop_of_another_session_finishes_what_was_killed(
    make_sandbox: MakeSandbox, drafts_there: int
) -> None:
    call = "link" if drafts_there == 1 else "rename"
    for number in range(1, MOST):
        sandbox = make_sandbox(f"{number}")
        killed = sandbox.capture(stop_with_two_decisions(sandbox), kill_at=(call, number))
        assert killed.was_killed
        if len(sandbox.drafts()) == drafts_there:
            break
    assert len(list((sandbox.own_state / "outbox").glob("*.json"))) == 1
    sandbox.fake("pi").always("NONE")
    sandbox.capture(session(sandbox, 2).payload())
    assert stems(sandbox) == ["decision-1", "decision-2"]
    assert pending(sandbox) == []
