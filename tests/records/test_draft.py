"""The text of a draft."""

from __future__ import annotations

import pytest
import yaml

from decision_hooks.records import draft, front_matter
from decision_hooks.replies.decisions import decisions
from support import adr_texts

(DECISION,) = decisions(adr_texts.block("Кеш"))


def rendered(**changed: object) -> str:
    values = {
        "session": "abc",
        "captured_iso": "2026-03-04T05:06:07+02:00",
        "transcript": "~/t.jsonl",
        "unverified": (),
    }
    return draft.render_draft(DECISION, **{**values, **changed})  # type: ignore[arg-type]


def test_a_draft_is_its_front_matter_session_first_and_its_block() -> None:
    assert rendered() == (
        "---\nsession: abc\ncaptured: '2026-03-04T05:06:07+02:00'\ntranscript: ~/t.jsonl\n---\n\n"
        + adr_texts.block("Кеш")
    )


def test_what_is_not_evidenced_is_listed() -> None:
    text = rendered(unverified=("кеш.py", "5 ms: x", "- y"))
    assert front_matter.read(text).texts("unverified") == ("кеш.py", "5 ms: x", "- y")
    assert "кеш.py" in text


@pytest.mark.parametrize(
    "session",
    [
        "00123",
        "007",
        "1e3",
        "true",
        "null",
        "2026-01-01",
        "~",
        "- x",
        "a\nb",
        "x" * 5000,
        "ї: \"it's\" #1 - 'x'",
    ],
)
def test_a_session_keeps_its_type_for_any_reader(session: str) -> None:
    front = front_matter.split(rendered(session=session)).front
    assert front is not None
    assert yaml.safe_load(front)["session"] == " ".join(session.split())


def test_a_draft_without_a_session_is_of_an_unknown_one() -> None:
    assert front_matter.session_of(rendered(session="")) == "unknown"


def test_decisions_of_equal_title_and_outcome_are_the_same() -> None:
    same = draft.identity("A  b", "c\n d")
    assert draft.identity("a b", "C d") == same
    assert draft.identity("a b", "c e") != same
    assert draft.identity("a", "b c d") != same
    assert draft.identity("\ud800", "") == draft.identity("\ud800", "")
