"""JSON as text: read as strictly as the standard says, changed in one place only."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decision_hooks.errors import DecisionHooksError
from decision_hooks.install import json_text
from decision_hooks.install.json_text import Node, NotStrict

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)
LAYOUTS = st.sampled_from([None, 1, 4, "\t"])
PIECES = st.sampled_from([*'{}[],:"\\/ \n\r\t0123-+.eEu', "true", "null", '"a"', '"b":', "//", "\u00a0", "1"])


def value_of(text: str, node: Node) -> object:
    """The value of a node, by way of its own parts."""
    if node.kind == "object":
        return {member.key: value_of(text, member.value) for member in node.members}
    if node.kind == "array":
        return [value_of(text, item) for item in node.items]
    return json.loads(text[node.start : node.end])


def strict(text: str) -> object:
    """What the standard library reads when it is as strict as it should be; raises ``ValueError``."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("twice")
        return dict(pairs)

    def never(word: str) -> object:
        raise ValueError(word)

    return json.loads(text, object_pairs_hook=once, parse_constant=never)


@settings(deadline=None)
@given(VALUES, LAYOUTS, st.booleans())
def test_every_json_text_is_read_and_its_parts_are_where_the_nodes_say(
    value: object, indent: int | str | None, plain: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=plain)
    assert value_of(text, json_text.parse(text)) == value


@settings(max_examples=500, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_exactly_what_is_strict_json_is_read(text: str) -> None:
    try:
        value = strict(text)
    except ValueError:
        with pytest.raises(NotStrict):
            json_text.parse(text)
    else:
        assert repr(value_of(text, json_text.parse(text))) == repr(value)


@settings(deadline=None)
@given(VALUES.filter(lambda value: isinstance(value, dict)), VALUES, LAYOUTS)
def test_a_member_is_added_and_dropped_without_touching_any_other_byte(
    tree: dict[str, object], value: object, indent: int | str | None
) -> None:
    tree.pop("new", None)
    text = json.dumps(tree, indent=indent)
    root = json_text.parse(text)
    grown = json_text.add_member(text, root, "new", value, json_text.style_of(text, root))
    assert json.loads(grown) == {**tree, "new": value}
    assert list(json.loads(grown))[-1] == "new"
    assert json_text.drop_member(grown, json_text.parse(grown), "new") == text


@settings(deadline=None)
@given(st.lists(VALUES, max_size=4), VALUES, LAYOUTS)
def test_an_item_is_added_and_dropped_without_touching_any_other_byte(
    items: list[object], value: object, indent: int | str | None
) -> None:
    text = json.dumps(items, indent=indent)
    root = json_text.parse(text)
    grown = json_text.add_item(text, root, value, json_text.style_of(text, root))
    assert json.loads(grown) == [*items, value]
    assert json_text.drop_item(grown, json_text.parse(grown), len(items)) == text


@settings(deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=5), st.data())
def test_any_item_can_be_dropped(items: list[object], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(items) - 1))
    text = json.dumps(items, indent=2)
    assert (
        json.loads(json_text.drop_item(text, json_text.parse(text), index))
        == items[:index] + items[index + 1 :]
    )


@pytest.mark.parametrize(
    ("text", "newline", "indent", "inline", "comma", "colon"),
    [
        ('{\n  "a": 1\n}', "\n", "  ", False, ", ", ": "),
        ('{\r\n\t"a": 1\r\n}', "\r\n", "\t", False, ", ", ": "),
        ('{\n    "a": 1\n}', "\n", "    ", False, ", ", ": "),
        ('{"a": 1, "b": 2}\n', "\n", "  ", True, ", ", ": "),
        ('{"a":1,"b":2}', "\n", "  ", True, ",", ":"),
        ("{}", "\n", "  ", False, ", ", ": "),
    ],
)
def test_the_layout_of_a_text_is_recognised(
    text: str, newline: str, indent: str, inline: bool, comma: str, colon: str
) -> None:
    style = json_text.style_of(text, json_text.parse(text))
    assert style == (newline, indent, inline, comma, colon)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{\n  // x\n  "a": 1}', "line 2: a comment"),
        ('{"a": 1, # x\n}', "line 1: a comment"),
        ('{\n"a": 1,\n}', "line 2: a comma before }"),
        ("[1,]", "line 1: a comma before ]"),
        ('{"a": 1, "\\u0061": 2}', 'line 1: the key "a" is there twice'),
        ('{"a": ', "line 1: the text ends where a value is expected"),
        ("", "line 1: the text ends where a value is expected"),
        ("{} {}", "line 1: more text after the value"),
        ("{'a': 1}", 'line 1: "\'" where a key in double quotes is expected'),
        ('{"a": "b', "line 1: a string that is not closed"),
        ("[" * 5000, "nested too deeply"),
    ],
)
def test_a_refusal_says_where_and_why(text: str, words: str) -> None:
    with pytest.raises(NotStrict) as error:
        json_text.parse(text)
    assert words in str(error.value)
    assert isinstance(error.value, DecisionHooksError)
