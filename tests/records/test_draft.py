"""The text of a draft."""

from __future__ import annotations

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


def test_a_session_keeps_its_type_for_any_reader() -> None:
    front = front_matter.split(rendered(session="00123")).front
    assert front is not None
    assert yaml.safe_load(front)["session"] == "00123"
    assert front_matter.session_of(rendered(session="")) == "unknown"


def test_decisions_of_equal_title_and_outcome_are_the_same() -> None:
    same = draft.identity("A  b", "c\n d")
    assert draft.identity("a b", "C d") == same
    assert draft.identity("a b", "c e") != same
    assert draft.identity("a", "b c d") != same
    assert draft.identity("\ud800", "") == draft.identity("\ud800", "")
