"""Interprets a finished backend process: an answer or a kind of trouble; an error is never content."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from decision_hooks.backends.troubles import could_not_start, error_in, known_trouble
from decision_hooks.system import process

MOST_OUTPUT = 4 * 1024 * 1024  # bytes: a long reply has some ten thousand
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_MOST_STARTS = 50  # places where a JSON text of several lines may begin


class Answer(NamedTuple):
    """The outcome of a call: ``trouble`` is "" or a kind of ``troubles``, timeout, too long, failed."""

    text: str
    trouble: str = ""
    detail: str = ""  # the first words of the error, not masked
    cost: float | None = None  # US dollars, None where the program does not report it
    seconds: float = 0.0
    note: str = (
        ""  # a line for the log: a summary by the local pipeline, or flags that a program does not know
    )


def read_result(result: process.Result, is_answer: Callable[[str], bool]) -> Answer:
    """The answer of a finished process: its text, or its trouble."""
    if result.status is None:
        return Answer("", "start", result.stderr.decode("utf-8", "replace"))
    if result.too_long:
        return Answer("", "too long", f"a reply of more than {MOST_OUTPUT // 1024 // 1024} MB")
    text = result.stdout.decode("utf-8-sig", "replace")
    errors = result.stderr[-4000:].decode("utf-8", "replace")
    is_whole = is_answer(text)
    envelope, events = (None, False) if is_whole else _envelope(text)
    cost, failed = None, result.status != 0
    if envelope is not None:
        inner = _text_of(envelope.get("result"))
        failed = (failed and not result.timed_out) or envelope.get("is_error") is True or inner is None
        text = _words(envelope) if failed else inner or ""
        cost = _dollars(envelope.get("total_cost_usd"))
    elif result.timed_out:  # a program that answered and did not end has answered
        if not (is_whole and result.quiet and text.endswith("\n")):  # else it was cut
            return Answer("", "timeout", f"ended after {result.seconds:.0f} s")
        failed = False
    elif events:
        return Answer("", known_trouble(errors) or "failed", errors.strip() or "events without a result")
    if failed:
        said = errors if is_whole else f"{text[:4000]}\n{errors}"
        kind = "start" if could_not_start(result.status, said) else known_trouble(said) or "failed"
        return Answer("", kind, (text.strip() or errors.strip()) or f"exit {result.status}", cost)
    trouble, detail = "", text.strip()
    if not detail and envelope is None:
        trouble, detail = known_trouble(errors), errors.strip()
    elif not is_whole and not is_answer(detail):
        trouble = error_in(detail)
    return Answer("", trouble, detail, cost) if trouble else Answer(text, cost=cost)


def _dollars(spent: object) -> float | None:
    if isinstance(spent, bool) or not isinstance(spent, (int, float)):
        return None
    try:
        return float(spent)
    except OverflowError:
        return None


def _words(envelope: dict[str, object]) -> str:
    """The words of a failed result object: its result and the fields that name an error."""
    fields = [envelope.get(name) for name in ("result", "error", "errors", "api_error_status", "subtype")]
    given = [field for field in fields if field not in (None, "", "success")]
    return "\n".join(
        field if isinstance(field, str) else json.dumps(field, ensure_ascii=False) for field in given
    )


def _text_of(result: object) -> str | None:
    """The text of a result: a string, a block, or a list of blocks; None for anything else."""
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        return _text_of(result.get("text", result.get("content")))
    if isinstance(result, list):
        texts = [_text_of(item) for item in result]
        return "".join(text for text in texts if text) if any(text is not None for text in texts) else None
    return None


def _envelope(text: str) -> tuple[dict[str, object] | None, bool]:
    """The last result object of ``--output-format json`` or of a stream of events, and whether there are events.

    It is printed on one line or on many, in an array or after other events, with notices around it.
    """
    found, events = None, False
    for value in _values(_ANSI.sub("", text) if "\x1b" in text else text):
        for item in value if isinstance(value, list) else [value]:
            if not isinstance(item, dict):
                continue
            if ("is_error" in item or item.get("type") == "result") and (
                "result" in item or "subtype" in item
            ):
                found = item
            events = events or item.get("type") in ("system", "assistant", "user", "result", "stream_event")
    return found, events


def _values(text: str) -> Iterator[Any]:
    """The JSON objects and arrays that begin on a line of the text."""
    decoder, place, starts = json.JSONDecoder(), 0, 0
    while place < len(text):
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        line = text[place:end].strip()
        if line[:1] in ("{", "["):
            try:
                if line[-1] in "}]":
                    yield json.loads(line)
                    place = end + 1
                    continue
            except (ValueError, RecursionError):
                pass
            if starts < _MOST_STARTS:
                starts += 1
                try:
                    begin = text.index(line[0], place)
                    value, end = decoder.raw_decode(text, begin)
                    yield value
                except (ValueError, RecursionError):
                    pass
        place = end + 1
