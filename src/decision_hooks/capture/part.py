"""The part of a transcript that a capture reads: what is new, with the context that was already judged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from decision_hooks.hosts import transcript
from decision_hooks.sessions import digest
from decision_hooks.sessions.model import Edit, Entry, Session
from decision_hooks.state.capture import CaptureState
from decision_hooks.state.values import GivenUp, Pending, Position
from decision_hooks.system import files
from decision_hooks.system.world import World
from decision_hooks.text.fingerprint import fingerprint
from decision_hooks.transcripts import blocks, reading
from decision_hooks.transcripts.blocks import Extent

_LAG = 2.0  # seconds that the file may lag behind the event
_FRESH = 10.0  # seconds after which a stop is no longer waited for
_FIRST_IDS = 20  # ids at the beginning of a new file by which a copy of an older one is recognised
_FIRST = 1024 * 1024  # bytes in which these ids are looked for
_LAST_TIME = 253402128000.0  # two days before the year 10000: a day in any time zone
_MARK = "#"  # begins what stands for the id of texts that have none
_MOST_UNKNOWN = 3  # in a row: then the copied beginning of a file is over
_SAID = ("user", "assistant", "answer", "plan")
_LEAST_AGAIN = 40  # characters of a message that is known as one that goes on


class Part(NamedTuple):
    """What is new since the last capture of a transcript."""

    session: Session
    context: digest.Context
    edits: tuple[Edit, ...]  # subagents' included
    begin: int  # byte offset of the part
    position: Position  # of the transcript once the part is captured
    session_id: str
    path: str  # real path of the transcript, "" when the last message is all there is
    time: float  # of the last record, seconds since the epoch
    tail: int  # byte offset from which the part was read whole; before it only requests were
    verdict: str = ""  # of the last part with edits before this one; once it is judged, of this one
    is_copy: bool = False  # of a session whose beginning was captured from another file
    is_retry: bool = False  # of a part that was given up: the position is already past it and must not move

    @property
    def nothing_new(self) -> bool:
        """Whether the part holds no conversation at all."""
        return not self.session.entries

    def judged(self, verdict: str) -> Part:
        """The part with its verdict, which later parts without edits go by."""
        position = self.position if self.is_retry else self.position._replace(verdict=verdict)
        return self._replace(verdict=verdict, position=position)


class _Lines(NamedTuple):
    """The new lines of a transcript, before the message of the payload is added."""

    where: Extent
    begin: int
    session: Session
    tail: blocks.Tail
    context: digest.Context


def read_part(state: CaptureState, entry: Pending, *, incremental: bool, world: World) -> Part | None:
    """Read what is new of an entry's transcript; None when there is neither a transcript nor a message."""
    position = state.position(entry.key, entry.transcript, world.now())
    where = blocks.extent(entry.transcript) if entry.transcript else None
    if where is None:
        return _part_of_message(entry, position, world.now()) if entry.message else None
    if where.path.endswith(".txt"):
        return _part_of_text(entry, position, where)
    begin = _begin(state, position, where)
    lines = _read_lines(where, begin, position)
    missing = _missing(entry, position, lines)
    waited = 0.0
    while missing and world.now() - entry.stop < _FRESH and waited < _LAG:
        world.sleep(0.1)
        waited += 0.1
        newer = blocks.extent(entry.transcript)
        if newer and newer.size != lines.where.size:
            lines = _read_lines(newer, begin, position)
            missing = _missing(entry, position, lines)
    part = _part(entry, position, lines, missing=missing, incremental=incremental)
    part = part._replace(is_copy=begin > 0 and not position.offset)
    subagents, more = reading.subagent_edits(where.path, position.subagents)
    return part._replace(edits=part.edits + more, position=part.position._replace(subagents=subagents))


def read_again(state: CaptureState, stored: GivenUp, *, incremental: bool, world: World) -> Part | None:
    """Read exactly the part that was given up; None when its transcript has lost it.

    What was captured after it stays captured: the transcript's position never moves back.
    """
    entry = stored.entry
    kept = state.position(entry.key, entry.transcript, world.now())
    new = Position(kept.path, titles=kept.titles)
    if stored.only_message:
        if not entry.message:
            return None
        part = _part_of_message(entry, new, world.now())
        after = kept._replace(appended=kept.appended or part.position.appended)
        return part._replace(position=after, verdict=stored.verdict, is_retry=True)
    where = _where_again(stored)
    if where is None:
        return None
    if where.path.endswith(".txt"):
        part = _part_of_text(entry, new, where)
    else:
        lines = _read_lines(where, stored.begin, new)
        part = _part(entry, new, lines, missing=bool(stored.appended), incremental=incremental)
    ahead = part.position._replace(verdict=kept.verdict, subagents=kept.subagents)
    after = kept if kept.offset >= stored.end else ahead
    return part._replace(position=after, verdict=stored.verdict, is_retry=True)


