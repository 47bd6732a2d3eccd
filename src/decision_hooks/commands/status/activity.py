"""Reads the end of a program's log: outcomes, skips by reason, faults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from decision_hooks.system import files

_BYTES = 256 * 1024  # of the log's end: a look costs the same however long the history is
_EVENT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[+-]\d\d:\d\d|Z)?) (.*)", re.DOTALL)
# As ``RunLog.skip`` writes it: plain words; categories of a mask, and most text in a quoted reply, are not.
_SKIP = re.compile(r".* \[([a-z][a-z: -]*)\]", re.DOTALL)
_NONE = "NONE"  # the whole line of a reply without a decision
_DONE = ("wrote", "done", "undone", "fault")  # first words of lines about something done, or gone wrong
_STEPS = ("refused", "dry run")  # first words of lines about one operation; its text may end in brackets


class Event(NamedTuple):
    """One line of a log."""

    time: str  # ISO
    text: str


class Activity(NamedTuple):
    """The outcomes in the newest part of a log."""

    since: str  # time of the oldest line that was read, "" for an empty log
    last: Event | None  # how the newest run ended
    written: int  # drafts
    skips: tuple[tuple[str, int], ...]  # reason and number, most frequent first
    fault: Event | None  # the newest


def activity(log_path: str) -> Activity:
    """Read the end of a log; an absent log has no events."""
    return read_activity(files.last_lines(log_path, _BYTES))


def read_activity(lines: Iterable[str]) -> Activity:
    """The outcomes in lines of a log; lines without a time, as those of a traceback, are ignored."""
    events = [Event(*found.groups()) for found in map(_EVENT.fullmatch, lines) if found]
    outcomes = [(event, _outcome(event.text)) for event in events]
    known = [(event, outcome) for event, outcome in outcomes if outcome]
    counts: dict[str, int] = {}
    for _, outcome in known:
        if outcome not in _DONE:
            counts[outcome] = counts.get(outcome, 0) + 1
    return Activity(
        since=events[0].time if events else "",
        last=_last(known),
        written=sum(outcome == "wrote" for _, outcome in known),
        skips=tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))),
        fault=next((event for event, outcome in reversed(known) if outcome == "fault"), None),
    )


def _outcome(text: str) -> str:
    """How a run ended: a word of ``_DONE``, the reason of a skip, or "" for any other line."""
    if text == _NONE:
        return "no decision in it"
    word = text.partition(": ")[0]
    if word in _DONE:
        return word
    skip = _SKIP.fullmatch(text)
    return skip[1] if skip and word not in _STEPS else ""


def _last(known: Sequence[tuple[Event, str]]) -> Event | None:
    if not known:
        return None
    event, outcome = known[-1]
    if outcome == "wrote":
        count = 0
        for _, each in reversed(known):
            if each != "wrote":
                break
            count += 1
        return Event(event.time, f"wrote {count} draft{'s' if count > 1 else ''}")
    return Event(event.time, event.text if outcome in _DONE else f"nothing: {outcome}")
