"""Typed access to parsed JSON that others wrote: a field of the wrong type reads as an empty one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache

Record = Mapping[str, object]
NOTHING: Record = {}
_MOST_TRIES = 40  # places of a damaged line where a record may begin


def parse_object(line: bytes) -> Record | None:
    """The JSON object on a line, None for anything else; bytes that are no UTF-8 are replaced."""
    try:
        value = json.loads(line.decode("utf-8", "replace").lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def parse_objects(line: bytes) -> list[Record]:
    """The JSON objects on a line: one as a rule; of a damaged line each record that is whole.

    A write that was killed leaves a stub before the next record, a crash leaves NULs, and two writers put two records
    on one line. None for a line without any.
    """
    whole = parse_object(line)
    if whole is not None:
        return [whole]
    text = line.decode("utf-8", "replace").replace("\0", "")
    found: list[Record] = []
    decoder, place, tries = json.JSONDecoder(), 0, 0
    while tries < _MOST_TRIES and (begin := _record_begin().search(text, place)):
        try:
            value, place = decoder.raw_decode(text, begin.start())
            found.append(value)
        except (ValueError, RecursionError):
            place, tries = begin.end(), tries + 1
    return found


@cache
def _record_begin() -> re.Pattern[str]:
    """Where a record may begin; the blocks within one begin otherwise."""
    blocks = (
        "text|tool_use|tool_result|(?:redacted_)?thinking|image|base64|document|(?:in|out)put_\\w+|toolCall"
    )
    keys = "parentUuid|uuid|role|id|timestamp|sessionId|isSidechain|cwd|version|payload|ordinal"
    return re.compile(rf'\{{\s*"(?:(?:{keys})"|type"\s*:\s*"(?!(?:{blocks})"))')


def unpacked(value: object) -> object:
    """A tool's input that was written as a JSON text, read; any other as it is."""
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        return parse_object(value.encode("utf-8", "replace")) or value
    return value


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
    """A message's content as blocks: a string, and each string of a list, is a block of text; one may be alone."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, dict):
        return [content]
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
    if text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable():
        return text  # most texts; much faster than a search
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
