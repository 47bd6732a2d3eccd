"""Any bytes are a transcript: nothing raises, a bad line costs that line, and cheap tests of lines miss nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decision_hooks.hosts import line_filter, times, transcript
from support.session_lines import Claude, line

WORDS = st.sampled_from(
    (
        "type message role user assistant content text tool_use tool_result name input id uuid parentUuid cwd"
        " payload response_item event_msg item_completed item FileChange changes call_id output session"
        " toolUseResult answers questions plan AskUserQuestion ExitPlanMode Edit Write file_path is_error"
        " attachment queued_command prompt queue-operation operation enqueue remove timestamp isSidechain"
        " toolCall arguments stopReason model_change apply_patch function_call custom_tool_call planContent"
    ).split()
)
TEXT = st.one_of(WORDS, st.text(alphabet=st.characters(codec=None), max_size=20))
VALUE = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=6)),
    max_leaves=12,
)
RECORD = st.dictionaries(TEXT, VALUE, max_size=8)


@given(st.lists(st.binary(max_size=200), max_size=8))
def test_any_bytes_are_read(lines: list[bytes]) -> None:
    session = transcript.parse(lines)
    assert session.bad_lines <= len(lines)


@settings(max_examples=40)
@given(st.lists(RECORD, max_size=4))
def test_any_records_are_read_into_clean_text(records: list[dict[str, object]]) -> None:
    lines = [json.dumps(record).encode() for record in records]
    session = transcript.parse(lines, header=lines[0] if lines else None)
    assert session.bad_lines == 0
    for entry in session.entries:
        assert entry.text.encode("utf-8")
        assert entry.text
        assert "\0" not in entry.text
    assert all(edit.path.encode("utf-8") for edit in session.edits)


@given(
    st.fixed_dictionaries(
        {"type": st.sampled_from(("user", "assistant", "attachment", "queue-operation"))},
        optional={
            "message": st.fixed_dictionaries({}, optional={"content": VALUE, "id": VALUE, "model": VALUE}),
            "toolUseResult": VALUE,
            "attachment": VALUE,
            "operation": st.sampled_from(("enqueue", "dequeue", "remove")),
            "content": VALUE,
            "uuid": VALUE,
            "parentUuid": VALUE,
            "timestamp": VALUE,
            "planContent": VALUE,
            "origin": VALUE,
        },
    )
)
def test_wrong_types_at_any_level_of_a_record_are_read(record: dict[str, object]) -> None:
    transcript.parse([line(record)])


@given(st.text(alphabet=st.characters(codec=None), max_size=300))
def test_any_text_is_a_plain_text_transcript(words: str) -> None:
    assert transcript.parse_text(words).host == "cursor"


@given(st.text(max_size=60))
def test_any_text_as_a_time_is_a_number(words: str) -> None:
    assert times.from_iso(words) >= 0.0
    assert isinstance(times.from_words(words), float)


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("2026-11-30T02:40:41.103Z", 1796006441.103),
        ("2026-11-30T02:40:41Z", 1796006441.0),
        ("2026-11-30T04:40:41+02:00", 1796006441.0),
        ("2026-11-29T21:10:41.000-0530", 1796006441.0),
        ("2026-11-30 02:40:41", 1796006441.0),
        ("2024-02-29T00:00:00Z", 1709164800.0),
        ("1970-01-01T00:00:00Z", 0.0),
        ("2026-13-01T00:00:00Z", 0.0),
        ("0001-01-01T00:00:00Z", 0.0),
        ("yesterday", 0.0),
        (1796006441, 0.0),
        (None, 0.0),
    ],
)
def test_iso_times_become_seconds(stamp: object, seconds: float) -> None:
    assert times.from_iso(stamp) == seconds


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("Monday, May 4, 2026, 12:39 AM (UTC+5:30)", 1777835340.0),
        ("Monday, May 4, 2026, 12:39 PM (UTC)", 1777898340.0),
        ("Monday, May 4, 2026, 14:00", 1777903200.0),
        ("Monday, Maybe 4, 2026, 12:39 AM", 1777855140.0),
        ("soon", 0.0),
    ],
)
def test_times_in_words_become_seconds(stamp: str, seconds: float) -> None:
    assert times.from_words(stamp) == seconds


def test_a_bad_line_costs_that_line_only() -> None:
    claude = Claude()
    claude.user("one")
    claude.user("two")
    first, second = claude.lines
    bad = [b'{"type":"user","mess', b"\xff\xfe\x00", b"42", b'"text"', b"[1]", b"[" * 100_000]
    session = transcript.parse([first, *bad, b"", b"  ", second])
    assert [entry.text for entry in session.entries] == ["one", "two"]
    assert session.bad_lines == len(bad)


def test_a_pretty_printed_file_is_no_transcript_and_no_fault() -> None:
    text = json.dumps({"messages": [{"id": "1", "type": "user", "content": "hello"}] * 50}, indent=2)
    session = transcript.parse(text.encode().split(b"\n"))
    assert (session.host, session.entries) == ("unknown", ())


def test_a_byte_order_mark_and_bad_bytes_are_tolerated() -> None:
    claude = Claude()
    claude.user("caf@")
    lines = [b"\xef\xbb\xbf" + claude.lines[0].replace(b"@", b"\xe9")]
    assert transcript.parse(lines).entries[0].text == "caf\ufffd"


def test_tool_input_nested_to_the_limit_is_read() -> None:
    deep = b"[" * 400 + b"]" * 400
    head = b'{"type":"assistant","uuid":"u","message":{"content":[{"type":"tool_use","name":"X","input":{"a":'
    session = transcript.parse([head + deep + b"}}]}}"])
    assert session.entries[0].kind == "tool"


@pytest.mark.parametrize(
    ("written", "whole"),
    [(b'{"type":"user"}', True), (b'{"type":"us', False), (b"[1]", False), (b"", False), (b"{}", True)],
)
def test_a_last_line_counts_when_it_is_an_object(written: bytes, whole: bool) -> None:
    assert transcript.is_record(written) is whole


def test_newest_time_and_directory_are_noted() -> None:
    claude = Claude()
    claude.user("one")
    claude.cwd = "/home/dev/app/src"
    claude.user("two")
    session = transcript.parse(claude.lines)
    assert session.cwd == "/home/dev/app/src"
    assert session.last_time == session.entries[1].time > session.entries[0].time


# -- lines that are worth reading

SPACINGS = [(",", ":"), (", ", ": "), (" , ", " : ")]
EDITS = [
    ("Edit", {"file_path": "/a"}),
    ("Write", {"file_path": "/a"}),
    ("MultiEdit", {"file_path": "/a"}),
    ("NotebookEdit", {"notebook_path": "/a"}),
    ("StrReplace", {"path": "/a"}),
    ("Delete", {"path": "/a"}),
    ("EditNotebook", {"target_notebook": "/a"}),
    ("ApplyPatch", "*** Begin Patch\n*** Add File: /a"),
    ("edit", {"path": "/a"}),
    ("write", {"path": "/a"}),
]


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize(("tool", "value"), EDITS)
@pytest.mark.parametrize("first", [True, False])
def test_no_edit_is_missed(spacing: tuple[str, str], tool: str, value: object, first: bool) -> None:
    claude = Claude()
    claude.calls(tool, value)
    claude.record(
        "assistant",
        [
            {"type": "text", "text": "long " * 400},
            {"type": "tool_use", "id": "t", "input": value, "name": tool},
        ],
    )
    for written in claude.lines:
        record = json.loads(written)
        if first:
            record = {"message": record.pop("message"), **record}
        again = json.dumps(record, separators=spacing).encode()
        assert line_filter.edit_like(again)
        assert line_filter.worth_reading(again)


@pytest.mark.parametrize("spacing", SPACINGS)
def test_a_failed_edit_is_seen(spacing: tuple[str, str]) -> None:
    claude = Claude()
    claude.result("x" * 2000, error=True)
    claude.result("denied", toolDenialKind="user-rejected")
    for written in claude.lines:
        assert line_filter.edit_like(json.dumps(json.loads(written), separators=spacing).encode())


@pytest.mark.parametrize("spacing", SPACINGS)
def test_prompts_answers_and_plans_are_worth_reading(spacing: tuple[str, str]) -> None:
    claude = Claude()
    claude.user('a prompt with "tool_result" and "progress" in it')
    claude.user([{"type": "text", "text": "blocks"}], planContent="# plan")
    claude.queue("enqueue", "x")
    claude.attachment(type="queued_command", prompt="typed")
    claude.calls("AskUserQuestion", {"questions": []})
    claude.calls("ExitPlanMode", {"plan": "# plan"})
    claude.result('User has answered your questions: "Q"="A".')
    claude.result("…", toolUseResult={"questions": [], "answers": {}})
    claude.result("User has approved your plan.")
    claude.result("rejected, the user said:\nno", error=True)
    for written in claude.lines:
        again = json.dumps(json.loads(written), separators=spacing).encode()
        assert line_filter.worth_reading(again), again


def test_bulk_is_not_worth_reading() -> None:
    claude = Claude()
    claude.says('prose about a "user" and an "Edit"')
    claude.record("assistant", [{"type": "thinking", "thinking": "x"}])
    claude.calls("Bash", {"command": "ls"})
    claude.result("output")
    claude.attachment(type="prompt_snapshot", content="x")
    others = [
        {"type": "progress", "data": {"message": {"type": "user", "message": {"role": "user"}}}},
        {"type": "file-history-snapshot", "snapshot": {}},
        {"type": "api-request-blob", "message": {"role": "user", "content": "x"}},
        {"type": "system", "subtype": "turn_duration", "uuid": "u"},
    ]
    kept = [one for one in (*claude.lines, *map(line, others)) if line_filter.worth_reading(one)]
    assert kept == []
