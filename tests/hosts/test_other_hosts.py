"""Cursor, pi and Codex: prompts without their wrapping, edits, branches, and one family of doubled records."""

from __future__ import annotations

import json

import pytest

from decision_hooks.hosts import line_filter, transcript
from decision_hooks.sessions.model import Edit, Session
from support.session_lines import line, texts

# -- Cursor


def cursor(role: str, *blocks: object) -> bytes:
    return line({"role": role, "message": {"content": list(blocks)}})


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        ("plain", ["plain"]),
        ("<timestamp>Monday</timestamp>\n<user_query>\nask\n</user_query>", ["ask"]),
        ("<user_query>a </user_query> b</user_query>", ["a </user_query> b"]),
        ("[Image]\n<image_files>\n1. /x.png\n</image_files>\n<user_query>look</user_query>", ["look"]),
        ("<image_files>x</image_files>look", ["look"]),
        ("<timestamp>never closed", ["<timestamp>never closed"]),
        ("<user_query>\n</user_query>", []),
    ],
)
def test_cursor_wrappers_are_taken_off(words: str, typed: list[str]) -> None:
    assert texts(transcript.parse([cursor("user", text(words))]), "user") == typed


@pytest.mark.parametrize(
    ("tool", "value", "paths"),
    [
        ("Write", {"path": "/a", "contents": "x"}, ["/a"]),
        ("StrReplace", {"path": "b.py"}, ["b.py"]),
        ("Delete", {"path": "/c"}, ["/c"]),
        ("EditNotebook", {"target_notebook": "/n.ipynb"}, ["/n.ipynb"]),
        (
            "ApplyPatch",
            "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n+*** Add File: in the text\n"
            "*** Delete File: c\n*** End Patch",
            ["a", "b", "c"],
        ),
        ("Read", {"path": "/a"}, []),
    ],
)
def test_cursor_edit_tools_give_their_paths(tool: str, value: object, paths: list[str]) -> None:
    session = transcript.parse([cursor("assistant", {"type": "tool_use", "name": tool, "input": value})])
    assert [edit.path for edit in session.edits] == paths


def test_cursor_marks_of_hidden_thinking_and_ends_of_turns_are_dropped() -> None:
    lines = [
        cursor("assistant", text("[REDACTED]")),
        cursor("assistant", text("Use SQLite.\n\n[REDACTED]")),
        line({"type": "turn_ended", "status": "completed"}),
        cursor("system", text("reminder")),
    ]
    assert texts(transcript.parse(lines), "user", "assistant") == ["Use SQLite."]


def test_the_plain_text_form_of_cursor_is_read() -> None:
    session = transcript.parse_text(
        "user:\n<user_query>\nadd a cache\nnote: user: is no speaker\n</user_query>\n\n"
        "assistant:\n[Thinking] which store\n[Tool call] StrReplace\n  path: src/a.py\n  old_string: x\n\n"
        "[Tool result] StrReplace\n\nassistant:\nUse SQLite.\n"
    )
    assert texts(session, "user") == ["add a cache\nnote: user: is no speaker"]
    assert texts(session, "assistant", "thinking") == ["which store", "Use SQLite."]
    assert session.edits == (Edit("src/a.py", ""),)


def test_the_plain_text_form_may_have_the_speaker_before_the_words() -> None:
    session = transcript.parse_text("user: add a cache\nassistant: Use SQLite.\nuser: ok\n")
    assert [(entry.kind, entry.text) for entry in session.entries] == [
        ("user", "add a cache"),
        ("assistant", "Use SQLite."),
        ("user", "ok"),
    ]


# -- pi


def pi(identity: str, parent: str | None, role: str, content: object, **fields: object) -> bytes:
    message = {"role": role, "content": content, **fields}
    stamp = "2026-07-09T10:00:01.000Z"
    return line(
        {"type": "message", "id": identity, "parentId": parent, "timestamp": stamp, "message": message}
    )


HEADER = line(
    {"type": "session", "version": 3, "id": "s", "timestamp": "2026-07-09T10:00:00Z", "cwd": "/repo"}
)


def call(name: str, arguments: object, identity: str = "c1") -> dict[str, object]:
    return {"type": "toolCall", "id": identity, "name": name, "arguments": arguments}


def test_pi_paths_are_relative_to_the_directory_of_the_header() -> None:
    lines = [pi("a", None, "assistant", [call("write", {"path": "src/a.py"})])]
    assert transcript.parse(lines, header=HEADER).edits == (Edit("src/a.py", "/repo"),)
    assert transcript.parse([HEADER, *lines]).edits == (Edit("src/a.py", "/repo"),)


def test_a_header_adds_nothing_but_the_directory() -> None:
    session = transcript.parse([], header=HEADER)
    assert (session.host, session.cwd, session.entries, session.last_time) == ("pi", "/repo", (), 0.0)


def test_a_first_line_of_conversation_is_no_header() -> None:
    assert transcript.parse([], header=cursor("user", text("old request"))) == Session("unknown")


@pytest.mark.parametrize(
    ("stop", "result", "done"),
    [("toolUse", None, True), ("toolUse", False, True), ("toolUse", True, False), ("error", None, False)],
)
def test_failed_pi_edits_are_no_edits(stop: str, result: bool | None, done: bool) -> None:
    lines = [pi("a", None, "assistant", [call("edit", {"path": "/a", "edits": []})], stopReason=stop)]
    if result is not None:
        lines.append(pi("r", "a", "toolResult", "…", toolCallId="c1", toolName="edit", isError=result))
    assert bool(transcript.parse(lines).edits) is done


