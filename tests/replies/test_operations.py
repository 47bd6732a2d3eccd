"""The operations of a normalising reply: found among prose, typed, a cut reply refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.errors import RefusedReply
from decision_hooks.replies.operations import RawOperation, operations
from support.cost import assert_linear

DELETE = {"op": "delete", "file": "a.md", "reason": 'тривіальна: {["]}\\ \n```json\n'}
REWRITE = {
    "op": "rewrite",
    "file": "b.md",
    "slug": "б",
    "content": '---\ntype: ADR\n---\n\n## Context\n\n`{"operations": []}`',
}
ITEMS = [DELETE, REWRITE]
READ = (
    RawOperation(op="delete", file="a.md", reason=DELETE["reason"]),
    RawOperation(op="rewrite", file="b.md", slug="б", content=REWRITE["content"]),
)
WHOLE = json.dumps({"operations": ITEMS}, ensure_ascii=False)
BARE = json.dumps(ITEMS)
PRETTY = json.dumps({"note": "x", "operations": ITEMS}, indent=2)


@pytest.mark.parametrize("value", [WHOLE, BARE, PRETTY], ids=["object", "array", "more keys"])
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "\ufeff{}",
        "```json\n{}\n```",
        "```\n{}\n```\nDone.",
        "Here are the operations:\n\n{}\n\nI hope this helps {{x}}.",
        "I looked at {{these}} [drafts], \"quoted.\n{}",
        "<think>\n[1, 2] {{\"op\": 1}}\n</think>\n{}",
        "hm</think>\n{}",
        "- [ ] one\n- [x] two\n{}\n[]\n",
        '{{"operations": [...]}} is the form:\n{}',
    ],
)  # fmt: skip
def test_operations_are_found_with_anything_around(value: str, around: str) -> None:
    assert operations(around.format(value)) == READ


@pytest.mark.parametrize(
    "reply",
    [
        '{"operations": []}',
        "[]",
        "```json\n[]\n```",
        'None:\n{"operations": []}',
        '{"operations":[],"note":"x"}',
    ],
)
def test_no_operations_are_an_answer(reply: str) -> None:
    assert operations(reply) == ()


@pytest.mark.parametrize(
    "reply",
    ["", "   ", "NONE", "nothing", "{}", '{"a": 1}', "[1, 2]", '"operations"', '{"operations": {}}',
     '{"operations": null}',
     "I have [] nothing for you, there was no draft that could be used in any way", "Credit balance is too low",
     "I could not decide.", '{"operations": [{"op": "dele', '{"operations": "none"}', "[1, 2", "```json\n{",
     '[{"name": "x"}]', "{'operations': []}", '{"operations": [}'],
)  # fmt: skip
def test_anything_else_is_refused(reply: str) -> None:
    with pytest.raises(RefusedReply):
        operations(reply)


@pytest.mark.parametrize("value", [WHOLE, BARE, PRETTY], ids=["object", "array", "more keys"])
@pytest.mark.parametrize("before", ["", "```json\n", "Here:\n\n"])
def test_a_reply_that_is_cut_anywhere_is_refused(value: str, before: str) -> None:
    for end in range(len(value)):
        with pytest.raises(RefusedReply):
            operations(before + value[:end])


def test_raw_newlines_in_strings_are_read() -> None:
    assert (
        operations('{"operations": [{"op": "delete", "file": "a.md", "reason": "a\nb\tc"}]}')[0].reason
        == "a\nb\tc"
    )


def test_the_longer_of_two_answers_counts() -> None:
    assert operations(f'{{"operations": []}}\n\nBetter:\n{WHOLE}') == READ
    assert operations(f'{WHOLE}\n\nAn empty one is {{"operations": []}}.') == READ


@pytest.mark.parametrize("value", [1, None, True, [], {}, ["a"], 1.5])
def test_a_field_of_another_type_is_noted(value: Any) -> None:
    (found,) = operations(json.dumps([{"op": "delete", "file": value}]))
    assert found == RawOperation(op="delete", wrong=() if value is None else ("file",))


def test_an_operation_that_is_no_object_is_noted() -> None:
    found = operations('{"operations": [1, "x", null, [], {"op": "delete", "file": "a.md"}]}')
    assert [raw.wrong for raw in found] == [("operation",)] * 4 + [()]


@pytest.mark.parametrize(
    "reply",
    [
        '{"operations": [{"op": NaN, "file": Infinity}]}',
        '{"operations": [{"op": "delete", "op": "rewrite", "file": "a.md"}]}',
        '{"operations": [{"op": "\\ud800", "file": "\\u0000"}]}',
        '{"operations": [{"op": 1e999999, "file": -0}]}',
    ],
)
def test_odd_json_is_read(reply: str) -> None:
    assert len(operations(reply)) == 1


def test_an_integer_of_many_digits_is_refused_or_noted() -> None:
    try:
        assert operations('{"operations": [{"op": "x", "file": ' + "9" * 10_000 + "}]}")[0].wrong == ("file",)
    except RefusedReply:
        pass


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        ("", "["),
        ("", "{"),
        ("", "[{"),
        ("", '{"operations":'),
        ("", '[{"op":'),
        ("", '"'),
        ('{"operations": [', '"",'),
        ('{"operations": ["', '\\"'),
        ("", "{\n"),
        ("", '{"a": 1}\n'),
        ("", " "),
        ("", "[ "),
        ("", '{"operations": x}'),
        ("", '"\n'),
        ("", '"operations": ['),
        ("", '{"a":"'),
        ("", "\n[1]"),
        ("<think>", "</think"),
    ],
)
def test_a_hostile_reply_of_five_megabytes_costs_little(begin: str, piece: str) -> None:
    def read(text: str) -> None:
        with pytest.raises(RefusedReply):
            operations(begin + text)

    assert_linear(read, piece * (5_000_000 // len(piece)))


def test_deep_json_is_refused() -> None:
    with pytest.raises(RefusedReply):
        operations('{"operations": [' + "[" * 100_000 + "]" * 100_000 + "]}")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["op", "file", "operations", "x"]), inner)
    ),
)


@given(JSON, st.text(max_size=20))
def test_any_json_is_read_or_refused(value: Any, before: str) -> None:
    try:
        found = operations(before + json.dumps(value))
    except RefusedReply:
        return
    assert all(isinstance(field, str) for raw in found for field in raw[:-1])


@given(st.text(alphabet='{}[]",:\\ \nopertains'))
def test_no_text_breaks_it(text: str) -> None:
    try:
        operations(text)
    except RefusedReply:
        pass
