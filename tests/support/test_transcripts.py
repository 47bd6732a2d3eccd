"""The made-up sessions have the shape that the hosts write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.claude_session import ClaudeSession
from support.codex_session import CodexSession
from support.cursor_session import CursorSession
from support.pi_session import PiSession
from support.transcript import Transcript

HOSTS = [ClaudeSession, CursorSession, PiSession, CodexSession]


def records(session: Transcript) -> list[dict[str, Any]]:
    return [json.loads(line) for line in session.path.read_bytes().split(b"\n") if line]


@pytest.mark.parametrize("host", HOSTS)
def test_a_session_is_the_same_each_time_it_is_made(host: type[Any], tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        session = host(tmp_path / name, Path("/project"))
        session.user("Яку базу взяти?")
        session.edit("/project/src/app.py")
        session.assistant("SQLite.")
        texts.append(session.path.read_bytes())
    assert texts[0] == texts[1]


@pytest.mark.parametrize("host", HOSTS)
def test_a_payload_names_the_file_and_the_session(host: type[Any], tmp_path: Path) -> None:
    session = host(tmp_path, Path("/project"))
    session.user("q")
    session.assistant("the answer")
    payload = session.payload(extra=1)
    assert payload["transcript_path"] == str(session.path)
    assert session.session_id in (payload.get("session_id"), payload.get("conversation_id"))
    assert payload["extra"] == 1
    json.dumps(payload)


def test_records_of_claude_make_one_chain_of_unique_ids(tmp_path: Path) -> None:
    session = ClaudeSession(tmp_path, Path("/project"))
    session.user("q")
    session.thinking("hm")
    session.edit("/project/a.py")
    session.question("Which?", [("A", "first"), ("B", "second")], "B", notes="B is simple")
    session.plan("the plan")
    session.queued("and this")
    session.assistant("done")
    found = records(session)
    ids = [record["uuid"] for record in found]
    assert len(set(ids)) == len(ids)
    assert [record["parentUuid"] for record in found] == [None, *ids[:-1]]
    assert [record["timestamp"] for record in found] == sorted(record["timestamp"] for record in found)


def test_a_done_edit_of_claude_has_a_result_and_a_denied_one_an_error(tmp_path: Path) -> None:
    session = ClaudeSession(tmp_path, Path("/project"))
    session.edit("/project/a.py")
    session.write("/project/b.py", ok=False)
    _, done, _, denied = records(session)
    assert done["toolUseResult"]["filePath"] == "/project/a.py"
    assert denied["message"]["content"][0]["is_error"] is True
    assert isinstance(denied["toolUseResult"], str)


def test_a_fork_of_claude_repeats_the_ids_under_another_session(tmp_path: Path) -> None:
    session = ClaudeSession(tmp_path, Path("/project"))
    session.user("q")
    fork = session.fork("f0f0f0f0-0000-4000-8000-000000000002")
    fork.user("new")
    old, new = records(session), records(fork)
    assert (old[0]["uuid"], old[0]["sessionId"]) == (new[0]["uuid"], session.session_id)
    assert new[0]["sessionId"] == fork.session_id
    assert new[1]["uuid"] not in {record["uuid"] for record in old}
    assert new[1]["parentUuid"] == old[0]["uuid"]


def test_a_subagent_of_claude_lies_beside_its_session(tmp_path: Path) -> None:
    session = ClaudeSession(tmp_path, Path("/project"))
    session.user("q")
    helper = session.subagent()
    helper.edit("/project/a.py")
    assert helper.path.parent == session.path.with_suffix("") / "subagents"
    assert all(record["isSidechain"] for record in records(helper))
    assert not {r["uuid"] for r in records(helper)} & {r["uuid"] for r in records(session)}


def test_cursor_files_end_without_a_newline_and_have_no_ids(tmp_path: Path) -> None:
    session = CursorSession(tmp_path, Path("/project"))
    session.user("q")
    session.patch("/project/a.py")
    session.ended()
    assert not session.path.read_bytes().endswith(b"\n")
    assert len(records(session)) == 3
    assert all("uuid" not in record for record in records(session))
    assert "cwd" not in session.payload()


def test_pi_keeps_relative_paths_and_a_header(tmp_path: Path) -> None:
    session = PiSession(tmp_path, Path("/project"))
    session.edit("src/a.py")
    head, call, result = records(session)
    assert (head["type"], head["cwd"]) == ("session", "/project")
    assert call["message"]["content"][0]["arguments"]["path"] == "src/a.py"
    assert result["parentId"] == call["id"]


def test_codex_writes_each_message_twice(tmp_path: Path) -> None:
    session = CodexSession(tmp_path, Path("/project"))
    session.user("the question")
    kinds = [record["type"] for record in records(session) if "the question" in json.dumps(record)]
    assert sorted(kinds) == ["event_msg", "response_item"]


def test_lines_that_are_no_records_go_in_as_they_are(tmp_path: Path) -> None:
    session = ClaudeSession(tmp_path, Path("/project"))
    session.raw(b'{"cut": "\xff')
    session.raw('{"lone": "\\ud83d"}')
    assert session.path.read_bytes() == b'{"cut": "\xff\n{"lone": "\\ud83d"}\n'
