"""What normalisation remembers between runs: the last attempt, back-off, drafts left lying, stored plans."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from decision_hooks.errors import FolderError
from decision_hooks.system import files
from decision_hooks.system.project import Project

_STATE = ".normalize-state"
_FIRST = 15 * 60.0  # seconds of the first back-off
_KEPT = 20  # stored plans


class Backoff(NamedTuple):
    """Attempts that spent nothing: when the next may be made, and why."""

    until: float
    step: float
    why: str


class StoredPlan(NamedTuple):
    """A dry run's reply with the state of the folder that it was judged against."""

    id: str
    reply: str
    batch: tuple[tuple[str, str], ...]  # draft, hash
    targets: tuple[tuple[str, str], ...]  # record that the plan changes, hash
    names: tuple[str, ...]  # of the records that the plan creates
    tooling: tuple[str, ...]  # drafts to be removed without a model


class NormalState:
    """The files of one project; every write is whole or not done."""

    def __init__(self, place: Project) -> None:
        self._place = place
        self._memory = place.state_file("normalize.json")

    def last_attempt(self, now: float) -> float | None:
        """The time of the last attempt; None when there was none, or what is stored cannot be one."""
        text = files.read_text(os.path.join(self._place.hooks, _STATE), 64)
        try:
            stamp = float(int((text or "").strip()))
        except ValueError:
            return None
        return stamp if 0 < stamp <= now + 1 else None

    def stamp_attempt(self, now: float) -> None:
        """Note an attempt: epoch seconds and nothing else, as the seed has it."""
        path = os.path.join(self._place.hooks, _STATE)
        files.write_atomic(path, f"{int(now)}\n".encode(), label="state-")

    def clear_attempt(self, before: float | None) -> None:
        """Take the stamp of an attempt back: it spent nothing."""
        if before is None:
            files.remove(os.path.join(self._place.hooks, _STATE))
        else:
            self.stamp_attempt(before)

    def backoff(self, now: float, most: float) -> Backoff | None:
        """The back-off that stands; None when an attempt may be made."""
        stored = self._read().get("backoff")
        if not isinstance(stored, dict):
            return None
        until, step = stored.get("until"), stored.get("step")
        if not isinstance(until, (int, float)) or not isinstance(step, (int, float)):
            return None
        if not now < until <= now + max(most, _FIRST):
            return None
        return Backoff(float(until), float(step), str(stored.get("why", "")))

    def back_off(self, now: float, most: float, why: str) -> Backoff:
        """An attempt spent nothing: 15 minutes, doubled each further time, at most the interval."""
        value = self._read()
        stored = value.get("backoff")
        step = stored.get("step") if isinstance(stored, dict) else None
        step = float(step) * 2 if isinstance(step, (int, float)) and step > 0 else _FIRST
        opened = Backoff(now + min(step, max(most, 1.0)), min(step, max(most, 1.0)), why)
        self._write(value | {"backoff": opened._asdict()})
        return opened

    def misses(self) -> dict[str, int]:
        """How many runs in a row left each draft without an accepted operation."""
        stored = self._read().get("misses")
        pairs = stored.items() if isinstance(stored, dict) else ()
        return {name: count for name, count in pairs if isinstance(count, int)}

    def halved(self) -> bool:
        """Whether the last reply was invalid or cut, so that the next attempt takes half the batch."""
        return self._read().get("halved") is True

    def note_outcome(self, *, left: Iterable[str], waiting: Iterable[str]) -> None:
        """A valid reply was judged: which drafts it left, out of those that still wait."""
        old, left_now = self.misses(), set(left)
        misses = {name: old.get(name, 0) + (name in left_now) for name in waiting}
        self._write({"misses": {name: count for name, count in misses.items() if count}, "halved": False})

    def note_invalid(self) -> None:
        """A reply was invalid, cut, or did not come."""
        value = self._read()
        value.pop("backoff", None)
        self._write(value | {"halved": True})

    def store_plan(self, plan: StoredPlan) -> None:
        """Keep a dry run's reply, so that exactly it can be applied."""
        files.make_folder(self._place.state_file("plans"), 0o700)
        files.write_atomic(
            self._place.state_file("plans", f"{plan.id}.json"), files.json_bytes(plan._asdict())
        )
        for name in sorted(files.names(self._place.state_file("plans")), reverse=True)[_KEPT:]:
            files.remove(self._place.state_file("plans", name))

    def stored_plan(self, plan_id: str) -> StoredPlan:
        """The plan of that id; ``FolderError`` when there is none."""
        plain = plan_id and all(c.isalnum() or c in "-_" for c in plan_id)
        value = files.read_json(self._place.state_file("plans", f"{plan_id}.json")) if plain else None
        if value is None:
            raise FolderError(f"no plan {plan_id!r}")
        return StoredPlan(
            plan_id,
            str(value.get("reply", "")),
            _pairs(value.get("batch")),
            _pairs(value.get("targets")),
            _texts(value.get("names")),
            _texts(value.get("tooling")),
        )

    def _read(self) -> dict[str, object]:
        return files.read_json(self._memory) or {}

    def _write(self, value: dict[str, object]) -> None:
        files.write_atomic(self._memory, files.json_bytes(value))


def _pairs(value: object) -> tuple[tuple[str, str], ...]:
    rows = value if isinstance(value, list) else []
    return tuple((str(row[0]), str(row[1])) for row in rows if isinstance(row, list) and len(row) == 2)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()
