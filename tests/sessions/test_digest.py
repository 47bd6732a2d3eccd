"""The digest: masked before any cut, never over the budget, requests kept longest, and it says what is left out."""

from __future__ import annotations

import re
import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.sessions import digest
from decision_hooks.sessions.digest import Context, Piece, render, shares
from decision_hooks.sessions.model import Entry, Session
from decision_hooks.text.cutting import head, tail


def unmasked(text: str) -> str:
    return text


def session(*entries: tuple[str, str]) -> Session:
    return Session("claude", tuple(Entry(kind, text, tool="Bash") for kind, text in entries))


def left_out(text: str) -> int:
    """The characters that a digest says are left out."""
    match = re.match(r"\[([\d,]+) characters of the session are left out: tool results, ", text)
    return int(match[1].replace(",", "")) if match else 0


def test_a_session_that_fits_is_told_whole() -> None:
    found = render(
        session(
            ("user", "which store?"),
            ("thinking", "embedded is simpler"),
            ("assistant", "SQLite or Redis."),
            ("tool", "command: ls"),
            ("result", "a.py"),
            ("answer", "The user chose: SQLite"),
            ("plan", "# Use SQLite"),
            ("user", "go"),
        ),
        mask=unmasked,
    )
    assert found == (
        "[user]\nwhich store?\n\n[assistant]\n(thinking) embedded is simpler\nSQLite or Redis.\n"
        "(tool Bash) command: ls\n(result Bash) a.py\n\n[user]\n(answer) The user chose: SQLite\n\n"
        "[assistant]\n(plan) # Use SQLite\n\n[user]\ngo"
    )


def test_inputs_and_results_of_tools_keep_three_hundred_characters() -> None:
    text = render(session(("tool", "i" * 5000), ("result", "r" * 5000)), mask=unmasked)
    assert (text.count("i" * 300), text.count("i" * 301)) == (1, 0)
    assert (text.count("r" * 300), text.count("r" * 301)) == (1, 0)


@pytest.mark.parametrize("kind", ["user", "assistant", "thinking", "plan", "answer", "tool", "result"])
def test_a_secret_at_the_place_of_a_cut_is_masked_before_it(kind: str) -> None:
    secret = "s3cr3t-" * 20
    text = "x" * 250 + secret + "y" * 400_000 + secret + "z" * 250
    for budget in range(1000, 3000, 97):
        found = render(session((kind, text)), mask=lambda t: t.replace(secret, "[secret]"), budget=budget)
        assert "s3cr3t" not in found


def test_texts_are_masked_whole() -> None:
    seen: list[str] = []

    def mask(text: str) -> str:
        seen.append(text)
        return text

    texts = ["a" * 3000, "b" * 9000, "c" * 200]
    render(session(("user", texts[0]), ("assistant", texts[1]), ("user", texts[2])), mask=mask, budget=6000)
    assert sorted(seen) == texts


def test_little_more_than_what_is_sent_is_masked() -> None:
    masked = 0

    def mask(text: str) -> str:
        nonlocal masked
        masked += len(text)
        return text

    entries = [
        ("result", "r" * 20_000),
        ("thinking", "t" * 500),
        ("assistant", "a" * 500),
        ("user", "u" * 50),
    ]
    render(session(*entries * 1000), mask=mask)
    assert masked < 250_000


def test_tool_results_then_inputs_then_thinking_go_first_and_oldest_first() -> None:
    entries = [
        (kind, f"{kind}-{number} " + "x" * 200)
        for number in range(40)
        for kind in ("user", "thinking", "assistant", "tool", "result")
    ]
    order = ("result", "tool", "thinking")
    for budget in range(18_000, 48_000, 900):
        text = render(session(*entries), mask=unmasked, budget=budget)
        kept = {
            kind: [n for n in range(40) if f"{kind}-{n} " in text] for kind in (*order, "user", "assistant")
        }
        assert len(kept["user"]) == 40
        for kind in order:
            assert kept[kind] == list(range(40 - len(kept[kind]), 40))
        for early, late in zip(order, (*order[1:], "assistant"), strict=True):
            assert not kept[early] or len(kept[late]) == 40


def test_assistant_text_goes_from_the_middle() -> None:
    entries = [("user", "go"), *[("assistant", f"text-{number} " + "x" * 500) for number in range(100)]]
    text = render(session(*entries), mask=unmasked, budget=20_000)
    kept = [number for number in range(100) if f"text-{number} " in text]
    assert kept[0] == 0
    assert kept[-1] == 99
    gaps = [b - a for a, b in pairwise(kept) if b - a > 1]
    assert len(gaps) == 1
    assert len(text) > 18_000


def test_a_single_long_text_keeps_head_and_tail() -> None:
    text = "\n".join(f"line {number}" for number in range(20_000))
    found = render(session(("user", "go"), ("assistant", text)), mask=unmasked, budget=10_000)
    assert "line 0\n" in found
    assert found.endswith("line 19999")
    assert "characters left out …]" in found
    shown = [line for line in found.split("\n") if line.startswith("line ")]
    assert set(shown) <= set(text.split("\n"))
    assert 9_000 < len(found) <= 10_000


def test_requests_stay_whole_while_assistant_text_can_go() -> None:
    requests = [("user", f"request-{number} " + "u" * 900 + f" end-{number}") for number in range(50)]
    texts = [("assistant", "a" * 3000) for _ in range(50)]
    pairs = [entry for pair in zip(requests, texts, strict=True) for entry in pair]
    text = render(session(*pairs), mask=unmasked)
    assert all(f"end-{number}" in text for number in range(50))
    assert len(text) > 110_000


