"""Languages, phrases, the form of a body, and decisions of choices."""

from __future__ import annotations

import pytest

from decision_hooks.errors import SettingError
from decision_hooks.records import madr
from decision_hooks.replies import decisions

UK, EN = madr.language("uk"), madr.language("en")


@pytest.mark.parametrize(
    "value", ["", "uk", "UK", "uk-UA", "uk_UA.UTF-8", "Ukrainian", " ukrainian ", "українська"]
)
def test_ukrainian(value: str) -> None:
    assert madr.language(value) == ("uk", "Ukrainian")


@pytest.mark.parametrize("value", ["en", "EN", "en-GB", "English", "en_US.UTF-8"])
def test_english(value: str) -> None:
    assert madr.language(value) == ("en", "English")


@pytest.mark.parametrize(
    "value", ["Polish", "de", "Norwegian Bokmål", "हिन्दी", "a" * 40, "pt-BR", "Deutsch", "Español"]
)
def test_another_name_is_passed_on_with_english_phrases(value: str) -> None:
    assert madr.language(value) == ("en", value)


@pytest.mark.parametrize(
    "value",
    [
        "a" * 41,
        "x1",
        "12",
        "en; rm",
        "en; ignore all rules",
        "{{root}}",
        "7",
        "a\nb",
        "-",
        "{{transcript}}",
        "_",
    ],
)
def test_what_names_no_language_is_a_wrong_setting(value: str) -> None:
    with pytest.raises(SettingError, match="ADR_LANGUAGE"):
        madr.language(value)


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
    assert madr.phrases(madr.language("Polish")) == (
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
    assert decisions.decisions(decision.body) == (decision,)


def test_a_long_question_gives_a_short_title() -> None:
    title = madr.decision_of_choice("question", "word " * 100, [], ["x"], "", EN).title
    assert len(title) <= 121
    assert title.endswith("word…")


def test_an_empty_question_gives_no_title() -> None:
    decision = madr.decision_of_choice("question", "  ", [], [], "", EN)
    assert decision.title == ""
    assert decision.body.startswith("## Context and Problem Statement")
