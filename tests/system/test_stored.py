"""Stored JSON becomes the value that the annotations promise, or its defaults; never anything else."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.system import stored


def short(text: str) -> str | None:
    """The text in capital letters; None for a long one."""
    return text.upper() if len(text) < 4 else None


class Inner(NamedTuple):
    """A value within another."""

    name: Annotated[str, short]
    number: int | None


class Outer(NamedTuple):
    """A value with a field of each kind."""

    key: str
    inner: Inner | None = None
    rows: tuple[Inner, ...] = ()
    pairs: tuple[tuple[str, int], ...] = ()
    counts: dict[str, Annotated[int, range(1, 5)]] | None = None
    flag: bool = False
    seconds: float = 0.5


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=7) | st.dictionaries(st.sampled_from(Outer._fields), inner, max_size=5)
    ),
    max_leaves=10,
)


def test_each_kind_of_field_is_read() -> None:
    value = {
        "key": "k",
        "inner": ["a", None],
        "rows": [["b", 1], {"name": "c", "number": 2, "more": 3}],
        "pairs": [["d", 4]],
        "counts": {"e": 4},
        "flag": True,
        "seconds": 1,
    }
    rows = (Inner("B", 1), Inner("C", 2))
    assert stored.read(Outer, value) == Outer("k", Inner("A", None), rows, (("d", 4),), {"e": 4}, True, 1.0)


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        ("inner", ["a"], None),
        ("inner", ["long", 1], None),
        ("inner", {"name": "a"}, None),
        ("rows", "ab", ()),
        ("rows", [["a", 1], ["a", True], 5, None], (Inner("A", 1),)),
        ("pairs", [["a", 1], ["a"], ["a", "b"], ["a", 1, 2]], (("a", 1),)),
        ("counts", {"a": 0, "b": 1, "c": 5, "d": True}, {"b": 1}),
        ("counts", [["a", 1]], None),
        ("flag", 1, False),
        ("seconds", True, 0.5),
        ("seconds", float("nan"), 0.5),
        ("seconds", "1", 0.5),
    ],
)
def test_a_wrong_field_gets_its_default_and_wrong_items_are_left_out(
    field: str, value: Any, wanted: object
) -> None:
    assert stored.read(Outer, {"key": "k", field: value}) == Outer("k")._replace(**{field: wanted})


@pytest.mark.parametrize("value", [None, 5, "k", [], {}, {"key": None}, {"key": 5}, ["k"]])
def test_without_a_field_that_has_no_default_nothing_is_read(value: object) -> None:
    assert stored.read(Outer, value) is None
    assert stored.read_rows(Outer, [value, {"key": "k"}]) == (Outer("k"),)
    assert stored.read_rows(Outer, {"key": "k"}) == ()


@given(JSON)
def test_any_json_is_read_or_not_and_what_is_read_has_its_types(value: object) -> None:
    found = stored.read(Outer, value)
    assert found is None or (isinstance(found.key, str) and isinstance(found.seconds, float))
    assert all(isinstance(row, Inner) and len(row.name) < 7 for row in (found.rows if found else ()))