def _where_again(stored: GivenUp) -> Extent | None:
    """The transcript as it stood when the part was given up, None when these bytes are gone."""
    where = blocks.extent(stored.entry.transcript)
    if where is None or where.size < stored.end:
        return None
    if stored.check and stored.check != blocks.check_before(where.path, stored.end):
        return None
    return Extent(where.path, stored.end, stored.entry.stop or where.modified)


def unread(state: CaptureState, entry: Pending, now: float) -> Part | None:
    """An empty part that spans everything new, used to skip a transcript that cannot be read."""
    where = blocks.extent(entry.transcript) if entry.transcript else None
    position = state.position(entry.key, entry.transcript, now)
    if where is None:
        return _part_of_message(entry, position, now) if entry.message else None
    check = blocks.check_before(where.path, where.size)
    begin = min(position.offset, where.size)
    appended = _hash(entry.message) if begin == where.size and entry.message else ""
    after = position._replace(path=where.path, offset=where.size, check=check, appended=appended)
    part = _new_part(entry, Session(entry.host), after, where.modified, path=where.path)
    return part._replace(begin=begin, tail=where.size)


def older_edits(part: Part) -> Iterator[Edit]:
    """Edits of a very large part before those that were read; a caller stops when it knows enough."""
    if part.tail > part.begin:
        yield from reading.edits(part.path, part.begin, part.tail)


def _read_lines(where: Extent, begin: int, position: Position) -> _Lines:
    context = reading.context(where.path, begin, _titles(position))
    return _Lines(where, begin, *reading.read(where, begin), context)


def _part(entry: Pending, position: Position, lines: _Lines, *, missing: bool, incremental: bool) -> Part:
    """The part, with the last message if it is missing; the whole session unless ``incremental``."""
    path, tail, context = lines.where.path, lines.tail, lines.context
    session = _without_appended(lines.session, position)
    session = _without_again(session, context.before_assistant)
    if (session.entries or missing) and not incremental:
        session = reading.read(lines.where, 0)[0]
        context = context._replace(first_request="", before_assistant="", before_user="")
    session = session._replace(uuids=(*session.uuids, *_marks(session.entries)))
    appended = ""
    if missing:
        appended = _hash(entry.message)
        session = session._replace(entries=(*session.entries, Entry("assistant", entry.message)))
    after = position._replace(
        path=path,
        offset=tail.end,
        check=blocks.check_before(path, tail.end),
        uuid=next((uuid for uuid in reversed(session.uuids) if uuid[:1] != _MARK), position.uuid),
        appended=appended or ("" if session.entries else position.appended),
    )
    time = min(session.last_time or lines.where.modified, _LAST_TIME)
    part = _new_part(entry, session, after, time, path=path)
    return part._replace(context=context, begin=lines.begin, tail=tail.begin)


def _new_part(entry: Pending, session: Session, after: Position, time: float, *, path: str) -> Part:
    """A part from the beginning of its file; its only context are the titles of earlier drafts."""
    return Part(
        session=session,
        context=digest.NO_CONTEXT._replace(titles=_titles(after)),
        edits=session.edits,
        begin=0,
        position=after,
        session_id=entry.session_id,
        path=path,
        time=time,
        tail=0,
        verdict=after.verdict,
    )


def _part_of_message(entry: Pending, position: Position, now: float) -> Part:
    mark = _hash(entry.message)
    entries = () if position.appended == mark else (Entry("assistant", entry.message),)
    session = Session(entry.host, entries=entries)
    return _new_part(entry, session, position._replace(appended=mark), entry.stop or now, path="")


def _part_of_text(entry: Pending, position: Position, where: Extent) -> Part:
    """A transcript in plain text: whole each time that its bytes changed."""
    data = blocks.read_range(where.path, 0, 8 * 1024 * 1024)
    session = transcript.parse_text(data.decode("utf-8", "replace"))
    check = blocks.check_before(where.path, where.size)
    if position.offset == where.size and position.check == check:
        session = Session(session.host)
    after = position._replace(path=where.path, offset=where.size, check=check)
    return _new_part(entry, session, after, where.modified, path=where.path)


