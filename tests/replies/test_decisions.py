"""What a capture's reply holds: decisions, none, or nothing that can be used."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.errors import RefusedReply
from decision_hooks.replies.decisions import decisions, has_form
from support import adr_texts
from support.cost import assert_linear

ONE, TWO = adr_texts.block("One"), adr_texts.block("Two")


def titles(reply: str) -> list[str]:
    return [decision.title for decision in decisions(reply)]


@pytest.mark.parametrize(
    "reply",
    [
        "NONE", "none\n", "NONE.", "**NONE**", "`NONE`", '"NONE"', "OUTPUT NONE", "Output: NONE", "\ufeffNONE\n",
        "NONE!",
        "<think>a ## ADR b</think>\nNONE", "```\nNONE\n```", "The session is trivial.\n\nNONE",
        "NONE\n\nNo design decision was made.",
        "# NONE", "> NONE", "Final answer: NONE", "Result: **NONE**", "<answer>NONE</answer>", "\x1b[1mNONE\x1b[0m",
        "\u200bNONE", "\u2705 NONE",
        "NONE - no design decisions in this part.", "NONE: only a greeting", "**NONE** - nothing was decided",
        "None. The session holds no decision.", "NONE, because it was a question", "NONE — рішень немає",
        "NONE (trivial)", "“NONE”: only tests were run", "Thinking aloud first.\nNONE\nThat is all I have to say.",
        "**NONE.** The user asked\nfor an explanation.\n\nNothing was built.", "NONE немає",
        "Нічого.", "Nothing", "Жодних рішень.", "No design decisions were made.", "Решений нет.",
        "<think>Is there one?\n## ADR no\n\n## Decision Outcome\n\nx</think>\nNONE", "thinking </think>\n\nNONE",
    ],
)  # fmt: skip
def test_forms_of_none(reply: str) -> None:
    assert decisions(reply) == ()


@pytest.mark.parametrize(
    "reply",
    [
        "", "   ", "None of this matters to us", "Credit balance is too low", "Let me look at the file.\n[user]\nok",
        "## ADR Title", "## ADR Title\n\njust text", "## ADR Title\n\n## Considered Options\n\n* a",
        "## ADR <title>\n\n## Context and Problem Statement\n\n## Decision Outcome\n\n## More Information",
        "I have finished the work. Shall I go on?", "[assistant]\nSure, next I will", '{"operations": []}',
        "## ADR Only a title", "## Summary\n\ndone", "**ADR Title**\n\nDecision Outcome: x",
        "text\n```\n## Summary\n```\n",
        "## ADR T\n\n**Контекст:** x\n\n**Рішення:** y",
    ],
)  # fmt: skip
def test_anything_else_is_refused(reply: str) -> None:
    with pytest.raises(RefusedReply):
        decisions(reply)


def test_a_block_is_a_decision() -> None:
    (decision,) = decisions(ONE)
    assert decision.title == "One"
    assert decision.body == ONE
    assert decision.outcome == 'Chosen option: "SQLite", because it is embedded.'


@pytest.mark.parametrize(
    "heading",
    [
        "## [ADR] One",
        "## ADR: One",
        "## ADR  One",
        "# ADR One",
        "### ADR One",
        "## ADR-001: One",
        "## ADR One ##",
        "## **ADR One**",
    ],
)
def test_forms_of_the_title_are_written_as_one(heading: str) -> None:
    (decision,) = decisions(ONE.replace("## ADR One", heading))
    assert decision.body == ONE


@pytest.mark.parametrize("wanted", ["## Context and Problem Statement", "## Decision Outcome"])
def test_one_of_context_and_outcome_is_enough(wanted: str) -> None:
    assert titles(f"## ADR One\n\n{wanted}\n\ntext") == ["One"]


def test_several_blocks_are_several_decisions() -> None:
    assert titles(f"{ONE}\n---\n\n{TWO}\n***\n") == ["One", "Two"]
    assert [decision.body for decision in decisions(f"{ONE}\n---\n\n{TWO}\n***\n")] == [ONE, TWO]


def test_madr_headings_without_a_title_are_one_untitled_decision() -> None:
    body = ONE.split("\n\n", 1)[1]
    (decision,) = decisions(f"Here it is:\n\n{body}")
    assert (decision.title, decision.body) == ("", body)


@pytest.mark.parametrize(
    "reply",
    [
        f"I have read it.\n\n{ONE}",
        f"## Analysis\n\nA lot.\n\n```json\n{{}}\n```\n\n{ONE}",
        f"```markdown\n{ONE}```",
        f"```\n{ONE}```\n",
        f"~~~md\n{ONE}\n~~~\nShall I save it?",
        f"Here:\n\n````markdown\n\n{ONE}````\n\nAnything else?\n\n```sh\nls\n```",
        f"## ADR of the session\n\n```markdown\n{ONE}```",
        f"<think>\nhm\n</think>\n{ONE}",
        f"<thinking>hm</thinking>{ONE}",
        f"<think>\nnever closed\n\n{ONE}",
        f"hm\n</think>\n\n{ONE}",
        f"\ufeff{ONE}",
        f"\ufeff\n{ONE}",
        f"{ONE}\r\n",
        f"Here are the decisions:\n\n{ONE}",
        f"Sure!\n\n```md\n{ONE}```\n\nLet me know if you need more.",
        f"[thinking]\n[assistant]\n{ONE}\n[user]\nthanks\n[assistant]\nyou are welcome",
        ONE.replace("\n", "\r\n"),
        f"```markdown\n{ONE}",
    ],
)
def test_what_stands_around_the_blocks_goes(reply: str) -> None:
    assert [decision.body for decision in decisions(reply)] == [ONE]


def test_each_block_may_have_a_fence_of_its_own() -> None:
    reply = f"First:\n```markdown\n{ONE}```\nSecond:\n```markdown\n{TWO}```\nDone."
    assert [decision.body for decision in decisions(reply)] == [ONE, TWO]


def test_an_enclosing_fence_may_hold_fences() -> None:
    block = adr_texts.block("One", more="```sh\nls\n```\n\nand\n\n```\nplain\n```\n\nend")
    assert [decision.body for decision in decisions(f"```markdown\n{block}```\nDone.")] == [block]


def test_headings_inside_of_fences_part_nothing() -> None:
    block = adr_texts.block("One", more="```markdown\n## ADR Example\n\n## Decision Outcome\n\nx\n```")
    assert [decision.body for decision in decisions(block)] == [block]


def test_a_block_that_is_none_does_not_spoil_the_others() -> None:
    assert titles(f"{ONE}\n## ADR Summary\n\ntwo decisions\n\n{TWO}\n## ADR Cut") == ["One", "Two"]


@pytest.mark.parametrize(
    "reply",
    [
        adr_texts.block("One", more="```sh\nls"),
        adr_texts.block("One", context="~~~\nx") + "\n" + TWO,
        "```markdown\n" + ONE.split("## More")[0],
        "```markdown\n" + adr_texts.block("One", more="```sh\nls"),
    ],
)
def test_a_reply_that_ends_inside_of_a_fence_was_cut(reply: str) -> None:
    with pytest.raises(RefusedReply):
        decisions(reply)


def test_a_thought_may_be_the_subject_of_a_decision() -> None:
    block = adr_texts.block("Strip <think>", context="Models write `<think>` and\n</think>.")
    assert [decision.body for decision in decisions(block)] == [block]


PIECES = st.sampled_from(
    ["## ADR A", "## Decision Outcome", "## Context and Problem Statement", "text", "```", "```md", "````", "~~~",
     "<think>", "</think>", "NONE", "[user]", "---", "", "\x00", "\ud800", "# x", "ADR", "\r", "## [ADR"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30))
def test_a_reply_is_cut_into_decisions_or_refused(pieces: list[str]) -> None:
    try:
        found = decisions("\n".join(pieces))
    except RefusedReply:
        return
    for decision in found:
        # A title with a fence right below it announces the block: what it means depends on what is around.
        if not re.match(r"## ADR A\n\s*(?:```|~~~)", decision.body):
            assert decisions(decision.body) == (decision,)


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    try:
        decisions(text)
    except RefusedReply:
        pass


@pytest.mark.parametrize(
    "reply",
    [
        "```markdown\n## ADR x\n```\n" * 20_000,
        "```markdown\n## ADR x\n" * 20_000,
        "\n" * 1_000_000,
        "#" * 1_000_000,
        "## ADR " + "-" * 500_000,
        "## ADR x\n\n## Decision Outcome\n\n" + "* " * 300_000,
        "<think>" * 100_000,
        "</think>x" * 100_000,
        " " * 1_000_000 + "x",
        "`" * 1_000_000,
        "- - " * 250_000 + "x",
        "[user]\n" * 100_000,
    ],
    ids=range(12),
)
def test_a_huge_reply_costs_little(reply: str) -> None:
    def read(text: str) -> None:
        try:
            decisions(text)
        except RefusedReply:
            pass

    assert_linear(read, reply)


@pytest.mark.parametrize(
    "end", ["NONE", "\nNONE - no other decisions\n", "---\n\n**NONE**", "\n> NONE.\n\n---"]
)
def test_a_none_beside_decisions_is_lost(end: str) -> None:
    (found,) = decisions(ONE + "\n" + end)
    assert "NONE" not in found.body
    assert found == decisions(ONE)[0]


@pytest.mark.parametrize(
    "text",
    [
        "None of the files could be read, so I made up my mind.",
        "Nothing stands against SQLite, so I would take it for the cache.",
        "No decision block at all, only talk.",
        "## Options\n\nNONE\n\n## Outcome\n\nWe take SQLite.",
        "Nonetheless we chose SQLite.",
        "### Decision: SQLite\n\nWe take it.\n\n### More\n\nNone.",
        "    ## ADR Use SQLite\n\n    ## Decision Outcome\n\n    We take it.\n\nNone.",
    ],
)
def test_prose_that_only_has_the_word_is_refused(text: str) -> None:
    with pytest.raises(RefusedReply):
        decisions(text)


@pytest.mark.parametrize(
    "unit",
    [
        "```python\n", "~~~~\n```\n", "``` x\n````\n", "## ADR x\n", "## ADR x\n```\n", "<think>\n", "</think>\n",
        "[user]\n", "<!--\n", "**a", "* \n", "---\n", "## Decision Outcome\n\nx\n", "NONE\n", "|", "\n", "[x](", "`",
    ],
)  # fmt: skip
def test_reading_a_hostile_reply_is_linear(unit: str) -> None:
    assert_linear(lambda text: has_form(decisions, text), unit * (400_000 // len(unit)))


def test_control_characters_of_a_reply_are_in_no_decision() -> None:
    (found,) = decisions(adr_texts.block("A\x1b[31m title\u202e", more="x\x9b31m\x07y\tz"))
    assert found.title == "A title"
    assert "x31my\tz" in found.body
