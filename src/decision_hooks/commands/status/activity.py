"""What a program's log tells of its last runs: outcomes, skips by reason, faults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from decision_hooks.system import files

_BYTES = 256 * 1024  # of the log's end: a look costs the same however long the history is
_EVENT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[+-]\d\d:\d\d|Z)?) (.*)", re.DOTALL)
_DONE = (
    "wrote",
    "done",
    "undone",
    "fault",
)  # first words of lines that tell of something done, or gone wrong
_ABSENT = (
    "pi not found",
    "claude CLI not found",
    "cursor-agent CLI not found",
    "no local policy model configured",
)
# Log texts of runs that did nothing, by the reason that is shown for them.
_SKIPS = (
    (r"skipping ADR capture: (cross-project|tooling-only) session", "{0}"),
    (r"\**NONE", "no decision in it"),
    (r"nothing new in the session", "nothing new"),
    (r"nothing new: every decision", "written before"),
    (r"no transcript path", "no transcript"),
    (r"choices: no ", "no choice in it"),
    (r"stop was not completed", "stop not completed"),
    (r"no backend available|no LLM backend available", "no backend"),
    (r"no local policy model configured", "no model"),
    (r"(?:pi|claude CLI|cursor-agent CLI) not found", "no backend"),
    (r"unknown (?:CAPTURE_DECISIONS|ADR_NORMALIZE)_BACKEND=", "unknown backend"),
    (r"\S+ paused until ", "backend paused"),
    (r"daily cap of ", "daily cap"),
    (r"empty response from ", "empty reply"),
    (r"refused reply", "refused reply"),
    (r"\S+: (credit|login|rate|start|timeout|failed): ", "backend: {0}"),
    (r"bad value of |ADR_LANGUAGE=", "bad setting"),
    (r"cannot (?:write|create|remove|make the folder|open the lock) ", "cannot write"),
    (r"the folder of records .* leads out", "folder outside"),
    (r"unknown flag ", "unknown flag"),
    (r"last attempt at ", "interval"),
    (r"backing off until ", "backing off"),
    (r"\d+ drafts, threshold ", "threshold"),
    (r"no drafts$", "no drafts"),
    (r"git \S.* in progress", "git busy"),
    (r"another normalize run holds the lock", "lock held"),
    (r"the lock was lost", "lock lost"),
)


class Event(NamedTuple):
    """One line of a log."""

    time: str  # ISO
    text: str


class Activity(NamedTuple):
    """What the newest part of a log tells."""

    since: str  # time of the oldest line that was read, "" for an empty log
    last: Event | None  # how the newest run ended
    written: int  # drafts
    skips: tuple[tuple[str, int], ...]  # reason and number, most frequent first
    fault: Event | None  # the newest


def activity(log_path: str) -> Activity:
    """Read the end of a log; an absent one tells nothing."""
    return read_activity(files.last_lines(log_path, _BYTES))


def read_activity(lines: Iterable[str]) -> Activity:
    """What lines of a log tell; the lines of a traceback and others that are no event are passed over."""
    events = [Event(*found.groups()) for found in map(_EVENT.fullmatch, lines) if found]
    outcomes = [(event, _outcome(event.text, _next(events, at))) for at, event in enumerate(events)]
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


def _next(events: Sequence[Event], at: int) -> str:
    return events[at + 1].text if at + 1 < len(events) else ""


def _outcome(text: str, following: str) -> str:
    """What a line says of its run: a word of ``_DONE``, the reason of a skip, or "" for a step on the way."""
    word = text.partition(": ")[0]
    if word in _DONE:
        return word
    if text.startswith(_ABSENT) and following.startswith(("using ", "no backend", *_ABSENT)):
        return ""  # passed over on the way to another backend
    for pattern, reason in _SKIPS:
        found = re.match(pattern, text)
        if found:
            return reason.format(*found.groups())
    return ""


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
