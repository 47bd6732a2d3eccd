"""``backfill``: sessions that no stop has captured, one after the other, within the daily cap."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from decision_hooks.system.project import project_at
from decision_hooks.transcripts import find
from support import programs
from support.adr_texts import block, draft
from support.agents import Call, FakeAgent, Reply, claude_json
from support.capture_runs import capture_at_once
from support.claude_session import ClaudeSession
from support.codex_session import CodexSession
from support.cursor_session import CursorSession
from support.pi_session import PiSession
from support.sandbox import CAPTURE, Sandbox
from support.transcript import START

BACKEND = {"CAPTURE_DECISIONS_BACKEND": "claude"}
CHOICES = {"CAPTURE_DECISIONS_BACKEND": "choices"}
OPTIONS = (("SQLite", "one file"), ("Redis", "a server"))


def session(sandbox: Sandbox, number: int, *, text: str = "", age_days: float = 1.0) -> ClaudeSession:
    """A session of the project in the host's folder, last changed some days ago."""
    made = ClaudeSession(
        sandbox.home,
        sandbox.root,
        f"5e551011-0000-4000-8000-{number:012d}",
        start=START + timedelta(hours=number),
    )
    made.user(text or f"Request number {number}: which cache?")
    made.question("Which cache?", OPTIONS, "SQLite")
    made.assistant(f"SQLite it is, number {number}.")
    aged(made.path, age_days)
    return made


def aged(path: Path, days: float) -> None:
    when = time.time() - days * 86400
    os.utime(path, (when, when))


def planned(sandbox: Sandbox, *arguments: str, **options: Any) -> list[dict[str, Any]]:
    done = sandbox.capture(None, "backfill", "--dry-run", "--json", *arguments, **options)
    assert done.rc == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["sessions"]
    return found


@pytest.fixture
def claude(sandbox: Sandbox) -> FakeAgent:
    return sandbox.fake("claude")


# -- what would be sent


def test_the_list_shows_file_time_size_and_the_first_request_and_sends_nothing(
    sandbox: Sandbox, claude: FakeAgent
) -> None:
    secret = "sk-ant-" + "api03-" + "Demo0" * 8
    made = session(sandbox, 1, text=f"Use {secret} for {sandbox.home}/x.\nThen choose a cache.")
    before = sandbox.snapshot(without=(".git",))
    done = sandbox.capture(None, "backfill", "--dry-run", env=BACKEND)
    assert done.rc == 0
    assert "~/.claude/projects/*/5e551011-0000-4000-8000-000000000001.jsonl" in done.stdout
    assert "for ~/x. Then choose a cache." in done.stdout
    assert secret not in done.stdout
    assert "1 session" in done.stdout
    assert "claude CLI, model sonnet" in done.stdout
    assert claude.calls == []
    assert sandbox.snapshot(without=(".git",)) == before
    [one] = planned(sandbox)
    assert (one["host"], one["session"], one["requests"]) == ("claude", made.session_id, 1)
    assert one["bytes"] == made.path.stat().st_size
    assert one["time"] == "2026-03-04T06:06:11+00:00"


def test_sessions_of_all_hosts_are_found(sandbox: Sandbox) -> None:
    for host in (ClaudeSession, CodexSession, PiSession, CursorSession):
        made = host(sandbox.home, sandbox.root)
        made.user("Which cache?")
        made.assistant("SQLite.")
    found = {one["host"]: one["session"] for one in planned(sandbox)}
    assert found == {
        "claude": "5e551011-0000-4000-8000-000000000001",
        "codex": "01a22a71-dd16-7c32-bcd5-9d1a13ec0001",
        "pi": "01a22a64-20a4-7234-949a-194194277001",
        "cursor": "668320d2-2fd8-4888-b33c-2a466fec0001",
    }


