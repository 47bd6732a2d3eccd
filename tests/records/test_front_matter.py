"""Front matter: read of any origin, written so that every reader gets the same strings."""

from __future__ import annotations

import time
from datetime import date

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.records import front_matter


@pytest.mark.parametrize(
    ("text", "front", "body"),
    [
        ("---\na: 1\n---\nbody\n", "a: 1\n", "body\n"),
        ("\ufeff---\na: 1\n---\nbody", "a: 1\n", "body"),
        ("---\r\na: 1\r\n---\r\nbody\r\n", "a: 1\r\n", "body\r\n"),
        ("---  \na: 1\n---\t\nbody", "a: 1\n", "body"),
        ("---\na: 1\n...\nbody", "a: 1\n", "body"),
        ("---\n---\nbody", "", "body"),
        ("---\na: 1\n---", "a: 1\n", ""),
        ("body\n---\na: 1\n---\n", None, "body\n---\na: 1\n---\n"),
        ("---\na: 1\nnever closed", None, "---\na: 1\nnever closed"),
        ("----\na: 1\n---\n", None, "----\na: 1\n---\n"),
        ("", None, ""),
        ("---", None, "---"),
    ],
)
def test_front_matter_is_parted_from_the_body(text: str, front: str | None, body: str) -> None:
    assert front_matter.split(text) == (front, body)


def test_scalars_stay_strings() -> None:
    read = front_matter.read("---\na: no\nb: 2026-01-02\nc: 0012\nd: null\ne: [1, yes]\nf: {g: 1.0}\n---\nx")
    assert read.front == {
        "a": "no",
        "b": "2026-01-02",
        "c": "0012",
        "d": "null",
        "e": ["1", "yes"],
        "f": {"g": "1.0"},
    }
    assert (read.valid, read.body) == (True, "x")
    assert (read.text("a"), read.text("e"), read.text("zz")) == ("no", "", "")
    assert (read.texts("e"), read.texts("a"), read.texts("zz")) == (("1", "yes"), ("no",), ())


@pytest.mark.parametrize(
    "front",
    [
        "title: a: b\nother: 'x'",
        "title: `a` and\nother: x\n  - y",
        "title: 'open\nother: x",
        "\ttitle: a\nother: x",
        'title: "a\\q"\nother: x',
        "title: \x00\nother: x",
        'title: "\\U99999999"\nother: x',
    ],
)
def test_invalid_yaml_gives_the_keys_that_its_lines_hold(front: str) -> None:
    read = front_matter.read(f"---\n{front}\n---\nbody")
    assert not read.valid
    assert read.text("other") == "x"
    assert read.body == "body"


@pytest.mark.parametrize("front", ["- a\n- b", "just text", "42"])
def test_front_matter_that_is_no_map_is_invalid(front: str) -> None:
    read = front_matter.read(f"---\n{front}\n---\n")
    assert (read.front, read.body, read.valid) == ({}, "", False)


@pytest.mark.parametrize(
    "front",
    [
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "".join(
            f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
        ),
        "a: &a [*a]",
        "a: " + "[" * 3000,
        "a: " + "{b: " * 3000,
        "a: " + "x" * 200_000,
        "a:" + " " * 60_000 + "x\nb: [",
        "\n".join(f"k{n}: v" for n in range(5000)),
    ],
    ids=["aliases", "itself", "lists", "maps", "long", "spaces", "many"],
)
def test_front_matter_of_a_bad_will_costs_little(front: str) -> None:
    begin = time.process_time()
    assert not front_matter.read(f"---\n{front}\n---\nbody").valid
    assert time.process_time() - begin < 2


@pytest.mark.parametrize(
    ("head", "session"),
    [
        ("---\nsession: abc\n---\n", "abc"),
        ("---\ntitle: x\nsession: 'a b'\n---\n", "a b"),
        ("---\nsession:\n---\n", ""),
        ('---\n"session": x\n---\n', "x"),
        ("---\r\nsession: abc\r\ncaptured: x\r\n---\r\n", "abc"),
        ("\ufeff---\nsession: abc\n---\n", "abc"),
        ("---\nsession: abc\ncut", "abc"),
        ("---\ntype: ADR\n---\nsession: abc\n", None),
        ("---\nsessions: abc\n---\n", None),
        ("---\nx:\n  session: abc\n---\n", None),
        ("session: abc\n", None),
        ("", None),
    ],
)
def test_a_draft_is_known_by_its_session(head: str, session: str | None) -> None:
    assert front_matter.session_of(head) == session


def test_a_file_is_written_in_order_unfolded_and_with_letters() -> None:
    front = [
        ("type", "ADR"),
        ("title", "Кеш: " + "довга назва " * 20),
        ("date", date(2026, 1, 2)),
        ("list", ["a b", "- c"]),
    ]
    text = front_matter.render(front, "\n\nтекст\n\n")
    assert text == (
        f"---\ntype: ADR\ntitle: 'Кеш: {'довга назва ' * 20}'\ndate: 2026-01-02\nlist:\n- a b\n- '- c'\n---\n\nтекст\n"
    )


@pytest.mark.parametrize(
    "value", ["no", "2026-01-02", "123", "1e3", "~", "null", "a: b", "# x", "", " x ", "- a", "*", "`a`"]
)
def test_a_string_is_read_as_the_same_string_by_any_reader(value: str) -> None:
    front = front_matter.split(front_matter.render([("a", value)], "")).front
    assert front is not None
    assert yaml.safe_load(front) == {"a": value}


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.text() | st.lists(st.text(), max_size=4), max_size=5
    ),
    st.text(),
)
def test_what_is_written_is_read_again(front: dict[str, object], body: str) -> None:
    read = front_matter.read(front_matter.render(list(front.items()), body))
    cleaned = {
        key: front_matter.clean(value)
        if isinstance(value, str)
        else [front_matter.clean(item) for item in value]  # type: ignore[attr-defined]
        for key, value in front.items()
    }
    assert (read.front, read.valid) == (cleaned, True)
    assert read.body.strip("\n") == front_matter.clean(body).strip("\n")


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    front_matter.read(f"---\n{text}\n---\n")
    front_matter.read(text)
    front_matter.session_of(text)
    front_matter.split(text)