def test_a_pi_prompt_typed_anew_after_a_summary_of_its_branch_drops_the_earlier_one() -> None:
    lines = [
        pi("u1", None, "user", "start"),
        pi("u2", "u1", "user", "abandoned"),
        pi("a2", "u2", "assistant", "answer to it"),
        line(
            {"type": "branch_summary", "id": "b", "parentId": "u1", "timestamp": "x", "summary": "abandoned"}
        ),
        pi("u3", "b", "user", "typed anew"),
    ]
    session = transcript.parse(lines)
    assert texts(session, "user", "assistant") == ["start", "typed anew"]
    assert session.uuids == ("u1", "u2", "a2", "u3")


# -- Codex


def rollout(kind: str, /, **payload: object) -> bytes:
    return line({"timestamp": "2026-11-30T03:04:01.615Z", "type": kind, "payload": payload})


def item(role: str, words: str) -> bytes:
    return rollout(
        "response_item", type="message", role=role, content=[{"type": "input_text", "text": words}]
    )


@pytest.mark.parametrize(
    "words",
    [
        "<environment_context>\n<cwd>/x</cwd>\n</environment_context>",
        "<user_instructions>x</user_instructions>",
        "<skills_instructions>\n## Skills",
        "<permissions instructions>\nx</permissions instructions>",
        "<recommended_plugins>x</recommended_plugins>",
        "# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>x</INSTRUCTIONS>",
    ],
)
def test_what_codex_puts_under_the_users_role_is_no_request(words: str) -> None:
    session = transcript.parse(
        [item("developer", "rules"), item("user", words), item("user", "<div>mine</div>")]
    )
    assert texts(session, "user") == ["<div>mine</div>"]


def test_a_text_that_an_event_knows_as_typed_is_a_request() -> None:
    words = "<my_config>typed</my_config>"
    lines = [item("user", words), rollout("event_msg", type="user_message", message=words)]
    assert texts(transcript.parse(lines), "user") == [words]


def test_events_are_read_where_there_are_no_items() -> None:
    lines = [
        rollout("event_msg", type="user_message", message="ask"),
        rollout("event_msg", type="agent_reasoning", text="hm"),
        rollout("event_msg", type="agent_message", message="done"),
        rollout("compacted", message="all of it again", replacement_history=[]),
    ]
    entries = transcript.parse(lines).entries
    assert [(e.kind, e.text) for e in entries] == [("user", "ask"), ("thinking", "hm"), ("assistant", "done")]


PATCH = "*** Begin Patch\n*** Add File: src/a.py\n+x\n*** End Patch"


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH},
        {"type": "function_call", "name": "apply_patch", "arguments": json.dumps({"input": PATCH})},
        {"type": "function_call", "name": "apply_patch", "arguments": {"patch": PATCH}},
        {
            "type": "function_call",
            "name": "shell",
            "arguments": json.dumps({"command": ["apply_patch", PATCH]}),
        },
        {
            "type": "custom_tool_call",
            "name": "exec",
            "input": f"const patch = {json.dumps(PATCH)}; run(patch)",
        },
    ],
)
def test_codex_patches_give_their_paths(payload: dict[str, object]) -> None:
    lines = [rollout("session_meta", cwd="/repo"), rollout("response_item", call_id="c", **payload)]
    assert transcript.parse(lines).edits == (Edit("src/a.py", "/repo"),)
    assert transcript.parse([line for line in lines if line_filter.edit_like(line)]).edits


@pytest.mark.parametrize(
    ("output", "done"),
    [
        ("Exit code: 0\nSuccess. Updated the following files:\nA src/a.py", True),
        (json.dumps({"output": "Success", "metadata": {"exit_code": 0}}), True),
        ([{"type": "input_text", "text": "Success"}], True),
        (None, True),
        ("Exit code: 1\nno such line", False),
        ("apply_patch verification failed: Failed to find expected lines", False),
        (json.dumps({"output": "x", "metadata": {"exit_code": 2}}), False),
        ({"content": "x", "success": False}, False),
        ("patch rejected by user", False),
    ],
)
def test_failed_codex_patches_are_no_edits(output: object, done: bool) -> None:
    lines = [
        rollout("response_item", type="custom_tool_call", name="apply_patch", input=PATCH, call_id="c"),
        rollout("response_item", type="custom_tool_call_output", call_id="c", output=output),
    ]
    assert bool(transcript.parse(lines).edits) is done
    kept = [line for line in lines if line_filter.edit_like(line)]
    assert bool(transcript.parse(kept).edits) is done


def test_events_of_codex_tell_best_which_patches_were_applied() -> None:
    def changes(path: str, **more: object) -> dict[str, object]:
        return {path: {"type": "update", **more}}

    lines = [
        rollout("response_item", type="custom_tool_call", name="apply_patch", input=PATCH, call_id="c"),
        rollout("event_msg", type="patch_apply_end", success=False, changes=changes("/repo/failed.py")),
        rollout(
            "event_msg", type="patch_apply_end", success=True, changes=changes("/repo/old.py", move_path="/n")
        ),
        rollout(
            "event_msg",
            type="item_completed",
            item={"type": "FileChange", "status": "completed", "changes": changes("/repo/new.py")},
        ),
        rollout(
            "event_msg",
            type="item_completed",
            item={"type": "FileChange", "status": "failed", "changes": changes("/repo/no.py")},
        ),
    ]
    edits = [edit.path for edit in transcript.parse(lines).edits]
    assert edits == ["/repo/old.py", "/n", "/repo/new.py"]
    assert [e.path for e in transcript.parse([x for x in lines if line_filter.edit_like(x)]).edits] == edits