def test_sessions_of_another_place_with_the_same_folder_name_are_not_ours(
    make_sandbox: Callable[..., Sandbox],
) -> None:
    sandbox = make_sandbox(project="my-project")
    other = sandbox.base / "my.project"
    other.mkdir()
    theirs = ClaudeSession(sandbox.home, other)
    theirs.user("A secret of another project.")
    assert theirs.path.parent.name == "".join(c if c.isalnum() else "-" for c in str(sandbox.root))
    assert planned(sandbox) == []
    assert [one["session"] for one in planned(sandbox, cwd=other)] == [theirs.session_id]


@pytest.mark.parametrize("host", [CodexSession, PiSession])
def test_sessions_of_other_projects_and_work_trees_are_not_ours(sandbox: Sandbox, host: type) -> None:
    tree = sandbox.worktree(f"{sandbox.root.name}/inner")
    for number, cwd in enumerate((sandbox.base, tree, sandbox.root / "src")):
        cwd.mkdir(exist_ok=True)
        made = host(sandbox.home, cwd, f"01a22a64-20a4-7234-949a-19419427700{number}")
        made.user("Which cache?")
    assert [one["session"][-1] for one in planned(sandbox)] == ["2"]
    assert [one["session"][-1] for one in planned(sandbox, cwd=tree)] == ["1"]


def test_old_sessions_are_taken_only_with_since(sandbox: Sandbox) -> None:
    session(sandbox, 1, age_days=90)
    session(sandbox, 2, age_days=5)
    assert [one["session"][-1] for one in planned(sandbox)] == ["2"]
    since = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 100 * 86400))
    assert [one["session"][-1] for one in planned(sandbox, "--since", since)] == ["1", "2"]
    since = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 2 * 86400))
    assert planned(sandbox, "--since", since) == []
    assert "1 session left aside as older" in sandbox.capture(None, "backfill", "--dry-run").stdout


def test_a_session_with_drafts_in_the_folder_was_captured_by_somebody(sandbox: Sandbox) -> None:
    made = session(sandbox, 1)
    sandbox.write("docs/adr/260304-0506-x.md", draft(session=made.session_id))
    assert planned(sandbox) == []
    assert "with drafts in the folder" in sandbox.capture(None, "backfill", "--dry-run").stdout


def test_a_session_in_which_nobody_spoke_is_left_aside(sandbox: Sandbox) -> None:
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("injected", isMeta=True)
    assert planned(sandbox) == []


@pytest.mark.parametrize(
    "arguments",
    [("--since", "yesterday"), ("--since", "2026-13-01"), ("--max", "0"), ("--max", "x"), ("--wrong",)],
)
def test_bad_usage_exits_with_2(sandbox: Sandbox, arguments: tuple[str, ...]) -> None:
    done = sandbox.capture(None, "backfill", *arguments)
    assert (done.rc, done.stdout) == (2, "")
    assert not (sandbox.root / ".claude").exists()


# -- sending


def test_each_session_is_captured_once_oldest_first(sandbox: Sandbox, claude: FakeAgent) -> None:
    for number, age in ((1, 3.0), (2, 9.0)):
        session(sandbox, number, age_days=age)
    claude.answers(block("Second"), block("First"))
    done = sandbox.capture(None, "backfill", env=BACKEND)
    assert done.rc == 0, done.stderr
    assert sorted(sandbox.drafts()) == ["260304-0606-first.md", "260304-0706-second.md"]
    assert "Request number 2" in claude.calls[0].prompt
    assert "[1/2] claude 5e551011" in done.stderr
    assert done.stderr.count("1 draft\n") == 2
    again = sandbox.capture(None, "backfill", env=BACKEND)
    assert (again.rc, len(claude.calls)) == (0, 2)
    assert "2 sessions captured already" in again.stdout


