"""Headings and fences of Markdown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.text import markdown

LINES = st.lists(
    st.sampled_from(["# a", "## b ##", "```", "```sh", "~~~", "````", "text", "", "    # code", "#no"])
)


def headings(text: str) -> list[tuple[int, str]]:
    return [(line.level, line.title) for line in markdown.lines(text) if line.level]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# One", (1, "One")),
        ("###### Six", (6, "Six")),
        ("   ## Indented by three", (2, "Indented by three")),
        ("## Closed ##", (2, "Closed")),
        ("## C# and F#", (2, "C# and F#")),
        ("##", (2, "")),
        ("##\tTab", (2, "Tab")),
    ],
)
def test_a_heading_is_read(line: str, expected: tuple[int, str]) -> None:
    assert headings(line) == [expected]


@pytest.mark.parametrize("line", ["#tag", "    # code", "####### seven", "text # x", "\\# x", "- # x"])
def test_other_lines_are_no_headings(line: str) -> None:
    assert headings(line) == []


@pytest.mark.parametrize(
    "fenced",
    [
        "```\n# no\n```",
        "~~~\n# no\n~~~",
        "````md\n```\n# no\n```\n# no\n````",
        "~~~\n```\n# no\n~~~",
        "* item\n      ```sh\n      # no\n      ```",
        "```\n# no\n`````",
        "```js\n``` js\n# no\n```",
    ],
)
def test_a_heading_inside_of_a_fence_is_none(fenced: str) -> None:
    assert headings(f"{fenced}\n## yes") == [(2, "yes")]
    assert not markdown.unclosed_fence(fenced)


@pytest.mark.parametrize(
    "text", ["```", "a\n```js\nb", "````\n```", "~~~\n```", "```\na\n``` not closed by this"]
)
def test_an_open_fence_is_seen(text: str) -> None:
    assert markdown.unclosed_fence(text)


@pytest.mark.parametrize("text", ["", "``` a `b` ```", "`` ` ``", "``", "```\n```\n```\n```"])
def test_no_open_fence_is_seen_where_there_is_none(text: str) -> None:
    assert not markdown.unclosed_fence(text)


def test_sections_hold_their_text_without_blank_lines_around() -> None:
    assert markdown.sections("before\n\n# A\n\n  text\n\n\n## B\n## C\nend\n") == [
        markdown.Section(0, "", "before"),
        markdown.Section(1, "A", "  text"),
        markdown.Section(2, "B", ""),
        markdown.Section(2, "C", "end"),
    ]


def test_windows_line_ends_are_read() -> None:
    assert markdown.sections("# A\r\ntext\r\n")[1] == markdown.Section(1, "A", "text")


@given(LINES)
def test_sections_written_again_are_the_same_sections(rows: list[str]) -> None:
    found = markdown.sections("\n".join(rows))
    again = markdown.sections("\n\n".join(section.markdown() for section in found))
    assert [(one.level, one.title, one.text) for one in again] == [
        (one.level, one.title, one.text) for one in found
    ]


@given(LINES)
def test_lines_give_the_text_back(rows: list[str]) -> None:
    text = "\n".join(rows)
    assert "\n".join(line.text for line in markdown.lines(text)) == text
