"""The values that capture remembers between stops, and how they are read from what is stored."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from decision_hooks.system import files


class Title(NamedTuple):
    """A decision already drafted of a session: its title, and what makes it the same decision."""

    title: str
    identity: str


class Position(NamedTuple):
    """How far a transcript has been captured."""

    path: str
    offset: int = 0  # bytes
    check: str = ""  # hash of the 4 KiB before the offset
    uuid: str = ""  # id of the last record
    appended: str = ""  # hash of a last message that the file did not hold yet
    titles: tuple[Title, ...] = ()
    verdict: str = ""  # of the last part with edits: own | cross-project | tooling-only
    subagents: tuple[tuple[str, int], ...] = ()  # file name, offset
    time: float = 0.0  # seconds since the epoch


class Pending(NamedTuple):
    """A part that waits to be captured, with the newest payload of its transcript."""

    key: str
    transcript: str  # "" when only the last message is known
    session_id: str
    host: str
    message: str  # last assistant message of the payload
    root: str
    waits: bool  # a stop that was not completed: only the next stop may take it
    first: float  # when the part began to wait
    stop: float  # time of the newest stop
    tried: float = 0.0  # time of the last try
    tries: int = 0
    serial: str = ""  # changes with each stop


class GivenUp(NamedTuple):
    """A part that was tried too often: these bytes of its transcript, or its last message alone."""

    entry: Pending
    begin: int = 0  # bytes
    end: int = 0  # bytes; not after the beginning: the message is all there was
    check: str = ""  # hash of the 4 KiB before the end
    appended: str = ""  # hash of the message where the bytes did not hold it
    verdict: str = ""  # of the part, or of the last one with edits before it

    @property
    def only_message(self) -> bool:
        """Whether no bytes of a transcript belong to it."""
        return self.end <= self.begin

    @property
    def name(self) -> str:
        """The name of its file in the state: no two parts of a session share it."""
        which = self.appended if self.only_message else ""
        return f"{self.entry.key}-{which or self.begin}"


class Outbox(NamedTuple):
    """Drafts that a reply held, kept until all of them and the position are on disk."""

    key: str
    root: str  # project that the drafts belong to
    drafts: tuple[tuple[str, str], ...]  # stem of the name, text
    position: Position
    uuids: tuple[str, ...]


def key_of(text: str) -> str:
    """A file name for the state of one transcript, from its real path."""
    from hashlib import blake2b

    return blake2b(files.to_bytes(text), digest_size=10).hexdigest()


def position(stored: dict[str, object], path: str) -> Position:
    """A stored position of the transcript at ``path``; what has a wrong type counts as not stored."""
    return Position(
        path=_path(stored.get("path")) or path,
        offset=_whole(stored.get("offset")),
        check=_text(stored.get("check")),
        uuid=_text(stored.get("uuid")),
        appended=_text(stored.get("appended")),
        titles=tuple(Title(_text(a), _text(b)) for a, b in _pairs(stored.get("titles"))),
        verdict=_text(stored.get("verdict")),
        subagents=tuple((_text(a), _whole(b)) for a, b in _pairs(stored.get("subagents"))),
        time=_seconds(stored.get("time")),
    )


def pending(stored: dict[str, object]) -> Pending | None:
    """A stored part that waits; None without a key."""
    key = _key(stored.get("key"))
    if not key:
        return None
    return Pending(
        key=key,
        transcript=_path(stored.get("transcript")),
        session_id=_text(stored.get("session_id")),
        host=_text(stored.get("host")),
        message=_text(stored.get("message")),
        root=_path(stored.get("root")),
        waits=stored.get("waits") is True,
        first=_seconds(stored.get("first")),
        stop=_seconds(stored.get("stop")),
        tried=_seconds(stored.get("tried")),
        tries=_whole(stored.get("tries")),
        serial=_text(stored.get("serial")),
    )


def given_up(stored: dict[str, object]) -> GivenUp | None:
    """A stored part that was given up; None without a key."""
    entry = pending(stored)
    return entry and GivenUp(
        entry=entry,
        begin=_whole(stored.get("begin")),
        end=_whole(stored.get("end")),
        check=_text(stored.get("check")),
        appended=_key(stored.get("appended")),
        verdict=_text(stored.get("verdict")),
    )


def outbox(stored: dict[str, object]) -> Outbox | None:
    """A stored outbox; None without a key or a position. A draft whose name is a path is passed over."""
    from decision_hooks.records.naming import is_plain_name

    key, reached, uuids = _key(stored.get("key")), stored.get("position"), stored.get("uuids")
    if not key or not isinstance(reached, dict):
        return None
    drafts = [(_text(stem), _text(text)) for stem, text in _pairs(stored.get("drafts"))]
    return Outbox(
        key=key,
        root=_path(stored.get("root")),
        drafts=tuple((stem, text) for stem, text in drafts if is_plain_name(f"{stem}.md")),
        position=position(reached, ""),
        uuids=tuple(_text(u) for u in uuids) if isinstance(uuids, list) else (),
    )


def _key(value: object) -> str:
    """A key as a file name; "" for a path: a state folder that came with a repository must not lead out."""
    return (
        value
        if isinstance(value, str) and value[:1] != "." and value.isprintable() and "/" not in value
        else ""
    )


def _text(value: object) -> str:
    """Text that can be written again: no NUL, lone surrogates replaced."""
    if not isinstance(value, str):
        return ""
    return value if value.isprintable() else files.to_bytes(value.replace("\0", "")).decode("utf-8")


def _path(value: object) -> str:
    """A path; that of a file whose name is no UTF-8 as Python has it."""
    try:
        return os.fsdecode(os.fsencode(value.replace("\0", ""))) if isinstance(value, str) else ""
    except UnicodeEncodeError:
        return _text(value)


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _seconds(value: object) -> float:
    return (
        float(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
        else 0.0
    )


def _pairs(value: object) -> Iterator[list[object]]:
    for pair in value if isinstance(value, list) else []:
        if isinstance(pair, list) and len(pair) == 2:
            yield pair
