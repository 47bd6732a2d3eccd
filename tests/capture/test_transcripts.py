"""Transcripts of the four hosts, files that lag behind their event, and stops without any file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support.capture_runs import (
    capture_at_once,
    decision,
    front_matter,
    log,
    part_of,
    pending,
    ready,
    session,
    stems,
    turn,
)
from support.claude_session import ClaudeSession
from support.codex_session import CodexSession
from support.cursor_session import CursorSession
from support.pi_session import PiSession
from support.sandbox import Sandbox

HOSTS: dict[str, Callable[..., ClaudeSession | CodexSession | CursorSession | PiSession]] = {
    "claude": ClaudeSession,
    "codex": CodexSession,
    "cursor": CursorSession,
    "pi": PiSession,
}
SAMPLES = Path(__file__).parents[1] / "data" / "transcripts"


def two_turns(sandbox: Sandbox, host: str) -> ClaudeSession | CodexSession | CursorSession | PiSession:
    made = HOSTS[host](sandbox.home, sandbox.root)
    made.user("put the cache into SQLite")
    made.write(sandbox.root / "cache.py")
    made.assistant("SQLite it is")
    return made


@pytest.mark.parametrize("host", HOSTS)
def test_a_session_of_each_host_becomes_a_draft(sandbox: Sandbox, host: str) -> None:
    pi = ready(sandbox).answers(decision())
    made = two_turns(sandbox, host)
    done = sandbox.capture(made.payload())
    assert (done.rc, done.stdout) == (0, "")
    part = part_of(pi.only_call.prompt)
    assert part.startswith("[user]\nput the cache into SQLite\n")
    assert "[assistant]\n" in part
    assert part.endswith("SQLite it is")
    (text,) = sandbox.drafts().values()
    assert front_matter(text)["session"] == made.session_id


@pytest.mark.parametrize("host", HOSTS)
def test_a_second_turn_of_each_host_sends_only_what_is_new(sandbox: Sandbox, host: str) -> None:
    pi = ready(sandbox).answers(decision(1), decision(2))
    made = two_turns(sandbox, host)
    sandbox.capture(made.payload())
    made.user("and the log into JSON lines")
    made.write(sandbox.root / "log.py")
    made.assistant("JSON lines it is")
    sandbox.capture(made.payload())
    part = part_of(pi.calls[1].prompt)
    assert "and the log into JSON lines" in part
    assert "JSON lines it is" in part
    assert "cache" not in part
    assert stems(sandbox) == ["decision-1", "decision-2"]


@pytest.mark.parametrize("host", HOSTS)
def test_a_stop_without_anything_new_calls_nobody(sandbox: Sandbox, host: str) -> None:
    pi = ready(sandbox).answers(decision())
    made = two_turns(sandbox, host)
    sandbox.capture(made.payload())
    done = sandbox.capture(made.payload())
    assert len(pi.calls) == 1
    assert done.messages == ["nothing new in the session [nothing new]"]
    assert pending(sandbox) == []


@pytest.mark.parametrize("host", HOSTS)
def test_the_transcript_is_found_by_its_id_where_the_payload_names_none(sandbox: Sandbox, host: str) -> None:
    pi = ready(sandbox).answers(decision())
    made = two_turns(sandbox, host)
    payload = made.payload(transcript_path=None, last_assistant_message=None)
    if host == "pi":
        payload["hook_event_name"] = "agent_end"
    sandbox.capture(payload)
    assert "put the cache into SQLite" in pi.only_call.prompt


@pytest.mark.parametrize("id_", ["*", "../../x", "[a]", "a/b", ".", ""])
def test_an_id_that_is_no_name_finds_no_file(sandbox: Sandbox, id_: str) -> None:
    pi = ready(sandbox)
    session(sandbox)
    done = sandbox.capture({"session_id": id_, "cwd": str(sandbox.root)})
    assert done.messages == ["no transcript path [no transcript]"]
    assert pi.calls == []


@pytest.mark.parametrize("form", ["~", "link", "environment"])
def test_a_path_is_taken_in_any_form(sandbox: Sandbox, form: str) -> None:
    pi = ready(sandbox).answers(decision())
    made = session(sandbox)
    env = {}
    path: str | None = "~/" + str(made.path.relative_to(sandbox.home))
    if form == "link":
        link = sandbox.base / "link.jsonl"
        link.symlink_to(made.path)
        path = str(link)
    if form == "environment":
        path, env = None, {"CURSOR_TRANSCRIPT_PATH": str(made.path)}
    sandbox.capture(made.payload(transcript_path=path, session_id="another"), env=env)
    assert "request 1 of 1" in pi.only_call.prompt


@pytest.mark.parametrize("given", ["missing", "folder", "fifo", "nul"])
def test_a_path_that_is_no_readable_file_leaves_the_next_source(sandbox: Sandbox, given: str) -> None:
    pi = ready(sandbox).answers(decision())
    made = session(sandbox)
    path = sandbox.base / "given"
    if given == "folder":
        path.mkdir()
    elif given == "fifo":
        os.mkfifo(path)
    told = "a\0b" if given == "nul" else str(path)
    sandbox.capture(
        made.payload(transcript_path=told, session_id="x"), env={"CURSOR_TRANSCRIPT_PATH": str(made.path)}
    )
    assert "request 1 of 1" in pi.only_call.prompt


def test_without_a_file_the_last_message_alone_is_the_session(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    payload = {"session_id": "abc-1", "cwd": str(sandbox.root), "last_assistant_message": "We chose SQLite."}
    sandbox.capture(payload)
    assert part_of(pi.only_call.prompt) == "[assistant]\nWe chose SQLite."
    sandbox.capture(payload)
    assert len(pi.calls) == 1
    (text,) = sandbox.drafts().values()
    assert front_matter(text)["session"] == "abc-1"


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"session_id": "s", "conversation_id": "c", "generation_id": "g"}, "s"),
        ({"session_id": None, "conversation_id": "c", "generation_id": "g"}, "c"),
        ({"session_id": "", "conversation_id": 5, "generation_id": "g"}, "g"),
        ({}, "unknown"),
    ],
)
def test_the_session_id_is_the_first_that_is_told(
    sandbox: Sandbox, payload: dict[str, object], expected: str
) -> None:
    ready(sandbox).answers(decision())
    made = session(sandbox)
    sandbox.capture({"transcript_path": str(made.path), "cwd": str(sandbox.root), **payload})
    (text,) = sandbox.drafts().values()
    assert front_matter(text)["session"] == expected


def test_a_transcript_whose_only_line_has_no_newline_is_captured(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("only one line")
    made.cut_newline()
    sandbox.capture(made.payload())
    assert "only one line" in pi.only_call.prompt
    assert stems(sandbox) == ["decision-1"]


def test_a_last_line_that_is_still_being_written_is_left_for_next_time(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision(1), decision(2))
    made = session(sandbox)
    whole = made.path.read_bytes()
    made.user("half written request")
    later = made.path.read_bytes()
    made.path.write_bytes(later[: len(whole) + 60])
    sandbox.capture(made.payload())
    assert "half written" not in pi.calls[0].prompt
    made.path.write_bytes(later)
    sandbox.capture(made.payload())
    assert part_of(pi.calls[1].prompt).strip() == "[user]\nhalf written request"


def test_a_bad_line_costs_that_line_only(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("before")
    for line in (
        b"{cut",
        b"\xff\xfe\0",
        b"[]",
        b"null",
        b"7",
        b'{"type":"user","message":3}',
        b"[" * 100_000,
    ):
        made.raw(line)
    made.user("after")
    done = sandbox.capture(made.payload())
    assert part_of(pi.only_call.prompt) == "[user]\nbefore\nafter"
    assert "fault" not in done.log


def test_control_characters_do_not_reach_the_prompt(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("red \x1b[31mtext\x1b[0m, nul \0, bell \x07, \ud83d half, line\u2028end, tab\tstays")
    made.assistant("done")
    sandbox.capture(made.payload())
    part = part_of(pi.only_call.prompt)
    assert not any(char in part for char in "\x1b\0\x07\ud83d")
    assert "red" in part
    assert "tab\tstays" in part


def test_what_no_person_typed_and_the_model_did_not_say_is_not_sent(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("real request<system-reminder>INJECTED 1</system-reminder>")
    made.user("INJECTED 2", isMeta=True)
    made.user("INJECTED 3", isCompactSummary=True)
    made.user("INJECTED 4", isSidechain=True)
    made.user("Stop hook feedback: INJECTED 5")
    made.raw({"type": "api-request-blob", "message": {"role": "user", "content": "INJECTED 6"}})
    made.api_error("INJECTED 7")
    uuid = made.assistant("real answer")
    repeated = json.loads(made.path.read_text().splitlines()[-1])
    repeated["message"]["content"][0]["text"] = "INJECTED 8"
    assert repeated["uuid"] == uuid
    made.raw(repeated)
    made.queued("typed meanwhile")
    sandbox.capture(made.payload())
    part = part_of(pi.only_call.prompt)
    assert "INJECTED" not in part
    for wanted in ("real request", "real answer", "typed meanwhile"):
        assert part.count(wanted) == 1


def test_answers_plans_and_reasons_are_sent(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("choose")
    made.question(
        "Which store?", [("SQLite", "embedded"), ("Redis", "a server")], "SQLite", notes="no server"
    )
    made.plan("1. Write the cache", reason="first the tests")
    made.plan("1. Write tests\n2. Write the cache")
    sandbox.capture(made.payload())
    part = part_of(pi.only_call.prompt)
    for wanted in (
        "Which store?",
        "embedded",
        "a server",
        "no server",
        "first the tests",
        "2. Write the cache",
    ):
        assert wanted in part


@pytest.mark.parametrize("status", ["aborted", "error"])
def test_a_turn_of_cursor_that_was_not_completed_waits(sandbox: Sandbox, status: str) -> None:
    pi = ready(sandbox).answers(decision())
    made = CursorSession(sandbox.home, sandbox.root)
    made.user("decide")
    made.assistant("halfway")
    done = sandbox.capture(made.payload(status=status))
    assert pi.calls == []
    assert len(done.messages) == 1
    made.assistant("decided")
    sandbox.capture(made.payload())
    part = part_of(pi.only_call.prompt)
    assert "halfway" in part
    assert "decided" in part


def test_a_turn_that_was_not_completed_is_taken_by_the_stop_of_another_session(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision(1), decision(2))
    made = CursorSession(sandbox.home, sandbox.root)
    made.user("decide and abort")
    sandbox.capture(made.payload(status="aborted"))
    sandbox.capture(session(sandbox).payload())
    assert "decide and abort" in pi.calls[1].prompt
    assert len(pi.calls) == 2


def test_an_old_transcript_of_cursor_in_plain_text_is_read(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    path = sandbox.home / ".cursor" / "projects" / "p" / "agent-transcripts" / "old-id.txt"
    path.parent.mkdir(parents=True)
    path.write_text("user:\n<user_query>\nput it into SQLite\n</user_query>\n\nassistant:\nDone.\n")
    payload = {"conversation_id": "old-id", "workspace_roots": [str(sandbox.root)], "status": "completed"}
    sandbox.capture(payload)
    assert "put it into SQLite" in pi.only_call.prompt
    sandbox.capture(payload)
    assert len(pi.calls) == 1


@pytest.mark.parametrize("sample", ["claude/ccl_edge_cases.jsonl", "claude/p_surrogate_nul_u2028.jsonl"])
def test_a_recorded_transcript_is_captured_without_a_fault(sandbox: Sandbox, sample: str) -> None:
    sandbox.environ["ADR_CAPTURE_SKIP_CROSS_PROJECT"] = "0"
    ready(sandbox).always("NONE")
    path = sandbox.base / "sample.jsonl"
    shutil.copy(SAMPLES / sample, path)
    done = sandbox.capture({"session_id": "s", "transcript_path": str(path), "cwd": str(sandbox.root)})
    assert done.rc == 0
    assert "fault" not in done.log
    assert pending(sandbox) == []


# -- the file lags behind the event


def test_an_appended_message_is_not_sent_again_when_the_file_has_caught_up(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision(1), decision(2))
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("decide")
    capture_at_once(sandbox, made.payload(last_assistant_message="The late answer."))
    assert part_of(pi.only_call.prompt) == "[user]\ndecide\n\n[assistant]\nThe late answer."
    made.assistant("The late answer.")
    sandbox.capture(made.payload())
    assert len(pi.calls) == 1
    turn(made, 2)
    sandbox.capture(made.payload())
    assert "The late answer." not in part_of(pi.calls[1].prompt)
    assert "request 2" in part_of(pi.calls[1].prompt)


def test_the_log_stays_free_of_what_was_said(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    sandbox.capture(session(sandbox).payload())
    assert "request 1" not in log(sandbox)
    assert "answer 1" not in log(sandbox)
