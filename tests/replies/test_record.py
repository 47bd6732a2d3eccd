"""The text of a record, made strictly of what a backend wrote loosely."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.errors import RefusedReply
from decision_hooks.languages import table
from decision_hooks.records import front_matter, madr
from decision_hooks.replies import record
from decision_hooks.text import markdown
from support import adr_texts

UK, EN = table.language("uk"), table.language("en")
NAME = "260304-0506-cache.md"
DRAWN = record.source(NAME, adr_texts.draft())
NOTHING = record.Source("2026-03-04", (), madr.Sections())
SECTIONS = adr_texts.block().split("\n\n", 1)[1]
MARKS = "**Status:** Accepted\n**Date:** 2026-03-04\n\n"


def made(content: str, drawn: record.Source = NOTHING) -> front_matter.Document:
    return front_matter.read(record.record(content, "use-sqlite", drawn, EN))


def headings(text: str) -> list[str]:
    """Those of the five that a text holds, in order."""
    found = (f"{'#' * line.level} {line.title}" for line in markdown.lines(text) if line.level)
    return [heading for heading in found if heading in madr.HEADINGS]


def test_a_whole_record_is_written() -> None:
    content = f"---\ntype: ADR\ntitle: Cache in SQLite\ndescription: One file.\n---\n\n{SECTIONS}"
    assert record.record(content, "x", DRAWN, EN) == (
        "---\ntype: ADR\ntitle: Cache in SQLite\ndescription: One file.\nstatus: accepted\ndate: 2026-03-04\n---\n\n"
        + MARKS
        + SECTIONS
    )


def test_a_record_is_made_of_sections_alone() -> None:
    read = made(SECTIONS)
    assert read.front == {
        "type": "ADR",
        "title": "use-sqlite",
        "description": 'Chosen option: "SQLite", because it is embedded.',
        "status": "accepted",
        "date": "2026-03-04",
    }
    assert read.body.strip() == (MARKS + SECTIONS).strip()


def test_a_record_made_again_is_the_same() -> None:
    text = record.record(f"# T\n\nintro\n\n{SECTIONS}\n## Extra\n\nx", "s", DRAWN, UK)
    assert record.record(text, "other", DRAWN, UK) == text


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("---\ntitle: Theirs\n---\n\n# Heading\n\n", "Theirs"),
        ("---\ntitle: a: b\n---\n\n# Heading\n\n", "a: b"),
        ("---\ntitle: ''\n---\n\n# ADR: Heading\n\n", "Heading"),
        ("# ADR Heading `x`\n\n", "Heading `x`"),
        ("```sh\n# comment\n```\n\n", "use-sqlite"),
        ("", "use-sqlite"),
        ("---\ntitle: [a, b]\n---\n\n", "use-sqlite"),
    ],
)
def test_the_title_is_theirs_else_the_heading_else_the_slug(front: str, title: str) -> None:
    read = made(front + SECTIONS)
    assert read.text("title") == title
    assert "# Heading" not in read.body


@pytest.mark.parametrize(
    ("outcome", "description"),
    [
        ("One. Two.", "One."),
        (
            'Chosen option: "x", because y in v1.2 is fine. More.',
            'Chosen option: "x", because y in v1.2 is fine.',
        ),
        ("* Item one\n* Item two", "Item one"),
        ("Use `a. B` here. Next.", "Use `a. B` here."),
        ("Обрано `x`, бо так. Далі.", "Обрано `x`, бо так."),
        ("no end", "no end"),
        ("**Bold** text! More", "Bold text!"),
    ],
)
def test_the_description_is_the_first_sentence_of_the_outcome(outcome: str, description: str) -> None:
    assert made(f"## Decision Outcome\n\n{outcome}").text("description") == description


def test_the_keys_of_a_draft_never_survive_and_harmless_ones_do() -> None:
    theirs = "session: a\nCaptured: b\ntranscript: c\nunverified: [x]\nstatus: draft\ntype: note\ndate: 1999-01-01\n"
    read = made(f"---\n{theirs}tags: [a, b]\nowner: no\n---\n{SECTIONS}")
    assert list(read.front) == ["type", "title", "description", "status", "date", "tags", "owner"]
    assert (read.front["type"], read.front["status"], read.front["date"]) == ("ADR", "accepted", "2026-03-04")
    assert (read.front["tags"], read.front["owner"]) == (["a", "b"], "no")


def test_the_front_matter_is_valid_yaml_with_a_plain_date() -> None:
    text = record.record(f"---\ntitle: x: `y`\nb: [\n---\n{SECTIONS}", "s", NOTHING, EN)
    front = front_matter.split(text).front
    assert front is not None
    assert yaml.safe_load(front)["title"] == "x: `y`"
    assert "\ndate: 2026-03-04\n" in front


def test_front_matter_whose_end_is_forgotten_swallows_no_section() -> None:
    read = made(f"---\ntitle: T\ntags:\n  - a\n\n{SECTIONS}\n---\n\nend")
    assert read.text("title") == "T"
    assert read.body.startswith(
        "\n" + MARKS + "## Context and Problem Statement\n\nThe service needs a cache."
    )


def test_what_is_unverified_stays_named_while_it_stands_in_the_text() -> None:
    text = adr_texts.draft().replace(
        "transcript:", "unverified:\n- SQLite  file\n- 1,500 ms\n- gone.py\ntranscript:"
    )
    drawn = record.source(NAME, text)
    read = made("## Decision Outcome\n\nThe SQLite\nfile takes 1500 ms.", drawn)
    assert read.texts("unverified") == ("SQLite  file", "1,500 ms")


@pytest.mark.parametrize(
    "marks",
    [
        "**Status:** Proposed\n**Date:** 2020-01-01",
        "**Статус**: Прийнято\n\n**Дата:** 2020-01-01",
        "Status: draft",
        "* x\n\n**status:** x",
    ],
)
def test_status_and_date_are_ours(marks: str) -> None:
    body = made(f"# T\n\n{marks}\n\n{SECTIONS}").body
    assert body.lower().count("status:") == 1
    assert body.startswith("\n" + MARKS)
    assert "2020" not in body


def test_translated_sections_in_another_order_are_put_right() -> None:
    read = made("# Т\n\n## Наслідки\n\nd\n\n## Рішення\n\nc\n\n## Зачіпає\n\nx\n\n## Контекст\n\na")
    assert read.body == (
        f"\n{MARKS}## Context and Problem Statement\n\na\n\n## Considered Options\n\n"
        "* No other options were discussed in the transcript.\n\n## Decision Outcome\n\nc\n\n### Consequences\n\nd\n\n"
        "## More Information\n\nThe transcript holds no further information.\n\n## Зачіпає\n\nx\n"
    )


def test_a_missing_section_is_taken_from_a_draft_of_one_decision() -> None:
    assert "* Redis" in made("## Decision Outcome\n\nx", DRAWN).body
    several = record.source(NAME, adr_texts.draft() + "\n" + adr_texts.block("Other"))
    assert "* Redis" not in made("## Decision Outcome\n\nx", several).body
    none = record.source(NAME, "---\nsession: a\n---\n\nonly talk")
    assert "* No other options" in made("## Decision Outcome\n\nx", none).body


@pytest.mark.parametrize("fence", ["```markdown", "```", "~~~md", "````"])
def test_a_fence_around_the_content_goes(fence: str) -> None:
    assert made(f"{fence}\n{SECTIONS}\n{fence.rstrip('markdown')}") == made(SECTIONS)


def test_code_is_no_fence_around_the_content() -> None:
    assert "```sh\n# x\n```" in made("```sh\n# x\n```").body


@pytest.mark.parametrize(
    "content",
    [
        "## Decision Outcome\n\n```sh\nls",
        "~~~\n" + SECTIONS,
        "---\ntitle: x\n---\n",
        "# Only a title",
        "  \n",
    ],
)
def test_content_that_is_no_record_is_refused(content: str) -> None:
    with pytest.raises(RefusedReply):
        made(content)


@pytest.mark.parametrize(
    ("name", "captured", "day"),
    [
        (NAME, "2026-05-06T23:59:59+03:00", "2026-05-06"),
        (NAME, "2026-05-06", "2026-05-06"),
        (NAME, "2026-02-30T00:00:00Z", "2026-03-04"),
        (NAME, "yesterday", "2026-03-04"),
        ("20260506-010203-x.md", "", "2026-05-06"),
        ("x.md", "", "2026-12-31"),
    ],
)
def test_the_day_is_that_of_the_capture_else_of_the_name_else_today(
    name: str, captured: str, day: str
) -> None:
    text = f"---\nsession: a\ncaptured: {captured}\n---\n\nx"
    assert record.source(name, text, "2026-12-31").day == day


def test_without_any_day_none_is_written() -> None:
    drawn = record.source("x.md", "---\nsession: a\n---\n")
    text = record.record(SECTIONS, "s", drawn, EN)
    assert "date" not in front_matter.read(text).front
    assert "**Date:**" not in text
    assert record.update("x", drawn.day) == "## Update\n\nx"


@pytest.mark.parametrize(
    ("additions", "block"),
    [
        ("New facts.", "## Update 2026-03-04\n\nNew facts."),
        ("\n\n## Details\n\n# Big\n\n#### d\n", "## Update 2026-03-04\n\n### Details\n\n### Big\n\n#### d"),
        ("## Update 2026-01-01 — more\n\n## x", "## Update 2026-01-01 — more\n\n## x"),
        ("## Update\n\nx", "## Update\n\nx"),
        ("### Update\n\nx", "## Update 2026-03-04\n\n### Update\n\nx"),
        ("## Updated files\n\nx", "## Update 2026-03-04\n\n### Updated files\n\nx"),
        ("```markdown\n## Update 1\n\nx\n```", "## Update 1\n\nx"),
        ("```sh\n# ls\n```", "## Update 2026-03-04\n\n```sh\n# ls\n```"),
        ("---\nsession: a\n---\nx", "## Update 2026-03-04\n\nx"),
    ],
)
def test_additions_stand_under_an_update_heading(additions: str, block: str) -> None:
    assert record.update(additions, "2026-03-04") == block


@pytest.mark.parametrize("additions", ["", " \n", "```\nx", "---\na: b\n---\n"])
def test_additions_that_say_nothing_or_are_cut_are_refused(additions: str) -> None:
    with pytest.raises(RefusedReply):
        record.update(additions, "2026-03-04")


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("a\n", "a\n\n## U\n\nx\n"),
        ("a", "a\n\n## U\n\nx\n"),
        ("a\n\n\n", "a\n\n## U\n\nx\n"),
        ("a\r\nb\r\n", "a\r\nb\r\n\r\n## U\r\n\r\nx\r\n"),
        ("", "## U\n\nx\n"),
        ("a\n\n## U\n\nx\n\n## V\n", "a\n\n## U\n\nx\n\n## V\n"),
        ("a\r\n\r\n## U\r\n\r\nx\r\n", "a\r\n\r\n## U\r\n\r\nx\r\n"),
        ("a\n\n## U\n\nxy\n", "a\n\n## U\n\nxy\n\n## U\n\nx\n"),
    ],
)
def test_a_block_is_appended_once(text: str, whole: str) -> None:
    assert record.appended(text, "## U\n\nx") == whole
    assert record.appended(whole, "## U\n\nx") == whole


PIECES = st.sampled_from(
    [
     "---", "title: x", "# T", "## Контекст", "## Decision Outcome", "### Consequences", "text. More", "```", "",
     "\x00", "## ADR A", "**Status:** x", "## Update 1", "\ud800", "- item", "~~~", "a: [", "## Extra", "\r"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=25))
def test_any_content_is_a_record_or_refused(pieces: list[str]) -> None:
    try:
        text = record.record("\n".join(pieces), "slug", DRAWN, UK)
    except RefusedReply:
        return
    read = front_matter.read(text)
    assert read.valid
    assert list(read.front)[:5] == ["type", "title", "description", "status", "date"]
    assert record.record(text, "slug", DRAWN, UK) == text
    assert headings(text)[: len(madr.HEADINGS)] == list(madr.HEADINGS)
