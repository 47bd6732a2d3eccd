"""What the end of a backend's program means: an error in any form is trouble, and never content."""

from __future__ import annotations

import json

import pytest

from decision_hooks.backends.answers import Answer, read_result
from decision_hooks.replies.decisions import decisions, has_form
from decision_hooks.system.process import Result
from support.adr_texts import block
from support.agents import claude_json

CREDIT = "Credit balance is too low"


def answer(
    stdout: str | bytes = "", status: int | None = 0, stderr: str = "", *, late: bool = False
) -> Answer:
    """What a capture reads out of the end of a program."""
    data = stdout if isinstance(stdout, bytes) else stdout.encode()
    result = Result(status, data, stderr.encode(), late, 1.0)
    return read_result(result, lambda text: has_form(decisions, text))


FORMS: dict[str, Answer] = {
    "stdout with exit 1": answer(CREDIT + "\n", 1),
    "stdout with exit 0": answer(CREDIT),
    "stderr with exit 1": answer("", 1, CREDIT),
    "json with exit 1": answer(claude_json(CREDIT, is_error=True), 1),
    "json with exit 0": answer(claude_json(CREDIT, is_error=True)),
    "json that denies it": answer(claude_json(CREDIT, is_error=False)),
    "json list": answer(f'[{{"type":"system"}},{claude_json(CREDIT, is_error=True)}]'),
    "json after a notice": answer(f"A new version is there\n{claude_json(CREDIT, is_error=True)}"),
    "json with errors": answer(
        json.dumps({"type": "result", "subtype": "error_x", "is_error": True, "errors": [CREDIT]}), 1
    ),
    "in bold": answer(f"**{CREDIT}**"),
    "with more words": answer(f"API Error: 400 {CREDIT}. Please go to Plans & Billing."),
}


@pytest.mark.parametrize("found", FORMS.values(), ids=FORMS.keys())
def test_no_credit_in_any_form_is_trouble(found: Answer) -> None:
    assert (found.text, found.trouble) == ("", "credit")
    assert "redit" in found.detail


@pytest.mark.parametrize(
    ("found", "trouble"),
    [
        (answer("Invalid API key · Please run /login", 1), "login"),
        (answer("Not logged in. Please run /login"), "login"),
        (answer("", 1, "429 Too Many Requests"), "rate"),
        (answer("You've hit your session limit · resets 3pm"), "rate"),
        (answer("Claude AI usage limit reached|1760000000"), "rate"),
        (answer("", 1, "API Error: 529 overloaded_error"), "rate"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.detail[:24],
)
def test_login_and_limits_are_trouble(found: Answer, trouble: str) -> None:
    assert (found.text, found.trouble) == ("", trouble)


@pytest.mark.parametrize("wrap", [str, claude_json], ids=["plain", "json"])
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Execution error", "failed"),
        ("Prompt is too long", "context"),
        ("Workspace Trust Required", "failed"),
        ("⚠ Workspace Trust Required\n\nPass --trust to trust this workspace", "failed"),
        ("API Error: Connection error.", "network"),
        ("Error: model not found", "model"),
    ],
)
def test_a_known_error_text_is_a_failure_with_exit_0_too(wrap: type[str], text: str, kind: str) -> None:
    found = answer(wrap(text))
    assert (found.text, found.trouble, found.detail) == ("", kind, text)


def test_an_exit_code_a_time_out_and_a_program_that_did_not_start_are_trouble() -> None:
    assert answer(block(), 3).trouble == "failed"
    assert (answer("", -9).trouble, answer("", -9).detail) == ("failed", "exit -9")
    assert answer(block(), -9, late=True).trouble == "timeout"
    assert answer("", None, "no such file")[:3] == ("", "start", "no such file")


@pytest.mark.parametrize("text", ["", " \n\n", "\ufeff"])
def test_an_empty_reply_is_no_trouble_and_no_text(text: str) -> None:
    assert (answer(text).text.strip(), answer(text).trouble) == ("", "")
    assert (answer(claude_json("")).text, answer(claude_json("")).trouble) == ("", "")


@pytest.mark.parametrize(
    "reply", [b"\xff\xfe\x00", "{", "[]", "{}", "null", '{"is_error": 1, "result": 2}', "[" * 200_000, "\0\0"]
)
def test_a_reply_of_any_bytes_holds_no_decision(reply: str | bytes) -> None:
    found = answer(reply)
    assert found.trouble or not has_form(decisions, found.text)


@pytest.mark.parametrize("wrap", [str, claude_json], ids=["plain", "json"])
def test_what_holds_an_answer_is_one_whatever_stands_beside(wrap: type[str]) -> None:
    text = "## ADR Rate limit\n\n## Decision Outcome\n\nOn 429 we wait; credit balance is too low."
    assert (answer(wrap(text)).text, answer(wrap(text)).trouble) == (text, "")
    assert answer(wrap("NONE")).text == "NONE"
    assert answer(claude_json(text, cost=0.25)).cost == 0.25


def test_a_cost_that_is_no_amount_is_an_unknown_cost() -> None:
    for cost in ("9" * 400, "true", '"1"', "null"):
        found = answer(f'{{"type": "result", "is_error": false, "result": "NONE", "total_cost_usd": {cost}}}')
        assert (found.text, found.trouble, found.cost) == ("NONE", "", None)
