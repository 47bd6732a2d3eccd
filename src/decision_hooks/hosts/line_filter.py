"""Cheap tests of raw lines, of any host and spacing: which of a very large transcript need parsing."""

from __future__ import annotations

import re
from functools import cache

from decision_hooks.hosts import table
from decision_hooks.hosts.base import Host
from decision_hooks.hosts.fields import parse_object

RESULTS = 64 * 1024  # bytes after a call in which its failure is looked for
# A quote inside of a JSON string is escaped, so a quoted word is always a key or a value of the record.
_HEAD = 800  # bytes in which nearly all records name their type
_BULK = (
    b'"tool_result"',
    b'"toolResult"',
    b'"progress"',
    b'"api-request',
    b'"compacted"',
    b'"isCompactSummary"',
)
_READERS = (
    b'"Read"',
    b'"Grep"',
    b'"Glob"',
    b'"LS"',
    b'"read"',
    b'"grep"',
    b'"find"',
    b'"ls"',
)  # tools that take paths
_EVENTS = (b"patch_apply_end", b'"FileChange"', b'"session_meta"')


def edit_needles(first_line: bytes) -> tuple[bytes, ...]:
    """Bytes of which a line with an edit has one, in a file that begins with that line."""
    return tuple({needle: None for host in _hosts(first_line) for needle in host.edit_needles})


def request_needles(first_line: bytes) -> tuple[bytes, ...]:
    """Bytes of which a line with a request or an answer has one, in a file that begins with that line."""
    return tuple({needle: None for host in _hosts(first_line) for needle in host.request_needles})


def _hosts(first_line: bytes) -> tuple[Host, ...]:
    host = table.of_record(parse_object(first_line))
    return (host,) if host else table.HOSTS


def failures(following: bytes) -> list[bytes]:
    """The lines after a call that may be the results of calls that failed; to be sought within ``RESULTS``."""
    lines = following.split(b"\n")
    return [line for line in lines if (b"rror" in line or b"_output" in line) and edit_like(line)]


def is_request(line: bytes) -> bool:
    """Whether a line may have words or a verdict of a person, or a question to them."""
    if b'"tool_result"' in line:
        return b"the user said:" in line or _is_judged(line)
    if b'"AskUserQuestion"' in line or b'"ExitPlanMode"' in line:
        return True
    return b'"toolResult"' not in line and worth_reading(line)


def worth_reading(line: bytes) -> bool:
    """Whether a line may have words or a verdict of a person, a plan, a header or an edit; misses none.

    False for tool results, progress, snapshots, blobs, thinking and prose of the model.
    """
    kind = _kind(line)
    if kind in (b"tool_result", b"toolResult"):
        return _is_failed(line) or _is_judged(line)
    if kind == b"attachment":
        return b'"queued_command"' in line
    return edit_like(line) if kind else _is_typed(line) or edit_like(line) or b'"answers"' in line


def edit_like(line: bytes) -> bool:
    """Whether a line may be a call of an edit tool, the result of a failed one, a patch event, or a header.

    The verdict on a session's files rests on these lines: none of them may be passed over.
    """
    kind = _kind(line)
    if kind == b"assistant":
        return _calls_edit(line)
    if kind in (b"tool_result", b"toolResult"):
        return _is_failed(line)
    if kind:
        return False
    return (
        _calls_edit(line)
        or _is_failed(line)
        or (b"*** Begin Patch" in line)
        or (b'_call_output"' in line and _failed_output().search(line) is not None)
        or any(word in line for word in _EVENTS)
        or (b'"session"' in line and b'"cwd"' in line)
    )


def only_reads(data: bytearray, begin: int, at: int) -> bool:
    """Whether what is found ``at`` a place of a line is in a call of a tool that reads: its name is right before."""
    named = data.rfind(b'"name"', max(begin, at - 300), at)
    return named >= 0 and data[named + 6 : named + 24].lstrip(b" :").startswith(_READERS)


def _is_judged(line: bytes) -> bool:
    return b'"answers"' in line or b"answered your questions" in line or b"approved your plan" in line


def _is_typed(line: bytes) -> bool:
    if b'"attachment"' in line or b'"queue-operation"' in line:
        return b'"queue' in line
    if b'"user"' in line:
        return not any(word in line for word in _BULK)
    return b'"user_message"' in line or b'"UserMessage"' in line


def _calls_edit(line: bytes) -> bool:
    return _edit_call().search(line) is not None


def _is_failed(line: bytes) -> bool:
    return _failed().search(line) is not None or b'"toolDenialKind"' in line


def _kind(line: bytes) -> bytes:
    """The type of a record that is bulk or prose, or calls tools; b"" for others and when it comes late."""
    kind = _bulk_kind().search(line, 0, _HEAD)
    if kind:
        return kind.group(1)
    return b"attachment" if b'"attachment"' in line[:_HEAD] else b""


@cache
def _bulk_kind() -> re.Pattern[bytes]:
    kinds = rb"progress|file-history-[a-z]+|tool_result|toolResult|assistant|api-request[a-z-]*"
    return re.compile(rb'"(?:type|role)"\s*:\s*"(' + kinds + rb')"')


@cache
def _edit_call() -> re.Pattern[bytes]:
    names = "|".join((*sorted(table.edit_tools()), "AskUserQuestion", "ExitPlanMode"))
    return re.compile(f'"name"\\s*:\\s*"(?:{names})"'.encode())


@cache
def _failed() -> re.Pattern[bytes]:
    return re.compile(rb'"is(?:_e|E)rror"\s*:\s*true')


@cache
def _failed_output() -> re.Pattern[bytes]:
    """What a failed patch of Codex answers with."""
    return re.compile(
        rb'[Ee]xit code: (?!0\b)|exit_code\\?"\s*:\s*(?!0\b)|"success\\?"\s*:\s*false'
        rb'|[Pp]atch|[Rr]ejected|[Ff]ailed|"\s*(?:[Ee]rror|[Aa]borted)'
    )