def test_a_captured_session_is_not_sent_again_by_a_stop(sandbox: Sandbox) -> None:
    made = session(sandbox, 1)
    assert sandbox.capture(None, "backfill", env=CHOICES).rc == 0
    assert len(sandbox.drafts()) == 1
    stop = sandbox.capture(made.payload(), env=CHOICES)
    assert stop.messages == ["nothing new in the session [nothing new]"]
    assert len(sandbox.drafts()) == 1


def test_what_a_stop_has_captured_is_not_sent(sandbox: Sandbox) -> None:
    made = session(sandbox, 1)
    sandbox.capture(made.payload(), env=CHOICES)
    assert planned(sandbox) == []


def test_max_bounds_the_sessions_and_the_next_run_goes_on(sandbox: Sandbox) -> None:
    for number in (1, 2, 3):
        session(sandbox, number, age_days=9.0 - number)
    assert len(planned(sandbox, "--max", "2")) == 2
    sandbox.capture(None, "backfill", "--max", "2", env=CHOICES)
    assert [one["session"][-1] for one in planned(sandbox)] == ["3"]


def test_the_backend_that_install_set_for_claude_code_is_used(sandbox: Sandbox) -> None:
    assert sandbox.capture(None, "install", "--claude", "--backend", "choices").rc == 0
    session(sandbox, 1)
    assert sandbox.capture(None, "backfill").rc == 0
    assert len(sandbox.drafts()) == 1


def test_without_a_backend_nothing_is_taken_into_the_queue(sandbox: Sandbox) -> None:
    session(sandbox, 1)
    done = sandbox.capture(None, "backfill")
    assert done.rc == 1
    assert "pi not found" in done.stderr
    assert not (sandbox.root / ".claude").exists()


def test_the_daily_cap_stops_it_and_it_can_go_on_another_day(sandbox: Sandbox, claude: FakeAgent) -> None:
    for number in (1, 2):
        session(sandbox, number, age_days=9.0 - number)
    claude.always(block("A decision"))
    done = sandbox.capture(None, "backfill", env={**BACKEND, "ADR_DAILY_CALLS": "1"})
    assert done.rc == 1
    assert "daily cap of 1 calls reached" in done.stderr
    assert "run it again to go on" in done.stderr
    assert len(claude.calls) == 1
    assert sandbox.capture(None, "backfill", env=BACKEND).rc == 0
    assert len(claude.calls) == 2


def test_a_session_whose_reply_is_refused_waits_as_any_part_does(sandbox: Sandbox, claude: FakeAgent) -> None:
    session(sandbox, 1)
    claude.answers("I would rather go on with the talk.")
    done = sandbox.capture(None, "backfill", env=BACKEND)
    assert done.rc == 1
    assert "waits" in done.stderr
    [entry] = (sandbox.own_state / "pending").glob("*.json")
    assert json.loads(entry.read_text())["tries"] == 1
    assert [one["session"][-1] for one in planned(sandbox)] == ["1"]


def test_a_backend_without_credit_is_asked_once(sandbox: Sandbox, claude: FakeAgent) -> None:
    for number in (1, 2):
        session(sandbox, number, age_days=9.0 - number)
    claude.answers(claude_json("Credit balance is too low", is_error=True), block("A decision"))
    done = sandbox.capture(None, "backfill", env=BACKEND)
    assert done.rc == 1
    assert "claude paused until" in done.stderr
    assert len(claude.calls) == 1
    claude.answers(block("Another decision"))
    assert sandbox.capture(None, "backfill", env=BACKEND).rc == 0  # a run by hand probes
    assert len(sandbox.drafts()) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_agent_counts_no_try_and_goes_on(
    sandbox: Sandbox, claude: FakeAgent, number: signal.Signals
) -> None:
    session(sandbox, 1)
    claude.answers(Reply(hang=True))
    process = sandbox.start(CAPTURE, "backfill", env=BACKEND)
    end = time.monotonic() + 20
    while not claude.calls and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(number)
    rc, _, err, _ = programs.finish(process, None, 20)
    assert rc in (130, 143)
    assert "Traceback" not in err
    assert "run it again to go on" in err
    sandbox.settle(10)
    [entry] = (sandbox.own_state / "pending").glob("*.json")
    assert json.loads(entry.read_text())["tries"] == 0
    claude.answers(block("A decision"))
    assert sandbox.capture(None, "backfill", env=BACKEND).rc == 0
    assert len(sandbox.drafts()) == 1


