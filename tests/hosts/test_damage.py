"""Damaged lines, repeated messages, odd shapes: what costs what, for every host."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.hosts import transcript
from decision_hooks.hosts.fields import parse_objects
from support.cost import assert_linear


def claude(text: str, number: int = 0) -> dict[str, Any]:
    """A request in Claude Code."""
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return {"parentUuid": None, "type": "user", "uuid": f"u{number}", "cwd": "/p", "message": message}


def cursor(text: str, number: int = 0) -> dict[str, Any]:
    """A request in Cursor."""
    return {
        "role": "user",
        "message": {"content": [{"type": "text", "text": f"<user_query>{text}</user_query>"}]},
    }


def pi(text: str, number: int = 0) -> dict[str, Any]:
    """A request in pi."""
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return {"type": "message", "id": f"a{number}", "parentId": None, "message": message}


def codex(text: str, number: int = 0) -> dict[str, Any]:
    """A request in Codex."""
    payload = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return {"timestamp": "2026-03-04T05:06:07Z", "type": "response_item", "payload": payload}


PI = b'{"type":"session","version":3,"id":"s","cwd":"/p"}'
HOSTS = {"claude": claude, "cursor": cursor, "pi": pi, "codex": codex}
Make = Callable[..., dict[str, Any]]


def words(lines: list[bytes]) -> list[str]:
    """What a person typed, by the reader."""
    header = PI if b'"parentId"' in b"".join(lines) else None
    return [entry.text for entry in transcript.parse(lines, header=header).entries if entry.kind == "user"]


@pytest.fixture(params=HOSTS.values(), ids=HOSTS.keys())
def make(request: pytest.FixtureRequest) -> Make:
    """The maker of a request of each host."""
    return request.param  # type: ignore[no-any-return]


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("share", [0.1, 0.4, 0.8, 0.99])
def test_a_record_behind_the_stub_of_a_killed_write_is_read(make: Make, share: float, compact: bool) -> None:
    def line(value: object) -> bytes:
        return json.dumps(value, separators=(",", ":") if compact else None).encode()

    stub = line(make("lost {words} of a stub", 1))
    damaged = stub[: int(len(stub) * share)] + line(make("second", 2))
    assert words([line(make("first", 0)), damaged, line(make("third", 3))]) == ["first", "second", "third"]


@pytest.mark.parametrize("between", [b"", b" ", b"\0" * 300, b"\x00\xff\xfe", b",", b"garbage {x} "])
def test_two_records_on_one_line_are_both_read(make: Make, between: bytes) -> None:
    one, two = (json.dumps(make(text, number)).encode() for number, text in enumerate(("one", "two")))
    assert words([b"\0\0" + one + between + two]) == ["one", "two"]


def test_braces_within_texts_part_no_record(make: Make) -> None:
    text = 'if (x) {"type":"user"}{"role": 1}'
    assert words([json.dumps(make(text)).encode()]) == [text]


def test_a_record_cut_at_its_end_is_none() -> None:
    line = json.dumps(claude("being written")).encode()
    assert parse_objects(line[:-3]) == []
    assert not transcript.is_record(line[:-3])


@given(
    st.lists(
        st.sampled_from([json.dumps(claude("x")), '{"type":"us', "\0", "}", '{"uuid":"', " "]), max_size=8
    )
)
def test_whole_records_among_fragments_are_found(pieces: list[str]) -> None:
    whole = pieces.count(json.dumps(claude("x")))
    found = parse_objects("".join(pieces).encode())
    assert len([record for record in found if record.get("type") == "user"]) <= whole
    if set(pieces) <= {json.dumps(claude("x")), "\0", "}", " "}:
        assert len(found) == whole


@pytest.mark.parametrize("unit", ['{"type":"user"', '{"uuid":{', '{"id":"', "{", '{"role":[', "\0"])
def test_a_damaged_line_of_any_length_is_read_in_linear_time(unit: str) -> None:
    assert_linear(lambda text: parse_objects(text.encode()), unit * (1_000_000 // len(unit)))


# -- a message that is written again


def said(text: str, number: int, *, message: str = "msg_1") -> bytes:
    """A row of an answer of Claude Code."""
    content = [{"type": "text", "text": text}]
    record = {
        "type": "assistant",
        "uuid": f"a{number}",
        "message": {"id": message, "role": "assistant", "content": content},
    }
    return json.dumps(record).encode()


def called(command: str, number: int) -> bytes:
    """A row of a call of Claude Code."""
    block = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": command}}
    message = {"id": "msg_1", "role": "assistant", "content": [block]}
    return json.dumps({"type": "assistant", "uuid": f"c{number}", "message": message}).encode()


def test_a_message_that_grows_row_by_row_is_there_once_in_its_last_form() -> None:
    rows = [
        said("We take", 1),
        said("We take SQLite", 2),
        called("ls", 3),
        said("We take SQLite now", 4),
        called("ls -l", 5),
    ]
    entries = transcript.parse(rows).entries
    assert [(entry.kind, entry.text) for entry in entries] == [
        ("assistant", "We take SQLite now"),
        ("tool", "ls -l"),
    ]


def test_texts_of_one_message_that_differ_and_equal_texts_of_two_messages_all_stay() -> None:
    rows = [said("One.", 1), said("Two.", 2), said("One.", 3, message="msg_2")]
    texts = [entry.text for entry in transcript.parse(rows).entries]
    assert texts == ["One.\nTwo.", "One."]


@pytest.mark.parametrize(
    "value",
    [
        {"file_path": "/p/a.py"},
        '{"file_path": "/p/a.py"}',
        ' {"file_path":"/p/a.py","new_string":"{}"}',
    ],
)
@pytest.mark.parametrize("alone", [True, False])
def test_an_edit_counts_in_each_shape_of_its_record(value: object, alone: bool) -> None:
    block = {"type": "tool_use", "id": "t", "name": "Edit", "input": value}
    for record in (
        {
            "type": "assistant",
            "uuid": "a",
            "message": {"role": "assistant", "content": block if alone else [block]},
        },
        {"role": "assistant", "message": {"content": block if alone else [block]}},
        {
            "type": "message",
            "id": "x",
            "message": {
                "role": "assistant",
                "content": [{"type": "toolCall", "id": "t", "name": "edit", "arguments": value}],
            },
        },
    ):
        header = PI if record.get("id") == "x" else None
        session = transcript.parse([json.dumps(record).encode()], header=header)
        assert [edit.path for edit in session.edits] == ["/p/a.py"], record
