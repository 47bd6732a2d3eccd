"""Lines of a transcript of any host, read into one Session."""

from __future__ import annotations

from collections.abc import Iterable

from decision_hooks.hosts.claude import reader as claude
from decision_hooks.hosts.codex import reader as codex
from decision_hooks.hosts.cursor import reader as cursor
from decision_hooks.hosts.cursor.plain_text import parse_text
from decision_hooks.hosts.fields import Record, parse_object
from decision_hooks.hosts.pi import reader as pi
from decision_hooks.sessions.model import Session

__all__ = ["is_record", "parse", "parse_text"]

_Reader = claude.Reader | codex.Reader | cursor.Reader | pi.Reader


def parse(lines: Iterable[bytes], *, subagent: bool = False, header: bytes | None = None) -> Session:
    """What lines, without their newlines, hold; a bad line costs that line only, and nothing raises.

    The host is told by the shape of the first record that has one. ``header`` is the file's first line when
    ``lines`` begin later: pi and Codex note the working directory there. A subagent's file gives edits only.
    """
    reader, bad = _reader_of_header(header), 0
    for line in lines:
        record = parse_object(line)
        if record is None:
            bad += bool(line.strip())
            continue
        if reader is None:
            reader = _reader(record, subagent)
        if reader is not None:
            reader.read(record)
    if reader is None:
        return Session("unknown", bad_lines=bad)
    session = reader.session(bad)
    return session._replace(entries=(), choices=()) if subagent else session


def is_record(line: bytes) -> bool:
    """Whether a line is a whole JSON object, and not one that is still being written."""
    return parse_object(line) is not None


def _reader(record: Record, subagent: bool) -> _Reader | None:
    if codex.is_ours(record):
        return codex.Reader()
    if pi.is_ours(record):
        return pi.Reader()
    if claude.is_ours(record):
        return claude.Reader(subagent=subagent)
    return cursor.Reader() if cursor.is_ours(record) else None


def _reader_of_header(header: bytes | None) -> _Reader | None:
    record = parse_object(header) if header else None
    if record is None or record.get("type") not in ("session", "session_meta"):
        return None
    reader = _reader(record, subagent=False)
    if reader is not None:
        reader.head(record)
    return reader
