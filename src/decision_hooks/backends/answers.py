"""Interprets a finished backend process: an answer or a kind of trouble; an error is never content."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NamedTuple

from decision_hooks.system import process

SPENT_NOTHING = ("credit", "login", "rate", "start")  # troubles that count as no try and no attempt
BREAKING = ("credit", "login", "rate")  # troubles that open the circuit breaker
_SHORT = 300  # characters: a longer reply is no error text
_TROUBLES = (
    (
        "credit",
        r"credit balance is too low|insufficient[ _](?:funds|credits?|quota)|billing[ _]error|payment required"
        r"|exceeded your current quota|\b402\b",
    ),
    (
        "login",
        r"not logged in|please run /login|/login\b|invalid (?:x-)?api[ _-]?key|invalid_api_key|authentication[ _]error"
        r"|authentication required|not authenticated|no api key (?:found|for)|oauth token|token (?:has )?expired"
        r"|unauthori[sz]ed|\b401\b",
    ),
    (
        "rate",
        r"rate[ _-]?limit|usage limit|session limit|weekly limit|5-hour limit|limit (?:will )?reset|limit reached"
        r"|hit your (?:\w+ )?limit|out of (?:extra )?usage|too many requests|overloaded|\b(?:429|529)\b|quota",
    ),
    (
        "failed",
        r"prompt is too long|^execution error\b|workspace trust required|^api error\b|^error\b|connection error"
        r"|request timed out|internal server error|unknown option|unrecognized arguments|model not found"
        r"|no model(?:s)? (?:selected|available|configured)|failed to authenticate|context[ _]length",
    ),
)


class Answer(NamedTuple):
    """The outcome of a call: ``trouble`` is "" or credit, login, rate, start, timeout, failed."""

    text: str
    trouble: str = ""
    detail: str = ""  # the first words of the error, not masked
    cost: float | None = None  # US dollars, None where the program does not report it
    seconds: float = 0.0
    note: str = ""  # a summary by the local pipeline, one line


def read_result(result: process.Result, is_answer: Callable[[str], bool]) -> Answer:
    """The answer of a finished process: its text, or its trouble."""
    if result.status is None:
        return Answer("", "start", result.stderr.decode("utf-8", "replace"))
    text = result.stdout.decode("utf-8-sig", "replace")
    if result.timed_out:
        return Answer("", "timeout", f"ended after {result.seconds:.0f} s")
    envelope = _envelope(text)
    cost = None
    failed = result.status != 0
    if envelope is not None:
        inner = envelope.get("result")
        failed = failed or envelope.get("is_error") is True or not isinstance(inner, str)
        text = _words(envelope) if failed else str(inner)
        cost = _dollars(envelope.get("total_cost_usd"))
    if failed:
        words = text.strip() or result.stderr.decode("utf-8", "replace").strip()
        both = text[:2000] + "\n" + result.stderr[-4000:].decode("utf-8", "replace")
        return Answer("", known_trouble(both) or "failed", words or f"exit {result.status}", cost)
    stripped = text.strip()
    if len(stripped) <= _SHORT and not is_answer(stripped):
        trouble = known_trouble(stripped)
        if trouble:
            return Answer("", trouble, stripped, cost)
    return Answer(text, cost=cost)


def _dollars(spent: object) -> float | None:
    if isinstance(spent, bool) or not isinstance(spent, (int, float)):
        return None
    try:
        return float(spent)
    except OverflowError:
        return None


def known_trouble(text: str) -> str:
    """The kind of trouble that a backend's text reports, "" when none is known."""
    for kind, pattern in _TROUBLES:
        if re.search(pattern, text, re.IGNORECASE | re.MULTILINE):
            return kind
    return ""


def _words(envelope: dict[str, object]) -> str:
    """The words of a failed result object: its result and the fields that name an error."""
    fields = [envelope.get(name) for name in ("result", "error", "errors", "api_error_status", "subtype")]
    given = [field for field in fields if field not in (None, "", "success")]
    return "\n".join(
        field if isinstance(field, str) else json.dumps(field, ensure_ascii=False) for field in given
    )


def _envelope(text: str) -> dict[str, object] | None:
    """The result object of ``--output-format json``; None for plain text, operations included.

    Lines with notices may come before it.
    """
    candidates = (text, text.rstrip().rpartition("\n")[2])
    return next((value for value in map(_result_object, candidates) if value is not None), None)


def _result_object(text: str) -> dict[str, object] | None:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list) and value:
        value = value[-1]
    if isinstance(value, dict) and "is_error" in value and ("result" in value or "subtype" in value):
        return value
    return None
