"""Phrases, the form of a body, decisions of choices, and the text of a draft."""

from __future__ import annotations

import pytest
import yaml

from decision_hooks.languages import table
from decision_hooks.records import front_matter, madr
from decision_hooks.replies.decisions import decisions
from support import adr_texts

UK, EN = table.language("uk"), table.language("en")


def test_the_headings_are_exact() -> None:
    assert madr.HEADINGS == (
        "## Context and Problem Statement",
        "## Considered Options",
        "## Decision Outcome",
        "### Consequences",
        "## More Information",
    )


def test_the_phrases_for_silence() -> None:
    assert madr.phrases(UK) == (
        "Контекст у transcript не зафіксовано.",
        "Інші варіанти в transcript не обговорювалися.",
        "Рішення в transcript не зафіксовано.",
        "Neutral, because transcript не містить підтвердження наслідку.",
        "Додаткової інформації в transcript не зафіксовано.",
    )
    assert madr.phrases(table.language("Polish")) == (
        "The transcript does not state the context.",
        "No other options were discussed in the transcript.",
        "The transcript does not state the decision.",
        "Neutral, because the transcript does not confirm any consequence.",
        "The transcript holds no further information.",
    )


def test_a_body_has_the_headings_in_order_phrases_where_it_is_silent_and_then_the_rest() -> None:
    assert madr.assemble(madr.Sections(context="Why.", outcome="  code"), EN, ["## More\n\nx", ""]) == (
        "## Context and Problem Statement\n\nWhy.\n\n"
        "## Considered Options\n\n* No other options were discussed in the transcript.\n\n"
        "## Decision Outcome\n\n  code\n\n"
        "### Consequences\n\n* Neutral, because the transcript does not confirm any consequence.\n\n"
        "## More Information\n\nThe transcript holds no further information.\n\n"
        "## More\n\nx"
    )


def test_an_answered_question_is_a_decision_in_the_words_of_the_person() -> None:
    decision = madr.decision_of_choice(
        "question",
        "Which store?\nIt must be embedded.",
        [("SQLite", "one file"), ("Redis", "")],
        ["SQLite"],
        "no server",
        EN,
    )
    assert decision.title == "Which store?"
    assert decision.outcome == 'Chosen option: "SQLite", because no server'
    assert decision.body == (
        "## ADR Which store?\n\n"
        "## Context and Problem Statement\n\nWhich store?\nIt must be embedded.\n\n"
        "## Considered Options\n\n* SQLite: one file\n* Redis\n\n"
        '## Decision Outcome\n\nChosen option: "SQLite", because no server\n\n'
        "### Consequences\n\n* Neutral, because the transcript does not confirm any consequence.\n\n"
        "## More Information\n\nThe transcript holds no further information.\n"
    )


def test_without_words_the_reason_is_the_phrase() -> None:
    decision = madr.decision_of_choice("question", "Що?", [("а", ""), ("б", "")], ["а", "б"], " ", UK)
    assert (
        decision.outcome
        == 'Chosen option: "а, б", because Додаткової інформації в transcript не зафіксовано.'
    )


@pytest.mark.parametrize(
    ("kind", "label"), [("plan-approved", "Plan approved"), ("plan-rejected", "Plan sent back")]
)
def test_a_judged_plan_is_a_decision_whose_headings_part_no_section(kind: str, label: str) -> None:
    plan = "# Move the cache\n\n## Decision Outcome\n\n1. do\n\n```\n# kept\n```"
    decision = madr.decision_of_choice(kind, plan, [], [], "too early", EN)
    assert decision.title == "Move the cache"
    assert decision.outcome == f'Chosen option: "{label}", because too early'
    assert "**Decision Outcome**" in decision.body
    assert "# kept" in decision.body
    assert decisions(decision.body) == (decision,)


def test_a_long_question_gives_a_short_title() -> None:
    title = madr.decision_of_choice("question", "word " * 100, [], ["x"], "", EN).title
    assert len(title) <= 121
    assert title.endswith("word…")


def test_an_empty_question_gives_no_title() -> None:
    decision = madr.decision_of_choice("question", "  ", [], [], "", EN)
    assert decision.title == ""
    assert decision.body.startswith("## Context and Problem Statement")


# -- drafts

(DECISION,) = decisions(adr_texts.block("Кеш"))


def rendered(**changed: object) -> str:
    values = {
        "session": "abc",
        "captured_iso": "2026-03-04T05:06:07+02:00",
        "transcript": "~/t.jsonl",
        "unverified": (),
    }
    return madr.render_draft(DECISION, **{**values, **changed})  # type: ignore[arg-type]


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
    same = madr.identity("A  b", "c\n d")
    assert madr.identity("a b", "C d") == same
    assert madr.identity("a b", "c e") != same
    assert madr.identity("a", "b c d") != same
    assert madr.identity("\ud800", "") == madr.identity("\ud800", "")
