"""Parts that wait: tries, giving up, other sessions, the circuit breaker and the daily cap."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support import programs
from support.agents import Reply
from support.capture_runs import (
    decision,
    edit_state,
    log,
    part_of,
    pending,
    positions,
    ready,
    session,
    stems,
    turn,
    wait_for,
)  # fmt: skip
from support.claude_session import ClaudeSession
from support.sandbox import CAPTURE, Sandbox

CREDIT = "Credit balance is too low"
FAILURES: dict[str, Reply] = {
    "refused": Reply(stdout="Sure! Let me go on with the work."),
    "empty": Reply(stdout=" \n"),
    "exit code": Reply(exit=3, stderr="boom"),
    "killed": Reply(signal=9),
}


def given_up(sandbox: Sandbox) -> int:
    return log(sandbox).count("given up after 3 tries")


# -- tries


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_a_part_that_failed_waits_for_the_next_stop(sandbox: Sandbox, failure: Reply) -> None:
    pi = ready(sandbox).answers(failure, decision())
    made = session(sandbox)
    done = sandbox.capture(made.payload())
    assert (done.rc, done.stdout) == (0, "")
    assert sandbox.adr_names() == []
    assert len(pending(sandbox)) == 1
    sandbox.capture(made.payload())
    assert stems(sandbox) == ["decision-1"]
    assert pending(sandbox) == []
    assert part_of(pi.calls[0].prompt) == part_of(pi.calls[1].prompt)


@pytest.mark.parametrize("failure", [FAILURES["refused"], FAILURES["killed"]], ids=["refused", "killed"])
def test_a_part_is_tried_three_times_in_all(sandbox: Sandbox, failure: Reply) -> None:
    pi = ready(sandbox)
    pi.always(failure)
    made = session(sandbox)
    for _ in range(4):
        sandbox.capture(made.payload())
    assert len(pi.calls) == 3
    assert given_up(sandbox) == 1
    assert "backfill --retry" in log(sandbox)
    assert pending(sandbox) == []


def test_what_comes_after_a_part_that_was_given_up_is_captured(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers("no", "no", "no", decision(2))
    made = session(sandbox)
    for _ in range(3):
        sandbox.capture(made.payload())
    turn(made, 2)
    sandbox.capture(made.payload())
    assert stems(sandbox) == ["decision-2"]
    assert "request 1" not in part_of(pi.calls[3].prompt)


def test_a_session_that_goes_on_does_not_begin_its_tries_anew(sandbox: Sandbox) -> None:
    pi = ready(sandbox)
    pi.always("no")
    made = session(sandbox)
    for number in (2, 3, 4):
        sandbox.capture(made.payload())
        turn(made, number)
    assert len(pi.calls) == 3
    assert given_up(sandbox) == 1


def test_a_part_that_timed_out_waits(sandbox: Sandbox) -> None:
    ready(sandbox).answers(Reply(hang=True), decision())
    made = session(sandbox)
    done = sandbox.capture(made.payload(), env={"CAPTURE_DECISIONS_TIMEOUT": "1"})
    assert "timeout" in done.log
    assert len(pending(sandbox)) == 1
    sandbox.capture(made.payload())
    assert stems(sandbox) == ["decision-1"]


def test_a_part_that_ended_three_runs_is_given_up_without_a_fourth(sandbox: Sandbox) -> None:
    pi = ready(sandbox)
    pi.always(Reply(hang=True))
    made = session(sandbox)
    for number in (1, 2, 3):
        process = sandbox.start(CAPTURE)
        assert process.stdin is not None
        process.stdin.write(json.dumps(made.payload()).encode())
        process.stdin.close()
        process.stdin = None
        wait_for(lambda: len(pi.calls) == number)  # noqa: B023
        process.kill()
        process.communicate()
        os.kill(pi.calls[-1].pid, 9)
    pi.forget().always("NONE")
    sandbox.capture(made.payload())
    assert len(pi.calls) == 3
    assert given_up(sandbox) == 1
    assert pending(sandbox) == []
    turn(made, 2)
    sandbox.capture(made.payload())
    assert "request 2" in part_of(pi.calls[3].prompt)
    assert "request 1" not in part_of(pi.calls[3].prompt)


def test_a_program_that_cannot_start_costs_no_try(sandbox: Sandbox) -> None:
    pi = ready(sandbox)
    pi.path.write_text("#!/nowhere/interpreter\n")
    made = session(sandbox)
    for _ in range(5):
        sandbox.capture(made.payload())
    assert "pi: start: " in log(sandbox)
    sandbox.fake("pi").answers(decision())
    sandbox.capture(made.payload())
    assert stems(sandbox) == ["decision-1"]


# -- no backend, no model


@pytest.mark.parametrize("backend", ["pi", "claude", "cursor-agent", "auto", "nonsense"])
def test_no_backend_is_a_skip_and_nothing_waits(sandbox: Sandbox, backend: str) -> None:
    sandbox.capture(session(sandbox).payload(), env={"CAPTURE_DECISIONS_BACKEND": backend})
    assert pending(sandbox) == []


def test_no_old_session_leaves_the_machine_the_day_a_backend_is_set(sandbox: Sandbox) -> None:
    old, new = session(sandbox, 1), session(sandbox, 2)
    sandbox.capture(old.payload())
    pi = ready(sandbox).always("NONE")
    sandbox.capture(new.payload())
    assert len(pi.calls) == 1
    assert "of 2" in pi.only_call.prompt
    assert "of 1" not in pi.only_call.prompt


# -- other sessions


def test_the_next_stop_of_any_session_takes_what_waits_after_its_own_part(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers("no", decision(2), decision(1))
    first, second = session(sandbox, 1), session(sandbox, 2)
    sandbox.capture(first.payload())
    sandbox.capture(second.payload())
    assert "of 2" in pi.calls[1].prompt
    assert "of 1" in pi.calls[2].prompt
    assert stems(sandbox) == ["decision-1", "decision-2"]


def test_at_most_five_parts_of_other_sessions_are_taken_by_one_stop(sandbox: Sandbox) -> None:
    pi = ready(sandbox)
    pi.always(Reply(exit=1, stderr=CREDIT))
    for number in range(1, 9):
        sandbox.capture(session(sandbox, number).payload())
    wake(sandbox)
    pi.forget().always("NONE")
    before = len(pi.calls)
    sandbox.capture(session(sandbox, 9).payload())
    assert len(pi.calls) - before == 6
    assert len(pending(sandbox)) == 3


def test_a_part_older_than_seven_days_is_not_taken(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers("no", "NONE")
    sandbox.capture(session(sandbox, 1).payload())
    age = time.time() - 7 * 86400 - 60
    edit_state(sandbox, "pending", lambda value: value.update(stop=age, first=age, tried=age))
    sandbox.capture(session(sandbox, 2).payload())
    assert "of 2" in pi.calls[1].prompt
    assert len(pi.calls) == 2


def test_a_try_in_the_future_is_void(sandbox: Sandbox) -> None:
    ready(sandbox).answers("no", decision())
    made = session(sandbox)
    sandbox.capture(made.payload())
    edit_state(sandbox, "pending", lambda value: value.update(tried=time.time() + 9e6))
    sandbox.capture(made.payload())
    assert stems(sandbox) == ["decision-1"]


def test_a_waiting_part_whose_file_has_gone_does_not_hold_up_others(sandbox: Sandbox) -> None:
    ready(sandbox).answers("no", decision(2))
    first, second = session(sandbox, 1), session(sandbox, 2)
    sandbox.capture(first.payload(last_assistant_message=""))
    first.path.unlink()
    sandbox.capture(second.payload())
    assert stems(sandbox) == ["decision-2"]
    assert pending(sandbox) == []


def test_a_waiting_part_of_a_work_tree_is_drafted_there(sandbox: Sandbox) -> None:
    ready(sandbox).answers("no", decision(2), decision(1))
    tree = sandbox.worktree("feature")
    made = ClaudeSession(sandbox.home, tree, "5e551011-0000-4000-8000-0000000000aa")
    made.user("decide")
    made.assistant("decided")
    sandbox.capture(made.payload(), cwd=tree)
    sandbox.capture(session(sandbox, 2).payload())
    assert stems(sandbox) == ["decision-2"]
    assert [name[-13:] for name in os.listdir(tree / "docs" / "adr")] == ["decision-1.md"]


def test_a_copy_of_a_project_does_not_draft_for_the_first(make_sandbox: Callable[..., Sandbox]) -> None:
    first, copy = make_sandbox("first"), make_sandbox("copy")
    (first.root / "docs").write_text("in the way")
    ready(first).answers(decision(1), "no")
    first.capture(session(first, 1).payload())
    first.capture(session(first, 2).payload())
    assert pending(first)
    shutil.copytree(first.hooks, copy.hooks)
    shutil.copytree(first.home / ".local", copy.home / ".local")  # one person has both
    (first.root / "docs").unlink()
    pi = ready(copy).answers(decision(3))
    copy.capture(session(copy, 3).payload())
    assert (stems(copy), stems(first), len(pi.calls)) == (["decision-3"], [], 1)
    assert pending(copy) == []


def test_drafts_that_cannot_be_written_hold_up_their_own_session_only(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision(1), decision(2))
    tree = sandbox.worktree("feature")
    made = ClaudeSession(sandbox.home, tree, "5e551011-0000-4000-8000-0000000000aa")
    made.user("decide")
    made.assistant("decided")
    (tree / "docs").write_text("in the way")
    sandbox.capture(made.payload(), cwd=tree)
    sandbox.capture(session(sandbox, 2).payload())
    assert stems(sandbox) == ["decision-2"]
    (tree / "docs").unlink()
    sandbox.capture(made.payload(), cwd=tree)
    assert [name[-13:] for name in os.listdir(tree / "docs" / "adr")] == ["decision-1.md"]
    assert len(pi.calls) == 2


COUNT = (
    "import sys; from decision_hooks.system import files; from decision_hooks import cli\n"
    "read, oldest, seen = files.read_bytes, files.oldest, []\n"
    "files.read_bytes = lambda *rest, **more: (seen.append(rest), read(*rest, **more))[1]\n"
    "place, sys.argv = sys.argv[1], ['capture-decisions']; cli.capture_main()\n"
    "open(place, 'w').write(str(len(seen)))"
)


def test_a_stop_reads_no_more_files_however_many_parts_wait_and_sessions_were_captured(
    sandbox: Sandbox,
) -> None:
    ready(sandbox).always("NONE")
    made = session(sandbox, 1)
    sandbox.capture(made.payload())
    [position] = (sandbox.own_state / "positions").iterdir()
    value = {"transcript": str(made.path.with_name("gone.jsonl")), "session_id": "s", "stop": time.time()}
    value["root"] = str(sandbox.root)
    counted = []
    for first, last in ((0, 20), (20, 420)):
        for number in range(first, last):
            key = f"{number:020x}"
            shutil.copy(position, position.with_name(f"{key}.json"))
            text = json.dumps(value | {"key": key, "serial": key})
            sandbox.write(f".claude/hooks/.decision-hooks/pending/{key}.json", text)
        (sandbox.own_state / "swept").unlink(missing_ok=True)
        place = sandbox.base / "count"
        command = [sys.executable, "-c", COUNT, str(place)]
        process = programs.start(command, environ=sandbox.environment(), cwd=sandbox.root)
        assert programs.finish(process, made.payload(), 30)[0] == 0
        counted.append(int(place.read_text()))
    assert 0 < counted[1] <= counted[0] + 5, counted


# -- circuit breaker


def wake(sandbox: Sandbox) -> None:
    """Let the time of every open breaker pass."""
    edit_state(sandbox, "breaker", lambda value: value.update(until=time.time() - 1))


def breaker(sandbox: Sandbox) -> dict[str, object]:
    (path,) = (sandbox.own_state / "breaker").iterdir()
    value = json.loads(path.read_text())
    assert isinstance(value, dict)
    return value


TROUBLES = [
    Reply(stdout="Not logged in. Please run /login"),
    Reply(stderr="429 Too Many Requests", exit=1),
]


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda reply: (reply.stdout or reply.stderr)[:24])
def test_credit_login_and_limits_stop_calls_and_leave_the_part_waiting(
    sandbox: Sandbox, trouble: Reply
) -> None:
    pi = ready(sandbox).answers(trouble)
    made = session(sandbox)
    for _ in range(3):
        assert sandbox.capture(made.payload()).rc == 0
    assert len(pi.calls) == 1
    assert sandbox.adr_names() == []
    assert len(pending(sandbox)) == 1
    assert "paused until" in log(sandbox)
    wake(sandbox)
    pi.answers(decision())
    sandbox.capture(made.payload())
    assert stems(sandbox) == ["decision-1"]


def test_the_pause_is_15_minutes_doubled_and_reset_by_a_success(sandbox: Sandbox) -> None:
    pi = ready(sandbox)
    pi.always(Reply(stdout=CREDIT, exit=1))
    made = session(sandbox)
    pauses = []
    for _ in range(3):
        begun = time.time()
        sandbox.capture(made.payload())
        pauses.append(round((float(str(breaker(sandbox)["until"])) - begun) / 60))
        wake(sandbox)
    assert pauses == [15, 30, 60]
    pi.forget().answers("NONE")
    sandbox.capture(made.payload())
    assert list((sandbox.own_state / "breaker").iterdir()) == []


def test_a_pause_further_ahead_than_six_hours_is_void(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(stdout=CREDIT, exit=1), decision())
    made = session(sandbox)
    sandbox.capture(made.payload())
    edit_state(sandbox, "breaker", lambda value: value.update(until=time.time() + 7 * 3600))
    sandbox.capture(made.payload())
    assert len(pi.calls) == 2


def test_a_pause_is_of_one_backend_and_model(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(stdout=CREDIT, exit=1), decision())
    made = session(sandbox)
    sandbox.capture(made.payload())
    sandbox.capture(made.payload(), env={"CAPTURE_DECISIONS_PI_MODEL": "another"})
    assert [call.option("--model") for call in pi.calls] == ["tiny-model", "another"]


def test_a_run_by_hand_probes_in_spite_of_the_pause(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(stdout=CREDIT, exit=1), decision())
    made = session(sandbox)
    sandbox.capture(made.payload())
    rc, out, err = sandbox.on_terminal(
        CAPTURE, f"--transcript={made.path}", f"--session-id={made.session_id}"
    )
    assert (rc, out) == (0, "")
    assert len(pi.calls) == 2
    (name,) = sandbox.drafts()
    assert err == f"capture-decisions: wrote: {sandbox.adr / name}\n"


def test_an_open_breaker_is_no_reason_to_ask_another_backend(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(stdout=CREDIT, exit=1))
    claude = sandbox.fake("claude")
    sandbox.environ["CAPTURE_DECISIONS_BACKEND"] = "auto"
    made = session(sandbox)
    for _ in range(3):
        sandbox.capture(made.payload())
    assert len(pi.calls) == 1
    assert claude.calls == []


def test_a_paused_backend_costs_no_try(sandbox: Sandbox) -> None:
    ready(sandbox).answers(Reply(stdout=CREDIT, exit=1))
    made = session(sandbox)
    for _ in range(4):
        sandbox.capture(made.payload())
    assert [entry["tries"] for entry in pending(sandbox)] == [0]


# -- ledger and cap


def ledger(sandbox: Sandbox) -> list[dict[str, object]]:
    return [
        json.loads(line)
        for path in sorted((sandbox.own_state / "ledger").glob("*.jsonl"))
        for line in path.read_text().splitlines()
    ]


def test_each_call_is_one_line_of_the_ledger_of_its_month(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision(), Reply(exit=1, stderr=CREDIT))
    made = session(sandbox)
    sandbox.capture(made.payload())
    turn(made, 2)
    sandbox.capture(made.payload())
    first, second = ledger(sandbox)
    assert Path(next((sandbox.own_state / "ledger").iterdir())).name == time.strftime(
        "%Y-%m.jsonl", time.gmtime()
    )
    assert (first["program"], first["backend"], first["model"]) == (CAPTURE, "pi", "tiny-model")
    assert first["result"] == "ok"
    assert first["characters_out"] == len(decision())
    assert 0 < int(str(first["characters_in"])) <= len(pi.calls[0].prompt)
    assert float(str(first["seconds"])) > 0
    assert first["cost"] is None
    assert second["result"] == "credit"


@pytest.mark.parametrize(("cap", "calls"), [("0", 0), ("2", 2)])
def test_the_daily_cap_stops_calls_and_leaves_the_part_waiting(
    sandbox: Sandbox, cap: str, calls: int
) -> None:
    pi = ready(sandbox).always("NONE")
    sandbox.environ["ADR_DAILY_CALLS"] = cap
    for number in (1, 2, 3):
        sandbox.capture(session(sandbox, number).payload())
    assert len(pi.calls) == calls
    assert "ADR_DAILY_CALLS" in log(sandbox)
    assert len(pending(sandbox)) == 3 - calls
    assert {entry["tries"] for entry in pending(sandbox)} == {0}


def test_calls_of_yesterday_do_not_count(sandbox: Sandbox) -> None:
    pi = ready(sandbox).always("NONE")
    sandbox.environ["ADR_DAILY_CALLS"] = "1"
    sandbox.capture(session(sandbox, 1).payload())
    for path in (sandbox.own_state / "ledger").iterdir():
        path.write_text(path.read_text().replace('"time":"20', '"time":"19'))
    sandbox.capture(session(sandbox, 2).payload())
    assert len(pi.calls) == 2


def test_nothing_new_costs_no_call_of_the_day(sandbox: Sandbox) -> None:
    ready(sandbox).always("NONE")
    made = session(sandbox)
    for _ in range(3):
        sandbox.capture(made.payload())
    assert len(ledger(sandbox)) == 1
    assert len(positions(sandbox)) == 1
