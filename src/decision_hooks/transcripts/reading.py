"""Reading a transcript that may be very large: a part, its edits, what was said before it, its subagents' edits."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator

from decision_hooks.hosts import line_filter, transcript
from decision_hooks.sessions import digest
from decision_hooks.sessions.model import Edit, Session
from decision_hooks.system import files
from decision_hooks.transcripts import blocks
from decision_hooks.transcripts.blocks import Extent, Tail

_HEAD = 1024 * 1024  # bytes in which a session's, or a part's, first requests are looked for
_BEFORE = 256 * 1024  # bytes before the part with its context
_WINDOW = 1024 * 1024  # bytes of a part that are read whole, the last ones
_SEARCHED = 8 * 1024 * 1024  # bytes before them that are searched for requests
_STEP = 1024 * 1024  # bytes of one step of that search
_MOST_REQUESTS = 192 * 1024  # bytes of requests from each end of what is searched

Offsets = tuple[tuple[str, int], ...]  # file name of a subagent, bytes of it that were read


def read(where: Extent, begin: int) -> tuple[Session, Tail]:
    """The part from ``begin``: its last bytes whole, of what lies before them the requests and answers."""
    tail = blocks.tail(where, begin, _WINDOW, transcript.is_record)
    lines: Iterable[bytes] = tail.lines
    if tail.begin > begin:
        lines = [*_older_requests(where.path, begin, tail.begin), *tail.lines]
    return transcript.parse(lines, header=_header(where.path) if begin else None), tail


def context(path: str, begin: int, titles: tuple[str, ...]) -> digest.Context:
    """What was said before an offset and was judged already, with the titles that were written of it."""
    if not begin:
        return digest.NO_CONTEXT._replace(titles=titles)
    first = ""
    for _, line in blocks.lines(path, 0, min(begin, _HEAD)):
        first = next((e.text for e in transcript.parse([line]).entries if e.kind == "user"), "")
        if first:
            break
    block = blocks.read_range(path, max(0, begin - _BEFORE), begin)
    if begin > _BEFORE:
        block = block.partition(b"\n")[2]
    before = transcript.parse(block.split(b"\n")).entries
    assistant = next((e.text for e in reversed(before) if e.kind in ("assistant", "plan")), "")
    user = next((e.text for e in reversed(before) if e.kind in ("user", "answer")), "")
    return digest.Context(first_request=first, titles=titles, before_assistant=assistant, before_user=user)


def edits(path: str, begin: int, end: int, *, until: float = math.inf) -> Iterator[Edit]:
    """The edits between two offsets of a very large file, found without reading all of it.

    ``until``: seconds since the epoch; what was edited later is left out.
    """
    first = blocks.first_line(path)
    wanted, header = line_filter.edit_needles(first), transcript.header(first)
    for line, following in blocks.candidates(
        path, begin, end, wanted, line_filter.edit_like, line_filter.RESULTS, line_filter.only_reads
    ):
        if until < math.inf and transcript.parse([line], header=header).last_time > until:
            continue
        failures = line_filter.failures(following)
        yield from transcript.parse([line, *failures[:8]], header=header).edits


def subagent_edits(path: str, before: Offsets) -> tuple[Offsets, tuple[Edit, ...]]:
    """How far the subagents' files of a session have been read now, and the edits that are new in them."""
    offsets = dict(before)
    new: list[Edit] = []
    for name, file in _subagent_files(path):
        where = blocks.extent(file)
        begin = offsets.get(name, 0)
        if where is None or where.size <= begin:
            continue
        tail = blocks.tail(where, begin, _WINDOW, transcript.is_record)
        if tail.begin > begin:
            new.extend(edits(where.path, begin, tail.begin))
        new.extend(transcript.parse(tail.lines).edits)
        offsets[name] = tail.end
    return tuple(sorted(offsets.items())), tuple(new)


def _older_requests(path: str, begin: int, end: int) -> list[bytes]:
    """Lines with requests and answers of a very large part: of its beginning, and the newest."""
    wanted = line_filter.request_needles(blocks.first_line(path))
    first, size = [], 0
    head = blocks.line_start(path, min(end, begin + _HEAD), end)  # no line is cut
    for line, _ in blocks.candidates(path, begin, head, wanted, line_filter.is_request):
        first.append(blocks.shortened(line))
        size += _room(first[-1])
        if size > _MOST_REQUESTS:
            break
    newest: list[bytes] = []
    size, since = 0, max(head, end - _SEARCHED)
    while end > since and size < _MOST_REQUESTS:  # backwards: what is newest counts most
        start, step = end, _STEP
        while start >= end and end - step > since - _STEP:  # a line may be longer than a step
            start, step = blocks.line_start(path, max(since, end - step), end), step + _STEP
        start = start if start < end else since
        requests = blocks.candidates(path, start, end, wanted, line_filter.is_request)
        newest = [blocks.shortened(line) for line, _ in requests] + newest
        size = sum(map(_room, newest))
        end = start
    while size > _MOST_REQUESTS:
        size -= _room(newest.pop(0))
    return [*first, *newest]


def _room(line: bytes) -> int:
    """What a request counts: one that is very long (a pasted log) takes no other's place."""
    return min(len(line), _MOST_REQUESTS // 8)


def _header(path: str) -> bytes | None:
    """The first line of a file, where some hosts note the working directory."""
    line = blocks.first_line(path)
    return line if len(line) < blocks.FIRST_LINE else None


def _subagent_files(path: str) -> Iterator[tuple[str, str]]:
    for folder in (
        os.path.splitext(path)[0] + "/subagents",
        os.path.join(os.path.dirname(path), "subagents"),
    ):
        for name in sorted(files.names(folder)):
            if name.endswith(".jsonl"):
                yield name, os.path.join(folder, name)
