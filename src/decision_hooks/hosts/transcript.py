"""Lines of a transcript of any host, read into one Session."""

from __future__ import annotations

from collections.abc import Iterable

from decision_hooks.hosts import table
from decision_hooks.hosts.base import Host, Reader
from decision_hooks.hosts.fields import parse_object, parse_objects
from decision_hooks.hosts.gathering import Gathering
from decision_hooks.sessions.model import Session


def parse(lines: Iterable[bytes | int], *, header: bytes | None = None) -> Session:
    """What lines, without their newlines, hold; a damaged line costs the damaged bytes only, and nothing raises.

    The shape of the first record that has one decides the host. ``header`` is the file's first line when
    ``lines`` begin later: some hosts note the working directory there. A number among the lines stands for so many
    that were passed over.
    """
    reader, bad, number = _reader_of_header(header), 0, -1
    for line in lines:
        if isinstance(line, int):
            number += line
            if reader is not None:
                reader.into.passed(line)
            continue
        number += 1
        records = parse_objects(line)
        bad += not records and bool(line.strip())
        for record in records:
            if reader is None:
                host = table.of_record(record)
                reader = _reader(host) if host else None
            if reader is not None:
                reader.into.line = number
                reader.read(record)
    return reader.session(bad) if reader else Session("unknown", bad_lines=bad)


def parse_text(text: str) -> Session:
    """What a whole transcript in plain text holds; older versions of Cursor wrote those."""
    from decision_hooks.hosts.cursor import Cursor
    from decision_hooks.hosts.cursor.reader import read_text

    return read_text(text, Gathering(Cursor.name, table.edit_tools()))


def is_record(line: bytes) -> bool:
    """Whether a line is a whole JSON object, and not one that is still being written."""
    return parse_object(line) is not None


def header(line: bytes) -> bytes | None:
    """A file's first line if it is one that ``parse`` needs for later lines; None for any other."""
    return line if _reader_of_header(line) else None


def _reader(host: Host) -> Reader:
    return host.reader()(Gathering(host.name, table.edit_tools()))


def _reader_of_header(line: bytes | None) -> Reader | None:
    record = parse_object(line) if line else None
    host = table.of_record(record)
    if record is None or host is None or record.get("type") != host.header:
        return None
    reader = _reader(host)
    reader.read(record)
    return reader
