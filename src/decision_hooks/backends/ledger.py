"""Whether a backend may be called, and what its calls cost: the daily cap, the circuit breaker, the ledger."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import NamedTuple

from decision_hooks.backends.answers import Answer
from decision_hooks.backends.base import Backend
from decision_hooks.backends.troubles import BREAKING
from decision_hooks.errors import FolderError
from decision_hooks.privacy import mask
from decision_hooks.system import backoff, files, stored
from decision_hooks.system.project import Project
from decision_hooks.system.runlog import iso_time
from decision_hooks.system.workplace import Workplace
from decision_hooks.text.fingerprint import fingerprint

_LONGEST = 6 * 3600.0  # seconds that a breaker stays open
_MASKED, _QUOTED = 4000, 200  # characters of a backend's text that are masked, and that are quoted
_LINE = 512  # bytes: a line of the ledger is shorter
_LOOKED = 1024 * 1024  # bytes of the ledger's end: lines of a clock that was wrong do not hide those before


class Breaker(NamedTuple):
    """Why calls of a backend and model are stopped, and until when."""

    until: float  # seconds since the epoch
    step: float  # seconds of the last opening
    name: str = ""  # backend and model
    why: str = ""


class LedgerLine(NamedTuple):
    """One call of a model."""

    time: str  # ISO
    program: str
    backend: str
    model: str
    characters_in: int
    characters_out: int
    seconds: float
    cost: float | None  # US dollars
    result: str  # ok | credit | login | rate | timeout | failed | ...


def may_not_call(
    at: Workplace, backend: Backend, daily_calls: int, *, probe: bool = False
) -> tuple[str, str] | None:
    """Why a backend may not be called now, and the line for the log; None when it may.

    A person who watches probes an open breaker.
    """
    now = at.world.now()
    stopped = breaker(at.project, backend.name, backend.model, now)
    if stopped and not (probe or at.world.watched):
        return "backend paused", f"{backend.name} paused until {iso_time(stopped.until)}: {stopped.why}"
    if calls_today(at.project, now, daily_calls) >= daily_calls:
        return "daily cap", f"daily cap of {daily_calls} calls reached (ADR_DAILY_CALLS)"
    return None


def account(at: Workplace, backend: Backend, sent: int, answer: Answer) -> None:
    """Write a call into the ledger and move its circuit breaker; ``sent`` is the prompt's length in characters."""
    now = at.world.now()
    line = LedgerLine(
        time=iso_time(now),
        program=at.world.program,
        backend=backend.name,
        model=backend.model,
        characters_in=sent,
        characters_out=len(answer.text),
        seconds=round(answer.seconds, 2),
        cost=answer.cost,
        result=answer.trouble or ("ok" if answer.text.strip() else "empty"),
    )
    record_call(at.project, now, line)
    if answer.note:
        at.log.write(answer.note)
    if answer.trouble in BREAKING:
        trip(at.project, backend.name, backend.model, now, quoted(answer.detail))
    elif not answer.trouble:
        reset(at.project, backend.name, backend.model)


def quoted(text: str) -> str:
    """A backend's text for the log: masked, at most 200 characters."""
    return mask.mask(text[:_MASKED]).text.strip()[:_QUOTED]


# -- the circuit breaker


def breaker(project: Project, backend: str, model: str, now: float) -> Breaker | None:
    """The open breaker of a backend and model; None when calls may be made."""
    opened = _stored(_breaker_file(project, backend, model))
    return opened if opened and _is_open(opened, now) else None


def breakers(project: Project, now: float) -> list[Breaker]:
    """All breakers that are open."""
    folder = project.state_file("breaker")
    found = (_stored(os.path.join(folder, name)) for name in sorted(files.names(folder)))
    return [opened for opened in found if opened and _is_open(opened, now)]


def _is_open(opened: Breaker, now: float) -> bool:
    return backoff.is_open(opened.until, opened.step, now)


def trip(project: Project, backend: str, model: str, now: float, why: str) -> Breaker:
    """Open the breaker: 15 minutes the first time, doubled each further time, at most 6 hours."""
    path = _breaker_file(project, backend, model)
    old = _stored(path)
    step = backoff.next_wait(old.step if old else 0.0, _LONGEST)
    opened = Breaker(now + step, step, f"{backend} {model}", why)
    files.make_folder(os.path.dirname(path), 0o700)
    files.write_atomic(path, files.json_bytes(opened._asdict()))
    return opened


def reset(project: Project, backend: str, model: str) -> None:
    """Close the breaker after a call that succeeded: the next opening is 15 minutes again."""
    files.remove(_breaker_file(project, backend, model))


def _breaker_file(project: Project, backend: str, model: str) -> str:
    key = fingerprint(files.to_bytes(f"{backend}\n{model}"), 8)
    return project.state_file("breaker", f"{key}.json")


def _stored(path: str) -> Breaker | None:
    found = stored.read(Breaker, files.read_json(path))
    return found and found._replace(step=min(found.step, _LONGEST))


# -- the ledger


def record_call(project: Project, now: float, line: LedgerLine) -> None:
    """Add a call to the ledger of its month; a ledger that cannot be written stops nothing."""
    path = _month_file(project, now)
    try:
        files.make_folder(os.path.dirname(path), 0o700)
        files.append(path, files.json_bytes(line._asdict()))
    except FolderError:
        pass


def calls_today(project: Project, now: float, most: int) -> int:
    """The number of today's calls; counts no further than it takes to see ``most``, or some days of them."""
    day = iso_time(now)[:10]
    data = files.read_end(_month_file(project, now), max((most + 1) * _LINE, _LOOKED))
    return data.count(f'"time":"{day}'.encode())


def _month_file(project: Project, now: float) -> str:
    return project.state_file("ledger", time.strftime("%Y-%m", time.localtime(now)) + ".jsonl")


def calls(project: Project, month: str) -> Iterator[LedgerLine]:
    """The calls of a month (``YYYY-MM``); damaged lines are skipped."""
    import json

    for raw in (files.read_bytes(project.state_file("ledger", month + ".jsonl")) or b"").split(b"\n"):
        try:
            line = stored.read(LedgerLine, json.loads(raw))
        except (ValueError, RecursionError):
            continue
        if line:
            yield line
