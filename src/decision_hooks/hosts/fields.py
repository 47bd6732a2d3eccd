"""Typed access to parsed JSON that others wrote: a field of the wrong type reads as an empty one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache

Record = Mapping[str, object]
NOTHING: Record = {}


def parse_object(line: bytes) -> Record | None:
    """The JSON object on a line, None for anything else; bytes that are no UTF-8 are replaced."""
    try:
        value = json.loads(line.decode("utf-8", "replace").lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def string(record: Record, key: str) -> str:
    """A field that is a string, else ""."""
    value = record.get(key)
    return value if isinstance(value, str) else ""


def mapping(record: Record, key: str) -> Record:
    """A field that is an object, else an empty one."""
    value = record.get(key)
    return value if isinstance(value, dict) else NOTHING


def items(record: Record, key: str) -> Sequence[object]:
    """A field that is an array, else an empty one."""
    value = record.get(key)
    return value if isinstance(value, list) else ()


def objects(values: Sequence[object]) -> list[Record]:
    """Those of some values that are objects."""
    return [value for value in values if isinstance(value, dict)]


def blocks(content: object) -> list[Record]:
    """A message's content as blocks: a string, and each string of a list, is a block of text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    strings = [{"type": "text", "text": block} if isinstance(block, str) else block for block in content]
    return objects(strings)


def text_of(content: object) -> str:
    """The text of a message's or a tool result's content, its blocks joined by newlines."""
    if isinstance(content, str):
        return content
    return "\n".join(text for text in (string(block, "text") for block in blocks(content)) if text)


def readable(value: object) -> str:
    """A tool's input as ``key: value`` lines, strings as they are, so that paths and code stay whole."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_plain(item)}" for key, item in value.items())
    return _plain(value) if value is not None else ""


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""  # nested to the limit of the parser


def clean(text: str) -> str:
    """Text without escape sequences and control characters but \\n and \\t; lone surrogates replaced."""
    if not _unclean().search(text):
        return text
    if "\x1b" in text:
        text = _escapes().sub("", text)
    text = _controls().sub("", text)
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def _unclean() -> re.Pattern[str]:
    return re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@cache
def _controls() -> re.Pattern[str]:
    return re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@cache
def _escapes() -> re.Pattern[str]:
    return re.compile(
        "\x1b\\[[0-?]{0,64}[ -/]{0,8}[@-~]"  # colours, cursor
        "|\x1b\\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\\\)"  # titles, links
        "|\x1b[ -/]{1,4}[0-~]"
    )
