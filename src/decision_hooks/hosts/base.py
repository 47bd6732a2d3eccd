"""What the card of a host answers, and what its reader does. The card of a host is its folder's ``__init__``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from decision_hooks.hosts.entry_line import Target
    from decision_hooks.hosts.gathering import Gathering
    from decision_hooks.sessions.model import Session


class Reader(Protocol):
    """Reads the records of one transcript in file order."""

    into: Gathering

    def __init__(self, into: Gathering) -> None: ...

    def read(self, record: Mapping[str, object]) -> None:
        """Take one record."""

    def session(self, bad_lines: int) -> Session:
        """The session of the records read so far."""


class Host(Protocol):
    """One agent that can call us; ``table`` lists the cards. "" or () where a host has no such thing."""

    name: str  # in logs, stored state and flags
    title: str  # as its maker writes it

    # the payload of a stop, and the environment variables beside it
    root_variable: str = ""  # names the project
    transcript_variable: str = ""  # names the transcript
    roots_field: str = ""  # a list of folders, the project first
    session_fields: tuple[str, ...] = ("session_id",)  # the session's id, best first
    has_status: bool = False  # "status" is other than "completed" for a failed or aborted turn

    # the records of a transcript
    header: str = ""  # type of a first record that names the working directory of all
    edit_tools: tuple[str, ...]  # read tools have the same path fields, so the name decides
    edit_needles: tuple[bytes, ...]  # a line with an edit has one of them
    request_needles: tuple[bytes, ...] = (b'"user"',)  # a line that a person typed or judged has one of them

    # the files of transcripts
    folder_variable: str = ""  # names the host's folder
    folder: str  # in the home folder, when the variable is unset
    transcripts: tuple[str, ...]  # glob patterns in that folder, ``{0}`` is the session's id
    notes_cwd: bool = True  # a transcript says where its session was begun
    project_folder: str = ""  # pattern of a folder that repeats the project's path; group 1 is before it

    def is_payload(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> bool:
        """Whether the payload of a stop has a mark of this host."""
        return False

    def is_record(self, record: Mapping[str, object]) -> bool:
        """Whether a record of a transcript has this host's shape."""

    def reader(self) -> type[Reader]:
        """The class of its readers, which is imported only here."""

    def target(self) -> Target | None:
        """What is installed for the host, None for nothing; its module is imported only here."""
        return None

    def session_id(self, stem: str) -> str:
        """The session's id in the name of its transcript without the suffix."""
        return stem

    def may_be_of(self, path: str, root: str) -> bool:
        """Whether the folder of a transcript can be that of the project; such names are lossy."""
        return True


def dashed(path: str) -> str:
    """A path as the hosts make a folder name of it; JavaScript counts a letter beyond U+FFFF twice."""
    return "".join(c if c.isascii() and c.isalnum() else "--" if ord(c) > 0xFFFF else "-" for c in path)
