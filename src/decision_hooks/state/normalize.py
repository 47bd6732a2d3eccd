"""What normalisation remembers between runs: the last attempt, back-off, drafts left alone, stored plans."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Annotated, NamedTuple

from decision_hooks.errors import FolderError
from decision_hooks.system import backoff, files, stored
from decision_hooks.system.project import Project, tree_mark, tree_marks

_STATE = ".normalize-state"
_KEPT = 20  # stored plans
_MOST_AHEAD = 366 * 86400.0  # seconds; a time further ahead is damage
_MOST_HALVINGS = 20  # a batch is down to one draft long before


class Backoff(NamedTuple):
    """Attempts that spent nothing: when the next may be made, and why."""

    until: float
    step: float
    why: str = ""


class _Memory(NamedTuple):
    backoff: Backoff | None = None
    misses: dict[str, Annotated[int, range(1, 2**63)]] | None = None
    halvings: Annotated[int, range(2**63)] = 0


class StoredPlan(NamedTuple):
    """A dry run's reply with what it was judged by: the language, the day, the files and their hashes."""

    reply: str = ""
    language: str = ""
    today: str = ""  # YYYY-MM-DD
    batch: tuple[tuple[str, str], ...] = ()  # draft, hash
    targets: tuple[tuple[str, str], ...] = ()  # record that the plan changes, hash
    names: tuple[str, ...] = ()  # of the records that the plan creates
    tooling: tuple[tuple[str, str], ...] = ()  # draft to be removed without a model, hash
    id: str = ""  # given when it is stored


class NormalState:
    """State of one work tree; only the run that has the lock writes, atomically."""

    def __init__(self, project: Project) -> None:
        self._project = project
        before = tree_marks(project)[1]  # as earlier versions named it
        self._memory = project.state_file(f"normalize{_dashed(project)}.json")
        self._memory_before = project.state_file(f"normalize-{before}.json" if before else "normalize.json")
        self._plans = project.state_file("plans")

    @property
    def index(self) -> str:
        """The path of the stored index of records."""
        return self._project.state_file(f"records{_dashed(self._project)}.index")

    def remove_leftovers(self) -> None:
        """Remove temporary files that a killed run left; under the lock of the work tree."""
        files.remove_leftovers(self._project.hooks, "state-")
        for folder in (self._project.state, self._plans):
            files.remove_leftovers(folder, self._label)

    def last_attempt(self, now: float) -> float | None:
        """The time of the last attempt; None when there was none, or what is stored cannot be one."""
        text = files.read_text(os.path.join(self._project.hooks, _STATE), 64)
        try:
            stamp = float(int((text or "").strip()))
        except ValueError:
            return None
        return stamp if 0 < stamp <= now + 1 else None

    def mend_clock(self, now: float) -> None:
        """Move an attempt to now that a clock which was ahead has stamped: the interval begins anew, once."""
        if self.last_attempt(now) is None and self.last_attempt(now + _MOST_AHEAD) is not None:
            self.stamp_attempt(now)

    def stamp_attempt(self, now: float) -> None:
        """Store the time of an attempt: epoch seconds and nothing else."""
        path = os.path.join(self._project.hooks, _STATE)
        files.write_atomic(path, f"{int(now)}\n".encode(), label="state-")

    def clear_attempt(self, before: float | None) -> None:
        """Restore the time of the attempt before one that spent nothing."""
        if before is None:
            files.remove(os.path.join(self._project.hooks, _STATE))
        else:
            self.stamp_attempt(before)

    def backoff(self, now: float, most: float) -> Backoff | None:
        """The current back-off; None when an attempt may be made."""
        current = self._remembered().backoff
        step = min(current.step, max(most, backoff.FIRST)) if current else 0.0
        return current if current and backoff.is_open(current.until, step, now) else None

    def back_off(self, now: float, most: float, why: str) -> Backoff:
        """An attempt spent nothing: 15 minutes, doubled each further time, at most the interval."""
        old = self._remembered().backoff
        wait = backoff.next_wait(old.step if old else 0.0, max(most, 1.0))
        opened = Backoff(now + wait, wait, why)
        self._write(self._read() | {"backoff": opened._asdict()})
        return opened

    def misses(self) -> dict[str, int]:
        """For each draft, how many runs in a row left it without an accepted operation."""
        return self._remembered().misses or {}

    def halvings(self) -> int:
        """How many replies in a row were invalid, cut or did not come: each halves the next attempt's batch."""
        return min(self._remembered().halvings, _MOST_HALVINGS)

    def note_judged(self, *, left: Iterable[str], waiting: Iterable[str]) -> None:
        """Count a valid reply: the drafts that it left, among those that still wait."""
        misses = self.misses()
        for name in left:
            misses[name] = misses.get(name, 0) + 1
        still = set(waiting)
        self._write({"misses": {name: count for name, count in misses.items() if name in still}})

    def note_invalid(self, left: Iterable[str]) -> None:
        """Count a reply that was invalid, cut, or missing; ``left`` are the drafts that may be the reason."""
        misses = self.misses()
        for name in left:
            misses[name] = misses.get(name, 0) + 1
        self._write({"misses": misses, "halvings": self.halvings() + 1})

    def keep_index(self, data: bytes) -> None:
        """Store the index of records."""
        files.write_atomic(self.index, data, label=self._label)

    def store_plan(self, plan: StoredPlan, now: float) -> StoredPlan:
        """Store a dry run's reply, to be applied later; returns the plan with its id."""
        from decision_hooks.state.runs import id_order, is_id, new_id

        files.make_folder(self._plans, 0o700)
        names = (name.removesuffix(".json") for name in files.names(self._plans) if name.endswith(".json"))
        ids = list(filter(is_id, names))
        plan = plan._replace(id=new_id(now, ids))
        # ASCII: names that are no UTF-8 must come back as they are
        files.write_atomic(
            self._plan_file(plan.id), json.dumps(plan._asdict()).encode("ascii"), label=self._label
        )
        for plan_id in sorted([*ids, plan.id], key=id_order)[:-_KEPT]:
            try:
                files.remove(self._plan_file(plan_id))
            except FolderError:  # the new plan is stored all the same
                continue
        return plan

    def stored_plan(self, plan_id: str) -> StoredPlan:
        """The plan of that id; ``FolderError`` when there is none."""
        plain = plan_id and len(plan_id) <= 100 and all(c.isalnum() or c in "-_" for c in plan_id)
        plan = stored.read(StoredPlan, files.read_json(self._plan_file(plan_id))) if plain else None
        if plan is None:
            raise FolderError(f"no plan {plan_id!r}: `normalize-decisions plan` makes one")
        return plan._replace(id=plan_id)

    @property
    def _label(self) -> str:
        mark = tree_mark(self._project)  # each work tree has a lock, and removes only its leftovers
        return f"normalize.{mark}-" if mark else "normalize-"

    def _plan_file(self, plan_id: str) -> str:
        return os.path.join(self._plans, f"{plan_id}.json")

    def _read(self) -> dict[str, object]:
        return files.read_json(self._memory) or files.read_json(self._memory_before) or {}

    def _remembered(self) -> _Memory:
        value = self._read()
        return (stored.read(_Memory, value) if value else None) or _Memory()

    def _write(self, value: dict[str, object]) -> None:
        files.write_atomic(self._memory, json.dumps(value).encode("ascii"), label=self._label)


def _dashed(project: Project) -> str:
    mark = tree_mark(project)
    return f"-{mark}" if mark else ""