# -- where the part begins


def _begin(state: CaptureState, position: Position, where: Extent) -> int:
    if position.offset:
        if (
            position.offset <= where.size
            and blocks.check_before(where.path, position.offset) == position.check
        ):
            return position.offset
        after = _after_record(where, position.uuid)
        if after:
            return after
    return _after_known(state, where)


def _after_record(where: Extent, uuid: str) -> int:
    """The offset after the record with that id, 0 when the file has none."""
    after, needle = 0, uuid.encode("utf-8", "replace")
    for offset, line in blocks.lines(where.path, 0, where.size) if uuid else ():
        if needle in line and uuid in transcript.parse([line]).uuids:
            after = offset
    return after


def _after_known(state: CaptureState, where: Extent) -> int:
    """The offset after the last record that was captured from another file (a fork, an old resume)."""
    first: list[str] = []
    for uuid, _ in _ids(where, min(where.size, _FIRST)):
        first.append(uuid)
        if len(first) >= _FIRST_IDS:
            break
    if not state.known(first):
        return 0
    numbered = list(_ids(where, where.size))
    known = state.known(uuid for uuid, _ in numbered)
    after = unknown = 0
    for uuid, offset in numbered:
        if uuid[:1] != _MARK:
            after = offset if uuid in known else after
        elif unknown < _MOST_UNKNOWN:
            # words may be said again later: only a copied beginning counts
            after, unknown = (max(after, offset), 0) if uuid in known else (after, unknown + 1)
    return after


def _ids(where: Extent, end: int) -> Iterator[tuple[str, int]]:
    """The ids of the records of a file, and what stands for those of texts without ids, with the offsets after them."""
    before: list[Entry] = []
    header = transcript.header(blocks.first_line(where.path))
    for offset, line in blocks.lines(where.path, 0, end):
        session = transcript.parse([line], header=header)
        yield from ((uuid, offset) for uuid in session.uuids)
        before = [*before[-3:], *session.entries]
        if session.entries:
            yield from ((mark, offset) for mark in _marks(before)[-len(session.entries) :])


def _marks(entries: Sequence[Entry]) -> list[str]:
    """What stands for the ids of texts without one: a hash of each with the text before it.

    A text alone would not do: two sessions may begin with the same words, and "yes" is said often.
    """
    found = []
    texts: list[str] = []
    for entry in entries:
        text = f"{entry.kind}\0{_fold(entry.text)}" if entry.kind in _SAID and not entry.uuid else ""
        if text and text not in texts[-2:]:  # some hosts write each text twice
            if texts:
                found.append(_MARK + fingerprint(files.to_bytes(f"{texts[-1]}\0{text}"), 12))
            texts.append(text)
    return found


def _without_again(session: Session, before: str) -> Session:
    """The part without the beginning of a message that was captured already and has grown since."""
    if len(before) < _LEAST_AGAIN or not session.entries:
        return session
    first, *rest = session.entries
    if first.kind != "assistant" or not first.text.startswith(before):
        return session
    more = first.text[len(before) :].strip()
    return session._replace(entries=(first._replace(text=more), *rest) if more else tuple(rest))


def _titles(position: Position) -> tuple[str, ...]:
    return tuple(title.title for title in position.titles)


# -- the last message


def _missing(entry: Pending, position: Position, lines: _Lines) -> bool:
    """Whether the payload's last message is neither in the part nor captured already."""
    if not entry.message or _hash(entry.message) == position.appended:
        return False
    wanted = _fold(entry.message)
    texts = [e.text for e in lines.session.entries if e.kind in ("assistant", "plan")]
    if not texts and lines.context.before_assistant:
        texts = [lines.context.before_assistant]
    folded = [_fold(text) for text in texts]
    return bool(wanted) and not any(wanted in text for text in folded) and wanted not in "".join(folded)


def _without_appended(session: Session, position: Position) -> Session:
    """The part without the message that an earlier capture sent before it was in the file."""
    if not position.appended:
        return session
    for number, entry in enumerate(session.entries):
        if entry.kind == "assistant" and _hash(entry.text) == position.appended:
            return session._replace(entries=session.entries[:number] + session.entries[number + 1 :])
    return session


def _fold(text: str) -> str:
    return re.sub(r"\W+", "", text)


def _hash(text: str) -> str:
    return fingerprint(files.to_bytes(_fold(text)), 12)
