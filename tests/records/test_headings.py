"""Headings of any language and level stand for the five sections; nothing is lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.records import headings, madr
from decision_hooks.text import markdown

FIELDS = madr.Sections._fields


@pytest.mark.parametrize(
    ("heading", "field"),
    [
        ("## Context and Problem Statement", "context"),
        ("### context and problem statement:", "context"),
        ("## Контекст", "context"),
        ("## Контекст і проблема", "context"),
        ("# Контекст та постановка проблеми", "context"),
        ("#### Постановка проблеми", "context"),
        ("## Контекст и проблема", "context"),
        ("## 1. Context", "context"),
        ("## **Background**", "context"),
        ("## Розглянуті варіанти", "options"),
        ("## Розглянуті альтернативи", "options"),
        ("## Options Considered", "options"),
        ("## Alternatives", "options"),
        ("## Рассмотренные варианты", "options"),
        ("## Рішення", "outcome"),
        ("## Прийняте рішення", "outcome"),
        ("## Рішення/Процедура/Факт", "outcome"),
        ("## Рішення / Процедура / Факт", "outcome"),
        ("## Decision", "outcome"),
        ("## ✅ Решение", "outcome"),
        ("## Наслідки", "consequences"),
        ("## Consequences", "consequences"),
        ("#### Последствия", "consequences"),
        ("## Додаткова інформація", "more"),
        ("### Additional information", "more"),
        ("## 5) More information ##", "more"),
    ],
)
def test_a_heading_is_known_in_its_forms(heading: str, field: str) -> None:
    found = headings.parse_body(f"{heading}\n\ntext")
    assert dict(zip(FIELDS, found.texts, strict=True)) == {
        name: "text" if name == field else "" for name in FIELDS
    }
    assert (found.preamble, found.extras) == ("", ())


@pytest.mark.parametrize(
    "heading", ["## Обґрунтування", "## Зачіпає", "## Decision drivers", "## Links", "### Options"]
)
def test_other_sections_are_kept_as_they_are(heading: str) -> None:
    body = f"## Considered Options\n\na\n\n## Decision Outcome\n\nb\n\n{heading}\n\nc\n\n## Considered Options\n\nd"
    found = headings.parse_body(body)
    kept = (f"{heading}\n\nc",)
    assert (found.extras or (found.texts.outcome.removeprefix("b\n\n"),)) == kept
    assert found.texts.options == "a\n\nd"


def test_deeper_headings_belong_to_their_section() -> None:
    found = headings.parse_body(
        "## Context and Problem Statement\n\na\n\n### Problem\n\nb\n\n#### Options\n\nc\n\n## Considered Options\n\nd"
    )
    assert found.texts.context == "a\n\n### Problem\n\nb\n\n#### Options\n\nc"
    assert found.texts.options == "d"


def test_sections_all_at_another_level_are_known() -> None:
    found = headings.parse_body("### Контекст\n\na\n\n### Рішення\n\nb\n\n### Наслідки\n\nc")
    assert found.texts == madr.Sections("a", "", "b", "c", "")


def test_what_stands_inside_of_an_update_is_no_section() -> None:
    update = "## Update 2026-05-01\n\na\n\n### Consequences\n\nb"
    found = headings.parse_body(f"## Decision Outcome\n\nx\n\n{update}")
    assert found.extras == (update,)
    assert found.texts == madr.Sections(outcome="x")


def test_both_kinds_of_consequences_keep_their_names() -> None:
    found = headings.parse_body(
        "## Decision Outcome\n\nx\n\n### Positive Consequences\n\n* a\n\n### Negative Consequences\n\n* b"
    )
    assert found.texts.consequences == "**Positive Consequences**\n\n* a\n\n**Negative Consequences**\n\n* b"


def test_headings_inside_of_fences_are_none() -> None:
    text = "a\n\n```md\n## Considered Options\n# T\n```"
    found = headings.parse_body(f"## Context\n\n{text}")
    assert found.texts == madr.Sections(context=text)
    assert found.title == ""


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("# Use SQLite\n\n## Context\n\na", "Use SQLite"),
        ("# ADR: Use SQLite\n\n## Context\n\na", "Use SQLite"),
        ("# ADR Use SQLite\n\n## Context\n\na", "Use SQLite"),
        ("# ADR-0012: Use SQLite\n\n## Context\n\na", "Use SQLite"),
        ("## ADR Use SQLite\n\n## Context\n\na", "Use SQLite"),
        ("# Title\n\n## ADR Use SQLite\n\n## Context\n\na", "Title"),
        ("# ADR\n\n## ADR Use SQLite\n\n## Context\n\na", "Use SQLite"),
        ("# ADR-хуки без jq\n\n## Context\n\na", "ADR-хуки без jq"),
        ("## Context\n\na", ""),
        ("# Контекст\n\na", ""),
    ],
)
def test_the_title_is_taken_out(body: str, title: str) -> None:
    found = headings.parse_body(body)
    assert (found.title, found.texts, found.extras, found.preamble) == (
        title,
        madr.Sections(context="a"),
        (),
        "",
    )


def test_text_below_the_title_stands_before_the_sections() -> None:
    assert headings.parse_body("intro\n\n# T\n\nmore\n\n## Context\n\na").preamble == "intro\n\nmore"


def test_a_second_decision_is_kept_one_level_deeper() -> None:
    body = "## ADR A\n\n## Context\n\na\n\n## ADR: B\n\n## Context\n\nb\n\n### Consequences\n\nc"
    found = headings.parse_body(body)
    assert found.texts == madr.Sections(context="a")
    assert found.extras == ("## ADR: B\n\n### Context\n\nb\n\n#### Consequences\n\nc",)


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("ADR Title", "Title"), ("ADR: Title", "Title"), ("[ADR] Title", "Title"), ("[ADR]: Title", "Title"),
        ("ADR-001: Title", "Title"), ("ADR 7. Title", "Title"), ("ADR 1: Title", "Title"), ("ADR — Title", "Title"),
        ("**ADR Title**", "Title"), ("1. ADR Title", "Title"), ("ADR", ""), ("ADR:", ""),
        ("ADR 2 backends", "backends"), ("ADR `code` title", "`code` title"),
    ],
)  # fmt: skip
def test_adr_headings(heading: str, title: str) -> None:
    assert headings.adr_title(heading) == title


@pytest.mark.parametrize(
    "heading", ["ADRs of today", "ADR-хук", "Scope цього ADR", "adr title", "Title", "[ADRs] x", "", "PADR x"]
)
def test_other_headings_are_no_adr_headings(heading: str) -> None:
    assert headings.adr_title(heading) is None


HEADINGS = st.builds(
    lambda level, title: f"{'#' * level} {title}",
    st.integers(1, 6),
    st.sampled_from(
        ["Контекст", "Decision", "Decision Outcome", "Consequences", "Foo", "Update 1", "ADR x", "Options"]
    ),
)


@given(st.lists(HEADINGS | st.sampled_from(["w1 w2", "```", "* item", ""])))
def test_no_word_of_a_body_is_lost(rows: list[str]) -> None:
    numbered = [row.replace("w1", f"w{n}").replace("item", f"item{n}") for n, row in enumerate(rows)]
    found = headings.parse_body("\n".join(numbered))
    kept = "\n".join([found.preamble, *found.texts, *found.extras])
    wanted = [line.text for line in markdown.lines("\n".join(numbered)) if not line.level]
    for row in wanted:
        assert all(word in kept for word in re.findall(r"\w+", row))
