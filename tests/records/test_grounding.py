"""What a decision claims, and what of it is not known."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.records import grounding
from support.cost import assert_linear


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Uses `foo.py` and `bar`.", ("foo.py", "bar")),
        ("`run()` `a.py:12` `a.py:12-20` `b.py:3:7` `x,` `y();`", ("run", "a.py", "b.py", "x", "y")),
        ("`a   b\t c`", ("a b c",)),
        ("``code with ` tick``", ("code with ` tick",)),
        ("`one` `one` `two`", ("one", "two")),
        ("` ` `…` `-`", ()),
        ("`never closed", ()),
        ("`a`` b`", ("a`` b",)),
        ("```\n`no` 5 ms\n```\n`yes`", ("yes",)),
        ("takes 150 ms, 2.5s and 30 %", ("150 ms", "2.5s", "30 %")),
        ("1,500 tokens, 10 000 рядків, 5 хв, 20MB/s", ("1,500 tokens", "10 000 рядків", "5 хв", "20MB/s")),
        ("costs $20 or €1.5", ("$20", "€1.5")),
        ("version 1.2.3, port 8080, 2026-01-02, #12, step 3, v2", ()),
        ("`10 ms` in ticks", ("10 ms",)),
        ("3 items", ("3 items",)),
        ("", ()),
    ],
)
def test_claims_are_spans_and_numbers_with_a_unit(text: str, claims: tuple[str, ...]) -> None:
    assert grounding.claims(text) == claims


@pytest.mark.parametrize(
    ("claim", "digits"),
    [
        ("150 ms", "150"), ("1,500 tokens", "1500"), ("1 500 tokens", "1500"), ("2,5 с", "2.5"), ("$20", "20"),
        ("30%", "30"), ("foo", ""), ("8080", ""), ("foo 150 ms", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_number_counts_by_its_digits(claim: str, digits: str) -> None:
    assert grounding.number_digits(claim) == digits


def test_texts_are_compared_with_white_space_folded_and_numbers_alike() -> None:
    assert grounding.normal(" a\n\tb  c ") == "a b c"
    assert grounding.normal("1,500 and 1_500 and 1 500") == "1500 and 1500 and 1500"
    assert grounding.normal("2,5") == grounding.normal("2.5")
    assert grounding.normal("и\u0306") == grounding.normal("й")


def test_unverified_are_those_that_are_not_known() -> None:
    asked: list[str] = []

    def known(claim: str) -> bool:
        asked.append(claim)
        return claim == "b"

    assert grounding.unverified(["a", "b", "1,5 s"], known) == ("a", "1,5 s")
    assert asked == ["a", "b", "1.5 s"]


def test_at_most_twenty_of_at_most_120_characters() -> None:
    found = grounding.unverified([f"{n} {'x' * 200}" for n in range(30)], lambda claim: False)
    assert len(found) == 20
    assert {len(item) for item in found} == {120}


@given(st.text(alphabet="`ab 1ms\n~%,.$:()"))
def test_any_text_has_claims_of_one_line(text: str) -> None:
    for claim in grounding.claims(text):
        assert claim == claim.strip()
        assert "\n" not in claim
        grounding.number_digits(claim)


@pytest.mark.parametrize(
    ("piece", "count"),
    [("`", 500_000), ("` `` ", 100_000), ("1 ", 300_000), ("1,", 300_000), ("1 000", 100_000), (" ", 500_000),
     (" 1", 300_000), ("1,000", 100_000), ("$", 500_000), ("1 k", 200_000), ("1 000,000 ", 100_000)],
)  # fmt: skip
def test_a_huge_text_costs_little(piece: str, count: int) -> None:
    assert_linear(grounding.claims, piece * count)
    assert_linear(lambda text: grounding.claims(f"`{text}`"), piece * count)


@pytest.mark.parametrize(
    "text",
    ["".join("`" * n + " " for n in range(900)), "`" + ":1" * 100_000 + "`", "`" + ":1" * 100_000 + "x`"],
)
def test_a_text_of_a_bad_will_costs_little(text: str) -> None:
    begin = time.process_time()
    grounding.claims(text)
    assert time.process_time() - begin < 3
