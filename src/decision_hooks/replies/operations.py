"""Finds the operations in the reply of a normalisation, among prose; types them, never repairs them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from decision_hooks.errors import RefusedReply
from decision_hooks.replies import wrapping

FIELDS = ("op", "file", "slug", "content", "target", "additions", "reason")

_SIGNED = re.compile(
    r'(?P<whole>\{\s*"operations"\s*:)|(?P<bare>(?<![\w"])\[\s*\{\s*"(?:' + "|".join(FIELDS) + r')"\s*:)'
)
_LINE = re.compile(r"^[ \t]*(?P<begin>[{\[])", re.MULTILINE)
_STRUCTURE = re.compile(r'["{}\[\]]')
_STRING_END = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_MOST_TRIES = 40


class RawOperation(NamedTuple):
    """One operation as it was asked for: each field a string, "" where there is none."""

    op: str = ""
    file: str = ""
    slug: str = ""
    content: str = ""
    target: str = ""
    additions: str = ""
    reason: str = ""
    wrong: tuple[str, ...] = ()  # fields that are not strings; ``operation``: it is no object at all


class _Value(NamedTuple):
    value: object
    begin: int
    end: int


def operations(reply: str) -> tuple[RawOperation, ...]:
    """The operations of a reply: one object ``{"operations": [...]}`` or a bare array, fences and prose around.

    Raises ``RefusedReply`` if there is none, or if it was cut: the missing part could change the meaning.
    """
    text = wrapping.plain(reply)
    best: tuple[int, list[object]] | None = None
    for found in _values(text):
        items = _operations_of(found.value, whole=_is_whole_reply(text, found))
        if items is not None and (best is None or found.end - found.begin > best[0]):
            best = found.end - found.begin, items
    if best is None:
        raise RefusedReply("no JSON object with operations")
    return tuple(_raw(item) for item in best[1])


def _operations_of(value: object, *, whole: bool) -> list[object] | None:
    if isinstance(value, dict):
        value = value.get("operations")
        return value if isinstance(value, list) else None
    if not isinstance(value, list):
        return None
    if any(isinstance(item, dict) and "op" in item for item in value):
        return value
    return value if whole and not value else None


def _is_whole_reply(text: str, found: _Value) -> bool:
    rest = text[max(0, found.begin - 20) : found.begin] + text[found.end : found.end + 20]
    return len(text) - (found.end - found.begin) < 40 and not re.sub(r"[\s`~]|json", "", rest)


def _raw(item: object) -> RawOperation:
    if not isinstance(item, dict):
        return RawOperation(wrong=("operation",))
    values: dict[str, object] = {name: item.get(name) for name in FIELDS}
    wrong = tuple(name for name, value in values.items() if value is not None and not isinstance(value, str))
    texts = (value if isinstance(value, str) else "" for value in values.values())
    return RawOperation._make((*texts, wrong))


# -- JSON among prose


def _values(text: str) -> Iterator[_Value]:
    """The JSON values that begin like operations or at the beginning of a line, outside of each other."""
    position = tries = plain_tries = 0
    signed = _next_signed(text, 0)
    while tries < _MOST_TRIES:
        if signed < position:
            signed = _next_signed(text, position)
        line = _LINE.search(text, position, signed) if plain_tries < _MOST_TRIES else None
        begin = line.start("begin") if line else signed
        if begin == len(text):
            return
        found = _decoded(text, begin)
        if found is not None:
            yield found
            position = found.end
        elif begin == signed:
            position = _balanced(text, begin)
        else:
            position = begin + 1
        tries += begin == signed
        plain_tries += begin != signed
    raise RefusedReply("too much that looks like operations and is none")


def _next_signed(text: str, position: int) -> int:
    for match in _SIGNED.finditer(text, position):
        # An array that is the value of a key means nothing if its object was cut.
        before = text[max(0, match.start() - 40) : match.start()].rstrip()
        if match["whole"] or not re.search(r'"\s*:$', before):
            return match.start()
    return len(text)


def _decoded(text: str, begin: int) -> _Value | None:
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, begin)
    except RecursionError as error:
        raise RefusedReply("the JSON is nested too deeply") from error
    except ValueError:  # also an integer of too many digits
        return None
    return _Value(value, begin, end)


def _balanced(text: str, begin: int) -> int:
    """The end of a value by its brackets; raises ``RefusedReply`` if they never close: the reply was cut."""
    depth, position = 0, begin
    while match := _STRUCTURE.search(text, position):
        position = match.end()
        if match[0] == '"':
            closed = _STRING_END.match(text, position)
            if closed is None:
                break
            position = closed.end()
        else:
            depth += 1 if match[0] in "{[" else -1
            if depth == 0:
                return position
    raise RefusedReply("the JSON of the operations is cut")
