"""One worker a project: stops fired twice, ``--detach``, signals, and time-outs that end the process group."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from support import processes, programs
from support.agents import FakeAgent, Reply
from support.capture_runs import decision, log, pending, ready, session, stems, turn, wait_for
from support.claude_session import ClaudeSession
from support.cursor_session import CursorSession
from support.sandbox import CAPTURE, Sandbox

MODES = [(), ("--detach",)]


def fire(sandbox: Sandbox, payload: dict[str, object], *arguments: str) -> subprocess.Popen[bytes]:
    """Start the hook and give it its payload without waiting for it."""
    process = sandbox.start(CAPTURE, *arguments)
    assert process.stdin is not None
    process.stdin.write(json.dumps(payload).encode())
    process.stdin.close()
    process.stdin = None
    return process


def end(*fired: subprocess.Popen[bytes]) -> None:
    """Wait for hooks; each leaves with 0 and an empty stdout."""
    for process in fired:
        assert programs.finish(process, None, 30)[:3] == (0, "", "")


def in_a_call(agent: FakeAgent, number: int = 1) -> None:
    """Wait until the backend works on its number-th call."""
    wait_for(lambda: len(agent.calls) >= number)


# -- fired twice


@pytest.mark.parametrize("mode", MODES, ids=["foreground", "detached"])
def test_twelve_stops_fired_twice_at_once_make_twelve_calls_and_twelve_drafts(
    sandbox: Sandbox, mode: tuple[str, ...]
) -> None:
    pi = ready(sandbox)
    made = ClaudeSession(sandbox.home, sandbox.root)
    for number in range(1, 13):
        turn(made, number)
        pi.answers(Reply(stdout=decision(number), delay=0.05))
        end(*[fire(sandbox, made.payload(), *mode) for _ in range(2)])
        sandbox.settle()
    assert len(pi.calls) == 12
    assert stems(sandbox) == sorted(f"decision-{number}" for number in range(1, 13))
    assert pending(sandbox) == []
    for number, call in enumerate(pi.calls, 1):
        part = call.prompt.rpartition("[end of context]")[2]
        assert f"request {number} of" in part
        assert f"request {number - 1} of" not in part


@pytest.mark.parametrize("mode", MODES, ids=["foreground", "detached"])
def test_a_stop_that_comes_while_a_worker_works_is_seen_by_it(
    sandbox: Sandbox, mode: tuple[str, ...]
) -> None:
    pi = ready(sandbox).answers(Reply(stdout=decision(1), delay=1.0), decision(2), decision(3))
    first, second = session(sandbox, 1), session(sandbox, 2)
    begun = fire(sandbox, first.payload(), *mode)
    in_a_call(pi)
    turn(first, 2)
    end(fire(sandbox, first.payload(), "--detach"), fire(sandbox, second.payload(), "--detach"))
    end(begun)
    sandbox.settle()
    assert stems(sandbox) == ["decision-1", "decision-2", "decision-3"]
    assert len(pi.calls) == 3
    assert pending(sandbox) == []


def test_the_same_stop_again_while_a_worker_works_leaves_nothing_waiting(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(stdout=decision(1), delay=1.0))
    made = session(sandbox)
    end(fire(sandbox, made.payload(), "--detach"))
    in_a_call(pi)
    end(fire(sandbox, made.payload(), "--detach"))
    sandbox.settle()
    assert len(pi.calls) == 1
    assert pending(sandbox) == []


@pytest.mark.parametrize("mode", MODES, ids=["foreground", "detached"])
def test_first_stops_of_many_sessions_at_once_are_all_captured(
    sandbox: Sandbox, mode: tuple[str, ...]
) -> None:
    pi = ready(sandbox)
    stops = [session(sandbox, number) for number in range(1, 7)]
    for number, made in enumerate(stops, 1):
        pi.answers(Reply(stdout=decision(number), match=f"request 1 of {made.session_id[-1]}"))
    end(*[fire(sandbox, made.payload(), *mode) for made in stops])
    sandbox.settle()
    assert stems(sandbox) == [f"decision-{number}" for number in range(1, 7)]
    assert len(pi.calls) == 6
    assert pending(sandbox) == []


def test_a_failed_part_that_has_grown_meanwhile_is_tried_again_by_the_same_worker(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(stdout="no", delay=1.0), decision(2))
    made = session(sandbox)
    end(fire(sandbox, made.payload(), "--detach"))
    in_a_call(pi)
    turn(made, 2)
    end(fire(sandbox, made.payload(), "--detach"))
    sandbox.settle()
    assert stems(sandbox) == ["decision-2"]
    assert "request 1" in pi.calls[1].prompt


def test_two_copies_of_one_stop_spend_one_try_of_a_refused_part(sandbox: Sandbox) -> None:
    pi = ready(sandbox)
    pi.always(Reply(stdout="no", delay=0.5))
    made = session(sandbox)
    end(*[fire(sandbox, made.payload(), "--detach") for _ in range(2)])
    sandbox.settle()
    assert len(pi.calls) == 1
    assert len(pending(sandbox)) == 1


def test_a_turn_that_was_not_completed_is_not_taken_by_the_worker_at_work(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(stdout=decision(1), delay=1.0))
    made = CursorSession(sandbox.home, sandbox.root)
    made.user("first")
    made.assistant("done")
    end(fire(sandbox, made.payload(), "--detach"))
    in_a_call(pi)
    made.user("second")
    end(fire(sandbox, made.payload(status="aborted"), "--detach"))
    sandbox.settle()
    assert len(pi.calls) == 1
    assert len(pending(sandbox)) == 1


def test_a_run_in_the_foreground_waits_for_the_worker_and_takes_its_own_part(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(stdout=decision(1), delay=1.0), decision(2))
    end(fire(sandbox, session(sandbox, 1).payload(), "--detach"))
    in_a_call(pi)
    done = sandbox.capture(session(sandbox, 2).payload(), wait=False)
    assert done.rc == 0
    assert "decision-2" in stems(sandbox)
    sandbox.settle()


def test_waiting_for_the_worker_is_part_of_the_time_of_a_run_in_the_foreground(sandbox: Sandbox) -> None:
    pi = ready(sandbox)
    pi.always(Reply(hang=True))
    sandbox.environ["CAPTURE_DECISIONS_TIMEOUT"] = "2"
    end(fire(sandbox, session(sandbox, 1).payload(), "--detach"))
    in_a_call(pi)
    begun = time.monotonic()
    end(fire(sandbox, session(sandbox, 2).payload()))
    assert time.monotonic() - begun < 2 + 3


def test_in_the_foreground_the_sum_of_calls_stays_under_the_limit(sandbox: Sandbox) -> None:
    pi = ready(sandbox)
    pi.always("no")
    for number in (1, 2, 3, 4):
        sandbox.capture(session(sandbox, number).payload())
    pi.forget().always(Reply(hang=True))
    begun = time.monotonic()
    sandbox.capture(session(sandbox, 5).payload(), env={"CAPTURE_DECISIONS_TIMEOUT": "2"})
    assert time.monotonic() - begun < 6


def test_a_lock_file_that_stands_there_unheld_is_no_lock(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    sandbox.open_state()
    (sandbox.own_state / "worker.lock").write_text("12345")
    sandbox.capture(session(sandbox).payload())
    assert stems(sandbox) == ["decision-1"]


def test_a_lock_does_not_reach_the_backend(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    sandbox.capture(session(sandbox).payload())
    assert [path for path in pi.only_call.files if str(sandbox.root) in path] == []


# -- --detach


def test_detach_comes_back_while_its_worker_still_works(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(stdout=decision(), delay=1.5))
    done = sandbox.capture(session(sandbox).payload(), "--detach", wait=False)
    assert (done.rc, done.stdout, done.stderr) == (0, "", "")
    assert pi.ended == []
    assert sandbox.adr_names() == []
    sandbox.settle()
    assert stems(sandbox) == ["decision-1"]
    assert len(pi.calls) == 1


def test_the_worker_has_a_session_of_its_own_and_closed_streams(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(stdout=decision(), delay=1.5))
    process = fire(sandbox, session(sandbox).payload(), "--detach")
    end(process)  # its pipes have come to their end although the worker lives
    in_a_call(pi)
    workers = [pid for pid in sandbox.processes() if pid != pi.only_call.pid]
    assert workers
    assert all(os.getsid(pid) != process.pid for pid in workers)
    assert processes.is_alive(workers[0])
    sandbox.settle()


def test_the_end_of_the_hosts_process_group_does_not_reach_the_worker(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(stdout=decision(), delay=1.0))
    process = fire(sandbox, session(sandbox).payload(), "--detach")
    in_a_call(pi)
    programs.end_group(process)
    process.communicate()
    sandbox.settle()
    assert stems(sandbox) == ["decision-1"]


def test_the_worker_holds_no_stream_of_the_host_open(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(stdout=decision(), delay=1.5))
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [programs.script(CAPTURE), "--detach"],
        stdin=subprocess.PIPE,
        env=sandbox.environment(),
        cwd=sandbox.root,
        pass_fds=[writing],
    )
    os.close(writing)
    process.communicate(json.dumps(session(sandbox).payload()).encode())
    assert os.read(reading, 1) == b""
    assert pi.ended == []
    os.close(reading)
    sandbox.settle()
    assert stems(sandbox) == ["decision-1"]


def test_a_fault_in_the_worker_is_told_in_the_log(sandbox: Sandbox) -> None:
    code = (
        "import sys; from decision_hooks import cli; from decision_hooks.capture import worker\n"
        "def fail(*rest, **named): raise RuntimeError('broken')\n"
        "worker.work = fail; sys.argv = ['capture-decisions', '--detach']; sys.exit(cli.capture_main())"
    )
    command = [sys.executable, "-c", code]
    process = programs.start(command, environ=sandbox.environment(), cwd=sandbox.root)
    assert programs.finish(process, session(sandbox).payload(), 20)[:3] == (0, "", "")
    sandbox.settle()
    assert "fault: RuntimeError: broken" in log(sandbox)


# -- a defect of ours

BROKEN = (
    "import sys; from decision_hooks import cli; from decision_hooks.capture import part, run\n"
    "real = run.read_part\n"
    "def read(state, entry, **named):\n"
    "    if entry.session_id.endswith('1'): {what}\n"
    "    return real(state, entry, **named)\n"
    "run.read_part = read; sys.argv = ['capture-decisions']; sys.exit(cli.capture_main())"
)
DEFECTS = {"raised": "raise RuntimeError('broken')", "by the way": "[].pop()", "deep": "read(state, entry)"}


def broken(sandbox: Sandbox, payload: dict[str, object], what: str) -> None:
    """A stop of a program that breaks at the parts of the first session."""
    command = [sys.executable, "-c", BROKEN.format(what=what)]
    process = programs.start(command, environ=sandbox.environment(), cwd=sandbox.root)
    assert programs.finish(process, payload, 30)[:3] == (0, "", "")


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_in_one_part_ends_neither_the_worker_nor_the_others(sandbox: Sandbox, defect: str) -> None:
    pi = ready(sandbox).answers("no", decision(3), decision(2))
    first, second, third = (session(sandbox, number) for number in (1, 2, 3))
    sandbox.capture(second.payload())
    broken(sandbox, first.payload(), DEFECTS[defect])
    assert log(sandbox).count("fault: ") == 1
    assert "Traceback" in sandbox.log(CAPTURE)
    broken(sandbox, third.payload(), DEFECTS[defect])
    assert len(pi.calls) == 3
    assert [(one["tries"], one["defects"]) for one in pending(sandbox)] == [(0, 2)]
    pi.answers(decision(1))
    sandbox.capture(first.payload())
    assert stems(sandbox) == ["decision-1", "decision-2", "decision-3"]


def test_a_defect_before_a_part_is_read_holds_up_nobody_either(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers("no")
    first = session(sandbox, 1)
    sandbox.capture(first.payload())
    code = (
        "import sys; from decision_hooks import cli; from decision_hooks.capture import worker\n"
        "real = worker.may_be_read\n"
        "worker.may_be_read = lambda e, w: {}[1] if e.session_id.endswith('1') else real(e, w)\n"
        "sys.argv = ['capture-decisions']; sys.exit(cli.capture_main())"
    )
    for number in (2, 3, 4):
        pi.answers(Reply(stdout=decision(number), match=f"of {number}"))
        process = programs.start(
            [sys.executable, "-c", code], environ=sandbox.environment(), cwd=sandbox.root
        )
        made = session(sandbox, number)
        assert programs.finish(process, made.payload(), 30)[:3] == (0, "", "")
    assert stems(sandbox) == ["decision-2", "decision-3", "decision-4"]
    assert log(sandbox).count("fault: KeyError") == 3
    assert (pending(sandbox), len(os.listdir(sandbox.own_state / "aside"))) == ([], 1)


def test_the_third_time_the_same_defect_gives_the_part_up(sandbox: Sandbox) -> None:
    pi = ready(sandbox)
    first = session(sandbox, 1)
    for what in ("[].pop()", "{}.popitem()", "{}.popitem()"):
        broken(sandbox, first.payload(), what)
    assert len(pending(sandbox)) == 1
    broken(sandbox, first.payload(), "{}.popitem()")
    assert pending(sandbox) == []
    assert log(sandbox).count("given up after 3 tries") == 1
    pi.answers(decision(1))
    env = {"CAPTURE_DECISIONS_BACKEND": "pi"}
    assert sandbox.capture(None, "backfill", "--retry", env=env).rc == 0
    assert stems(sandbox) == ["decision-1"]


def test_drafts_that_a_defect_keeps_from_being_written_hold_up_nobody_else(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision(1), decision(2))
    (sandbox.root / "docs").write_text("in the way")
    first, second = session(sandbox, 1), session(sandbox, 2)
    sandbox.capture(first.payload())
    (sandbox.root / "docs").unlink()
    code = (
        "import sys; from decision_hooks import cli; from decision_hooks.capture import worker\n"
        "def fail(*rest): worker.finish_outbox = real; raise RuntimeError('broken')\n"
        "real, worker.finish_outbox = worker.finish_outbox, fail\n"
        "sys.argv = ['capture-decisions']; sys.exit(cli.capture_main())"
    )
    process = programs.start([sys.executable, "-c", code], environ=sandbox.environment(), cwd=sandbox.root)
    assert programs.finish(process, second.payload(), 30)[:3] == (0, "", "")
    assert stems(sandbox) == ["decision-2"]
    sandbox.capture(second.payload())
    assert stems(sandbox) == ["decision-1", "decision-2"]


# -- a worker that hangs


def test_a_worker_that_was_stopped_is_named_at_each_stop_and_by_status_and_doctor(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(stdout=decision(1), delay=0.5))
    pi.answers(Reply(stdout=decision(2), match="request 1 of 2"))  # doctor asks the agent, too
    end(fire(sandbox, session(sandbox, 1).payload(), "--detach"))
    in_a_call(pi)
    (worker,) = [pid for pid in sandbox.processes() if pid != pi.only_call.pid]
    shown = json.loads(sandbox.capture(None, "status", "--json", wait=False).stdout)["capture"]["worker"]
    assert (shown["pid"], shown["hangs"]) == (worker, False)
    os.kill(worker, signal.SIGSTOP)
    wait_for(lambda: "State:\tT" in _status(worker) or not _status(worker))
    end(fire(sandbox, session(sandbox, 2).payload(), "--detach"))
    wait_for(lambda: "hangs, since 20" in log(sandbox))
    assert f"pid {worker}; `kill -CONT {worker}`" in log(sandbox)
    for words in (("status",), ("status", "--json"), ("doctor",), ("doctor", "--json")):
        told = sandbox.capture(None, *words, wait=False).stdout
        assert f"kill -CONT {worker}" in told, words
    os.kill(worker, signal.SIGCONT)
    sandbox.settle()
    assert stems(sandbox) == ["decision-1", "decision-2"]
    assert json.loads(sandbox.capture(None, "status", "--json").stdout)["capture"]["worker"] is None
    assert "none at work" in sandbox.capture(None, "doctor").stdout


def test_a_run_in_the_foreground_does_not_wait_for_a_worker_that_hangs(sandbox: Sandbox) -> None:
    import fcntl

    ready(sandbox).always("NONE")
    sandbox.capture(session(sandbox, 1).payload())
    begun = time.monotonic()
    with (sandbox.own_state / "worker.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(f"{os.getpid()} 0.1 0.2\n")  # it was alive when the machine began
        lock.flush()
        sandbox.environ["CAPTURE_DECISIONS_TIMEOUT"] = "1"
        if time.monotonic() > 200:  # else the machine itself is younger than a worker may take
            sandbox.environ["CAPTURE_DECISIONS_TIMEOUT"] = "30"
            sandbox.capture(session(sandbox, 2).payload())
            assert time.monotonic() - begun < 20
            assert "another capture hangs" in log(sandbox)


def test_a_position_that_cannot_be_written_costs_three_calls_at_most(sandbox: Sandbox) -> None:
    pi = ready(sandbox).always("NONE")
    made = session(sandbox, 1)
    sandbox.capture(made.payload())
    [position] = (sandbox.own_state / "positions").iterdir()
    position.unlink()
    position.mkdir()
    (position / "x").touch()
    before = len(pi.calls)
    for number in range(2, 8):
        turn(made, number)
        assert sandbox.capture(made.payload()).rc == 0
    assert len(pi.calls) - before <= 3
    assert "fault" not in log(sandbox)


def test_stops_beside_a_worker_that_works_leave_no_line(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(stdout=decision(1), delay=1.0), decision(2), decision(3))
    end(fire(sandbox, session(sandbox, 1).payload(), "--detach"))
    in_a_call(pi)
    for number in (2, 3):
        end(fire(sandbox, session(sandbox, number).payload(), "--detach"))
    sandbox.settle()
    assert "hangs" not in log(sandbox)
    assert stems(sandbox) == ["decision-1", "decision-2", "decision-3"]


# -- signals and time-outs


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("grandchild", ["", "group"])
def test_a_signal_ends_the_backend_too_and_the_part_waits(
    sandbox: Sandbox, number: int, grandchild: str
) -> None:
    pi = ready(sandbox).answers(Reply(hang=True, grandchild=grandchild), decision())
    made = session(sandbox)
    process = fire(sandbox, made.payload())
    in_a_call(pi)
    if grandchild:
        wait_for(lambda: bool(pi.grandchildren))
    process.send_signal(number)
    end(process)
    assert sandbox.processes() == []
    assert sandbox.adr_names() == []
    assert len(pending(sandbox)) == 1
    sandbox.capture(made.payload())
    assert stems(sandbox) == ["decision-1"]


def test_a_second_signal_does_not_break_into_the_ending(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(hang=True, ignore_term=True))
    process = fire(sandbox, session(sandbox).payload())
    in_a_call(pi)
    wait_for(lambda: "SigIgn:\t0000000000000000" not in _status(pi.only_call.pid))
    for _ in range(3):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
    end(process)
    assert sandbox.processes() == []


def _status(pid: int) -> str:
    from pathlib import Path

    path = Path(f"/proc/{pid}/status")
    return path.read_text() if path.exists() else ""


def test_a_signal_to_the_worker_ends_its_backend_too(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(Reply(hang=True))
    end(fire(sandbox, session(sandbox).payload(), "--detach"))
    in_a_call(pi)
    (worker,) = [pid for pid in sandbox.processes() if pid != pi.only_call.pid]
    os.kill(worker, signal.SIGTERM)
    sandbox.settle(10)
    assert len(pending(sandbox)) == 1


def test_no_backend_is_left_behind_by_a_signal_at_any_moment(sandbox: Sandbox) -> None:
    pi = ready(sandbox)
    pi.always(Reply(hang=True))
    made = session(sandbox)
    for step in range(12):
        process = fire(sandbox, made.payload())
        time.sleep(0.04 + 0.015 * step)
        process.send_signal(signal.SIGTERM)
        rc = process.wait(timeout=20)
        process.communicate()
        assert rc in (0, -signal.SIGTERM)  # before Python has come so far, the signal ends it as any program
        assert sandbox.processes() == []


@pytest.mark.parametrize(
    "behaviour", [{}, {"ignore_term": True}, {"grandchild": "group"}, {"read_stdin": False}]
)
def test_a_time_out_ends_the_whole_process_group(sandbox: Sandbox, behaviour: dict[str, object]) -> None:
    pi = ready(sandbox).answers(Reply(hang=True, **behaviour))  # type: ignore[arg-type]
    made = session(sandbox)
    made.user("long " * 40_000)  # more than a pipe holds
    done = sandbox.capture(made.payload(), wait=False, env={"CAPTURE_DECISIONS_TIMEOUT": "1"})
    assert done.seconds < 7
    assert sandbox.processes() == []
    assert "timeout" in done.log
    assert len(pi.calls) == 1


def test_a_backend_that_ends_leaves_no_grandchild_that_holds_its_stdout(sandbox: Sandbox) -> None:
    ready(sandbox).answers(Reply(stdout=decision(), grandchild="group"))
    done = sandbox.capture(session(sandbox).payload(), wait=False)
    assert done.seconds < 5
    assert stems(sandbox) == ["decision-1"]
    assert sandbox.processes() == []


def test_a_backend_that_does_not_read_its_stdin_is_heard(sandbox: Sandbox) -> None:
    ready(sandbox).answers(Reply(stdout=decision(), read_stdin=False))
    made = session(sandbox)
    made.user("long " * 40_000)
    sandbox.capture(made.payload())
    assert stems(sandbox) == ["decision-1"]


def test_a_backend_that_never_stops_talking_is_ended(sandbox: Sandbox) -> None:
    flood = "import os\nwhile True: os.write(1, b'x' * 65536)"
    ready(sandbox).answers(Reply(python=flood))
    done = sandbox.capture(session(sandbox).payload(), wait=False, env={"CAPTURE_DECISIONS_TIMEOUT": "20"})
    assert done.rc == 0
    assert sandbox.processes() == []
    assert sandbox.adr_names() == []


def test_nothing_is_left_in_the_folder_for_temporary_files(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision(), Reply(hang=True))
    made = session(sandbox)
    sandbox.capture(made.payload())
    turn(made, 2)
    sandbox.capture(made.payload(), env={"CAPTURE_DECISIONS_TIMEOUT": "1"})
    assert list(sandbox.temporary.iterdir()) == []
