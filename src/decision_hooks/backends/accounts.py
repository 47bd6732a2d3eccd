"""What calls of models cost and whether they may be made: the ledger, the daily cap, the circuit breaker."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import NamedTuple

from decision_hooks.errors import FolderError
from decision_hooks.system import files
from decision_hooks.system.project import Project
from decision_hooks.system.runlog import iso_time

_FIRST, _LONGEST = 15 * 60.0, 6 * 3600.0  # seconds that the breaker stays open


class Breaker(NamedTuple):
    """Why calls of a backend and model are stopped, and until when."""

    name: str  # backend and model
    until: float  # seconds since the epoch
    step: float  # seconds of the last opening
    why: str


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


def breaker(project: Project, backend: str, model: str, now: float) -> Breaker | None:
    """The open breaker of a backend and model; None when calls may be made."""
    found = _stored(_breaker_file(project, backend, model))
    if found is None or not now < found.until <= now + _LONGEST:
        return None
    return found


def breakers(project: Project, now: float) -> list[Breaker]:
    """All breakers that are open."""
    folder = project.state_file("breaker")
    found = (_stored(os.path.join(folder, name)) for name in sorted(files.names(folder)))
    return [one for one in found if one and now < one.until <= now + _LONGEST]


def trip(project: Project, backend: str, model: str, now: float, why: str) -> Breaker:
    """Open the breaker: 15 minutes the first time, doubled each further time, at most 6 hours."""
    path = _breaker_file(project, backend, model)
    old = _stored(path)
    step = min(old.step * 2, _LONGEST) if old and old.step > 0 else _FIRST
    opened = Breaker(f"{backend} {model}", now + step, step, why)
    files.make_folder(os.path.dirname(path), 0o700)
    files.write_atomic(path, files.json_bytes(opened._asdict()))
    return opened


def reset(project: Project, backend: str, model: str) -> None:
    """A call succeeded: the breaker is closed and its step begins anew."""
    files.remove(_breaker_file(project, backend, model))


def _breaker_file(project: Project, backend: str, model: str) -> str:
    from hashlib import blake2b

    key = blake2b(files.to_bytes(f"{backend}\n{model}"), digest_size=8).hexdigest()
    return project.state_file("breaker", f"{key}.json")


def _stored(path: str) -> Breaker | None:
    value = files.read_json(path)
    if not value:
        return None
    until, step = value.get("until"), value.get("step")
    if not isinstance(until, (int, float)) or not isinstance(step, (int, float)):
        return None
    return Breaker(
        str(value.get("name", "")), float(until), min(float(step), _LONGEST), str(value.get("why", ""))
    )


def record_call(project: Project, now: float, line: LedgerLine) -> None:
    """Add a call to the ledger of its month; a ledger that cannot be written stops nothing."""
    path = project.state_file("ledger", time.strftime("%Y-%m", time.localtime(now)) + ".jsonl")
    try:
        files.make_folder(os.path.dirname(path), 0o700)
        files.append(path, files.json_bytes(line._asdict()))
    except FolderError:
        pass


def calls_today(project: Project, now: float, most: int) -> int:
    """The number of calls in today's part of the ledger; reads no more than ``most`` of them need."""
    month = time.strftime("%Y-%m", time.localtime(now))
    path = project.state_file("ledger", month + ".jsonl")
    day = iso_time(now)[:10]
    try:
        size = os.stat(path).st_size
        with open(path, "rb") as stream:
            stream.seek(max(0, size - (most + 1) * 512))
            data = stream.read()
    except OSError:
        return 0
    return data.count(f'"time":"{day}'.encode())


def ledger(project: Project, month: str) -> Iterator[LedgerLine]:
    """The calls of a month (``YYYY-MM``); lines that are no call are passed over."""
    import json

    for raw in (files.read_bytes(project.state_file("ledger", month + ".jsonl")) or b"").split(b"\n"):
        try:
            value = json.loads(raw)
            yield LedgerLine(
                str(value["time"]),
                str(value["program"]),
                str(value["backend"]),
                str(value["model"]),
                int(value["characters_in"]),
                int(value["characters_out"]),
                float(value["seconds"]),
                None if value["cost"] is None else float(value["cost"]),
                str(value["result"]),
            )
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            continue