def test_a_long_request_keeps_head_and_tail() -> None:
    text = "BEGIN " + "u" * 300_000 + " END"
    found = render(session(("user", text), ("assistant", "ok"), ("user", "short")), mask=unmasked)
    assert "BEGIN" in found
    assert " END" in found
    assert "short" in found
    assert 100_000 < len(found) <= 120_000


def test_requests_that_alone_exceed_half_keep_first_and_last_whole_and_little_of_the_middle() -> None:
    requests = [("user", f"request-{number} " + "u" * 1000 + f" end-{number}.") for number in range(150)]
    texts = [("assistant", "a" * 1000) for _ in range(150)]
    pairs = [entry for pair in zip(requests, texts, strict=True) for entry in pair]
    text = render(session(*pairs), mask=unmasked)
    assert " end-0." in text
    assert " end-149." in text
    assert " end-75." not in text
    assert all(f"request-{number} " in text for number in range(150))
    assert text.count("a" * 1000) > 40


def test_requests_in_the_middle_go_when_little_of_them_is_too_much() -> None:
    requests = [("user", f"request-{number} " + "u" * 1000 + f" end-{number}.") for number in range(3000)]
    found = render(session(*requests), mask=unmasked)
    assert "request-0 " in found
    assert "request-2999 " in found
    assert "request-1500 " not in found
    assert left_out(found) > 2_900_000


def test_the_digest_says_how_much_is_left_out() -> None:
    found = render(session(("user", "go"), ("assistant", "a" * 50_000)), mask=unmasked, budget=5_000)
    assert 45_000 < left_out(found) < 50_000


def test_context_comes_first_is_marked_and_has_its_own_limit() -> None:
    context = Context(
        "f" * 9000, ("Use SQLite", "Use WAL"), "b" * 200_000 + "last option", "user " + "w" * 9000
    )
    text = render(session(("user", "go on")), mask=unmasked, context=context)
    before, _, part = text.partition("[end of context]\n\n")
    assert before.startswith("[context: already judged")
    assert len(before) <= 8000
    assert "- Use SQLite\n- Use WAL" in before
    assert "last option" in before
    assert part == "[user]\ngo on"


def test_short_context_is_whole_and_masked() -> None:
    context = Context("first", ("Title",), "assistant said", "user said")
    text = render(session(("user", "go")), mask=str.upper, context=context)
    assert text == (
        "[context: already judged, take no decision from it]\n"
        "First request of the session:\nFIRST\n\nDecisions already written:\n- TITLE\n\n"
        "The user's words before this part:\nUSER SAID\n\n"
        "The assistant's last message before this part:\nASSISTANT SAID\n\n"
        "[end of context]\n\n[user]\nGO"
    )


KINDS = st.sampled_from(("user", "answer", "assistant", "plan", "thinking", "tool", "result"))
ENTRY = st.tuples(KINDS, st.text(max_size=60), st.integers(0, 80))


@given(st.lists(ENTRY, max_size=25), st.integers(-5, 20_000), st.sampled_from((0, 1, 30)), st.booleans())
def test_no_digest_is_longer_than_its_budget(
    entries: list[tuple[str, str, int]], budget: int, grow: int, with_context: bool
) -> None:
    part = session(*[(kind, text * times) for kind, text, times in entries])
    context = Context("first", ("t",) * 30, "b" * 9000, "u") if with_context else digest.NO_CONTEXT
    found = render(part, mask=lambda text: text + "m" * grow, budget=budget, context=context)
    assert len(found) <= max(0, budget)


@given(st.lists(st.tuples(KINDS, st.integers(0, 9000)), max_size=40), st.integers(500, 60_000))
def test_shares_fit_into_the_budget(sizes: list[tuple[str, int]], budget: int) -> None:
    pieces = [Piece(kind, size) for kind, size in sizes]
    found = shares(pieces, budget)
    assert all(0 <= share.kept <= piece.size for piece, share in zip(pieces, found, strict=True))
    assert sum(share.kept for share in found) <= max(budget, 0)
    if sum(piece.cost for piece in pieces) <= budget:
        assert [share.kept for share in found] == [piece.size for piece in pieces]


@given(st.text(), st.integers(-3, 40))
def test_a_cut_keeps_the_limit_and_parts_no_character(text: str, size: int) -> None:
    first, last = head(text, size), tail(text, size)
    assert text.startswith(first)
    assert text.endswith(last)
    assert max(len(first), len(last)) <= max(0, size)
    if len(first) < len(text) and first:
        assert unicodedata.category(text[len(first)])[0] != "M"
    if len(last) < len(text) and last:
        assert unicodedata.category(last[0])[0] != "M"


@pytest.mark.parametrize("text", ["ab\u0301cd", "a👩\u200d💻b", "a👍🏽b", "i\u0308\u0301x", "a\ud83d\ude00b"])
def test_marks_joiners_and_pairs_stay_with_their_letter(text: str) -> None:
    whole = {"b\u0301", "👩\u200d💻", "👍🏽", "i\u0308\u0301", "\ud83d\ude00"}
    for size in range(len(text) + 1):
        for part in (head(text, size), tail(text, size)):
            rest = text.replace(part, "", 1) if part else text
            assert not any(one in text and one not in part and one not in rest for one in whole)


def test_a_cut_is_at_a_line_where_there_is_one() -> None:
    assert head("one\ntwo\nthree", 9) == "one\ntwo"
    assert tail("one\ntwo\nthree", 7) == "three"
    assert tail("one\ntwo\nthree", 9) == "two\nthree"


def test_three_megabytes_are_told_quickly() -> None:
    entries = [
        ("user", "u" * 100),
        ("assistant", "a" * 400),
        ("tool", "t" * 900),
        ("result", "r" * 3000),
    ] * 700
    part = session(*entries)
    begin = time.process_time()
    render(part, mask=unmasked)
    assert time.process_time() - begin < 0.5