def test_it_waits_for_a_worker_that_holds_the_lock(sandbox: Sandbox) -> None:
    session(sandbox, 1)
    sandbox.open_state()
    with (sandbox.own_state / "worker.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = sandbox.start(CAPTURE, "backfill", env=CHOICES)
        end = time.monotonic() + 20
        while not list((sandbox.own_state / "pending").glob("*.json")) and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(0.2)
        assert sandbox.drafts() == {}
    rc, _, err, _ = programs.finish(process, None, 30)
    assert rc == 0, err
    assert len(sandbox.drafts()) == 1


# -- parts that were given up


def given_up(sandbox: Sandbox, made: ClaudeSession, claude: FakeAgent) -> None:
    """Let three stops fail on the session's part."""
    claude.answers(*["No decision block at all, only talk."] * 3)
    for _ in range(3):
        sandbox.capture(made.payload(), env=BACKEND)
    assert "given up after 3 tries" in sandbox.log(CAPTURE)


def test_retry_takes_up_what_was_given_up_from_its_beginning(sandbox: Sandbox, claude: FakeAgent) -> None:
    made = session(sandbox, 1)
    given_up(sandbox, made, claude)
    assert planned(sandbox) == []
    [one] = planned(sandbox, "--retry")
    assert (one["session"], one["requests"]) == (made.session_id, 1)
    claude.answers(block("A decision"))
    done = sandbox.capture(None, "backfill", "--retry", env=BACKEND)
    assert done.rc == 0, done.stderr
    assert list(sandbox.drafts()) == ["260304-0606-a-decision.md"]
    assert "Request number 1" in claude.calls[-1].prompt
    assert planned(sandbox, "--retry") == []
    assert sandbox.capture(made.payload(), env=BACKEND).messages == [
        "nothing new in the session [nothing new]"
    ]


def test_retry_of_a_later_part_does_not_send_what_was_captured_before(
    sandbox: Sandbox, claude: FakeAgent
) -> None:
    made = session(sandbox, 1)
    claude.answers(block("The first decision"))
    sandbox.capture(made.payload(), env=BACKEND)
    made.user("And the queue?")
    made.assistant("RabbitMQ.")
    given_up(sandbox, made, claude)
    claude.answers(block("The second decision"))
    assert sandbox.capture(None, "backfill", "--retry", env=BACKEND).rc == 0
    assert len(sandbox.drafts()) == 2
    assert "And the queue?" in claude.calls[-1].prompt
    assert "The first decision" in claude.calls[-1].prompt  # as a title that is written already


def ask(made: ClaudeSession, number: int, **edit: Any) -> None:
    """One more turn of a session, with an edit where one is given."""
    made.user(f"request {number}")
    if edit:
        made.tool("Write", edit)
    made.assistant(f"answer {number}")


def part(call: Call) -> str:
    """What was sent of a transcript, without the context that was judged already."""
    return call.prompt.rpartition("[end of context]")[2] or call.prompt


def offsets(sandbox: Sandbox) -> list[tuple[int, str]]:
    """Where the transcripts stand."""
    stored = [json.loads(path.read_text()) for path in (sandbox.own_state / "positions").glob("*.json")]
    return [(position["offset"], position["check"]) for position in stored]


def test_retry_sends_the_given_up_part_alone_and_leaves_the_position(
    sandbox: Sandbox, claude: FakeAgent
) -> None:
    made = session(sandbox, 1)
    given_up(sandbox, made, claude)
    ask(made, 2)
    claude.answers(block("A later decision"))
    sandbox.capture(made.payload(), env=BACKEND)
    ask(made, 3)
    [before] = offsets(sandbox)
    [one] = planned(sandbox, "--retry")
    assert one["first_request"].startswith("Request number 1")
    assert one["bytes"] < before[0]
    claude.answers(block("The first decision"))
    assert sandbox.capture(None, "backfill", "--retry", env=BACKEND).rc == 0
    sent = claude.calls[-1].prompt
    assert "Request number 1" in sent
    assert "request 2" not in sent
    assert "request 3" not in sent
    assert "A later decision" in sent  # as a title that is written already
    assert offsets(sandbox) == [before]
    assert sorted(name[12:] for name in sandbox.drafts()) == ["a-later-decision.md", "the-first-decision.md"]
    claude.answers("NONE")
    sandbox.capture(made.payload(), env=BACKEND)
    assert "request 3" in part(claude.calls[-1])
    assert "request 2" not in part(claude.calls[-1])


def test_each_part_of_a_session_that_was_given_up_is_taken_up_on_its_own(
    sandbox: Sandbox, claude: FakeAgent
) -> None:
    made = session(sandbox, 1)
    given_up(sandbox, made, claude)
    ask(made, 2)
    given_up(sandbox, made, claude)
    shown = [one["first_request"] for one in planned(sandbox, "--retry")]
    assert shown == ["Request number 1: which cache?", "request 2"]
    claude.answers(block("One"), "Only talk again.")
    assert sandbox.capture(None, "backfill", "--retry", env=BACKEND).rc == 1
    first, second = (part(call) for call in claude.calls[-2:])
    assert ("Request number 1" in first, "request 2" in first) == (True, False)
    assert ("Request number 1" in second, "request 2" in second) == (False, True)
    assert [one["first_request"] for one in planned(sandbox, "--retry")] == ["request 2"]


@pytest.mark.parametrize("last", [True, False], ids=["its file lags behind", "there is no file"])
def test_a_message_that_was_given_up_is_retried_as_that_message(
    sandbox: Sandbox, claude: FakeAgent, last: bool
) -> None:
    made = session(sandbox, 1)
    if last:
        claude.answers("NONE")
        sandbox.capture(made.payload(), env=BACKEND)
    payload = {**made.payload(), "last_assistant_message": "Redis it is then."}
    if not last:
        payload["transcript_path"] = ""
        made.path.unlink()
    claude.answers(*["Only talk."] * 3)
    for _ in range(3):
        capture_at_once(sandbox, payload, env=BACKEND)
    [one] = planned(sandbox, "--retry")
    assert (one["first_request"], one["bytes"]) == ("Redis it is then.", 17)
    claude.answers(block("Redis"))
    assert sandbox.capture(None, "backfill", "--retry", env=BACKEND).rc == 0
    assert "Redis it is then." in part(claude.calls[-1])
    assert "Request number 1" not in part(claude.calls[-1])
    assert len(sandbox.drafts()) == 1
    assert planned(sandbox, "--retry") == []
    if last:
        made.assistant("Redis it is then.")  # the file has caught up
    sandbox.capture(payload, env=BACKEND)
    assert len(claude.calls) == (5 if last else 4)


def test_a_message_that_the_file_lacked_is_part_of_the_retry(sandbox: Sandbox, claude: FakeAgent) -> None:
    made = session(sandbox, 1)
    claude.answers(*["Only talk."] * 3)
    for _ in range(3):
        payload = {**made.payload(), "last_assistant_message": "And Redis later."}
        capture_at_once(sandbox, payload, env=BACKEND)
    made.assistant("And Redis later.")
    ask(made, 2)
    claude.answers("NONE", block("SQLite"))
    sandbox.capture(made.payload(), env=BACKEND)
    assert "And Redis later." not in part(claude.calls[-1])
    assert sandbox.capture(None, "backfill", "--retry", env=BACKEND).rc == 0
    assert part(claude.calls[-1]).count("And Redis later.") == 1
    assert "request 2" not in claude.calls[-1].prompt


def test_a_later_edit_elsewhere_does_not_skip_the_part_that_is_retried(
    sandbox: Sandbox, claude: FakeAgent
) -> None:
    made = session(sandbox, 1)
    given_up(sandbox, made, claude)
    ask(made, 2, file_path=str(sandbox.base / "elsewhere.py"), content="x")
    assert "cross-project" in sandbox.capture(made.payload(), env=BACKEND).log
    claude.answers(block("A decision"))
    assert sandbox.capture(None, "backfill", "--retry", env=BACKEND).rc == 0
    assert len(sandbox.drafts()) == 1
    ask(made, 3)  # without an edit: the verdict of the newest part with edits still stands
    assert "cross-project" in sandbox.capture(made.payload(), env=BACKEND).messages[-1]


def test_retry_leaves_alone_what_was_rewritten(sandbox: Sandbox, claude: FakeAgent) -> None:
    made = session(sandbox, 1)
    given_up(sandbox, made, claude)
    made.path.write_text(made.path.read_text().replace("which cache?", "which queue?"))
    assert planned(sandbox, "--retry") == []


def test_a_stop_that_comes_during_a_retry_is_captured_after_it(sandbox: Sandbox, claude: FakeAgent) -> None:
    made = session(sandbox, 1)
    given_up(sandbox, made, claude)
    ask(made, 2)
    calls = len(claude.calls)
    claude.answers(Reply(block("A decision"), delay=0.8), block("Another decision"))
    process = sandbox.start(CAPTURE, "backfill", "--retry", env=BACKEND)
    end = time.monotonic() + 20
    while len(claude.calls) == calls and time.monotonic() < end:
        time.sleep(0.02)
    sandbox.capture(made.payload(), "--detach", env=BACKEND)
    rc, _, err, _ = programs.finish(process, None, 30)
    assert rc == 0, err
    sandbox.settle(10)
    assert "request 2" in part(claude.calls[-1])
    assert len(sandbox.drafts()) == 2


def test_a_retry_that_fails_stays_given_up(sandbox: Sandbox, claude: FakeAgent) -> None:
    made = session(sandbox, 1)
    given_up(sandbox, made, claude)
    claude.answers("Only talk again.")
    done = sandbox.capture(None, "backfill", "--retry", env=BACKEND)
    assert done.rc == 1
    assert len(planned(sandbox, "--retry")) == 1


def test_retry_leaves_alone_what_the_host_has_deleted(sandbox: Sandbox, claude: FakeAgent) -> None:
    made = session(sandbox, 1)
    given_up(sandbox, made, claude)
    made.path.unlink()
    assert planned(sandbox, "--retry") == []
    assert sandbox.capture(None, "backfill", "--retry", env=BACKEND).rc == 0


# -- finding sessions


def test_a_cut_folder_name_of_a_very_long_path_is_recognised(tmp_path: Path) -> None:
    root = tmp_path.joinpath(*["long-folder-name" * 4] * 4)
    root.mkdir(parents=True)
    slug = "".join(c if c.isalnum() else "-" for c in str(root))
    folder = tmp_path / "home" / ".claude" / "projects" / f"{slug[:200]}-1abc"
    folder.mkdir(parents=True)
    (folder / "s.jsonl").write_text(json.dumps({"type": "user", "message": {}, "cwd": str(root)}) + "\n")
    found = find.of_project(project_at(str(root), "docs/adr"), {"HOME": str(tmp_path / "home")})
    assert [one.session_id for one in found] == ["s"]


def test_without_a_home_there_are_no_sessions(tmp_path: Path) -> None:
    assert find.of_project(project_at(str(tmp_path), "docs/adr"), {}) == []
