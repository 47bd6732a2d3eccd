"""The values that capture remembers between stops, as ``stored.read`` reads them."""

from __future__ import annotations

import os
from typing import Annotated, NamedTuple

from decision_hooks.system import files
from decision_hooks.text.fingerprint import fingerprint


def _plain(value: str) -> str | None:
    """A file name; None for a path: a state folder that came with a repository must not lead out."""
    return value if value and value[0] != "." and value.isprintable() and "/" not in value else None


def _record_name(value: str) -> str | None:
    from decision_hooks.records.naming import is_plain_name

    return value if is_plain_name(value) else None


def _stem(value: str) -> str | None:
    return value if _record_name(f"{value}.md") else None


def _text(value: str) -> str:
    """Text that can be written again: no NUL, lone surrogates replaced."""
    return value if value.isprintable() else files.to_bytes(value.replace("\0", "")).decode("utf-8")


def _path(value: str) -> str:
    """A path; that of a file whose name is no UTF-8 as Python has it."""
    try:
        return os.fsdecode(os.fsencode(value.replace("\0", "")))
    except UnicodeEncodeError:
        return _text(value)


Key = Annotated[str, _plain]
Stem = Annotated[str, _stem]
RecordName = Annotated[str, _record_name]
Text = Annotated[str, _text]
FilePath = Annotated[str, _path]
Count = Annotated[int, range(2**63)]


class Title(NamedTuple):
    """A decision already drafted of a session: its title, and what makes it the same decision."""

    title: Text
    identity: Text


class Position(NamedTuple):
    """How far a transcript has been captured."""

    path: FilePath = ""
    offset: Count = 0  # bytes
    check: Text = ""  # hash of the 4 KiB before the offset
    uuid: Text = ""  # id of the last record
    appended: Text = ""  # hash of a last message that the file did not hold yet
    titles: tuple[Title, ...] = ()
    verdict: Text = ""  # of the last part with edits: own | cross-project | tooling-only
    subagents: tuple[tuple[Text, Count], ...] = ()  # file name, offset
    time: float = 0.0  # seconds since the epoch


class Pending(NamedTuple):
    """A part that waits to be captured, with the newest payload of its transcript."""

    key: Key
    transcript: FilePath = ""  # "" when only the last message is known
    session_id: Text = ""
    host: Text = ""
    message: Text = ""  # last assistant message of the payload
    root: FilePath = ""
    waits: bool = False  # a stop that was not completed: only the next stop may take it
    first: float = 0.0  # when the part began to wait
    stop: float = 0.0  # time of the newest stop
    tried: float = 0.0  # time of the last try
    tries: Count = 0
    serial: Text = ""  # changes with each stop
    main: FilePath = ""  # root of the main work tree, "" in a file of an earlier version
    tree: Text = ""  # git's name of a linked work tree, "" for the main one
    place: Count = 0  # of its newest stop in the order of all stops
    tried_place: Count = 0  # of the newest stop of all when it was last tried
    old_since: float = 0.0  # when it was first seen to be too old
    defect: Text = ""  # of our program, which ended the last try
    defects: Count = 0  # how many tries in a row that defect ended
    seal: Text = ""  # of the machine whose stop named the transcript


class GivenUp(NamedTuple):
    """A part that was tried too often: these bytes of its transcript, or its last message alone."""

    entry: Pending
    begin: Count = 0  # bytes
    end: Count = 0  # bytes; not after the beginning: the message is all there was
    check: Text = ""  # hash of the 4 KiB before the end
    appended: Key = ""  # hash of the message where the bytes did not hold it
    verdict: Text = ""  # of the part, or of the last one with edits before it

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

    key: Key
    position: Position
    root: FilePath = ""  # project that the drafts belong to
    drafts: tuple[tuple[Stem, Text], ...] = ()  # stem of the name, text
    uuids: tuple[Text, ...] = ()
    main: FilePath = ""  # as in ``Pending``
    tree: Text = ""
    made: Count = 0  # how many drafts have been made, from the first on
    making: RecordName = ""  # of the next one, noted before it is made


def key_of(text: str) -> str:
    """A file name for the state of one transcript, from its real path."""
    return fingerprint(files.to_bytes(text), 10)
