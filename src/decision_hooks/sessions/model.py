"""The values that every host's transcript is read into. Plain named tuples: cheap to import."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One thing said or done, in the order of the transcript, whole (never cut, not yet masked).

    ``kind`` is one of

    - ``user``: typed by the person: requests, also mid-turn, slash commands with arguments, accepted plans
    - ``answer``: the person's answer to a question with its options, a judged plan, a rejection
    - ``assistant``: text of the model;  ``plan``: a plan that the model put forward
    - ``report``: what a subagent reported to the session
    - ``edit``: a change of one file: its path, then each line that goes as ``- line``, that comes as ``+ line``
    - ``thinking``: thinking text;  ``tool``: another tool call, ``text`` is its input or its command
    - ``result``: a tool's output;  ``passed``: lines that were not read, ``text`` is their number
    """

    kind: str
    text: str
    time: float = 0.0  # seconds since the epoch, 0.0 where the host gives none
    uuid: str = ""  # id of the record, "" where the host gives none
    tool: str = ""  # name of the tool for ``tool``, ``edit`` and ``result``
    failed: bool = False  # a result that is an error, and the call that it is of
    line: int = -1  # among the lines that were read, from 0; -1 where it stands in none


class Edit(NamedTuple):
    """One file that an edit tool changed; the result was not an error (or has not been seen)."""

    path: str  # as recorded: absolute or relative
    cwd: str  # the record's working directory, "" where none is known


class Option(NamedTuple):
    """One option that was offered to the person."""

    label: str
    description: str = ""


class Choice(NamedTuple):
    """Structured evidence of a decision: an answered question, or a plan approved or sent back.

    ``kind``: ``question`` | ``plan-approved`` | ``plan-rejected``. ``question`` is the question, or the plan.
    ``chosen`` are labels of options (or free text that the person gave instead); ``words`` the person's own
    words beside the choice: notes, the reason of a rejection; "" when there are none.
    """

    kind: str
    question: str
    options: tuple[Option, ...]
    chosen: tuple[str, ...]
    words: str
    time: float = 0.0
    uuid: str = ""  # of the record with the answer
    line: int = -1  # as in ``Entry``


class Session(NamedTuple):
    """The content of some lines of a transcript."""

    host: str  # name of its card, or "unknown"
    entries: tuple[Entry, ...] = ()
    edits: tuple[Edit, ...] = ()
    choices: tuple[Choice, ...] = ()
    cwd: str = ""  # the newest working directory seen
    uuids: tuple[str, ...] = ()  # ids of the conversation records, in order
    last_time: float = 0.0  # newest time stamp seen
    bad_lines: int = 0  # lines that are no JSON object
