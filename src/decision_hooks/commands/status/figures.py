"""Gathers what ``status`` shows: drafts and parts that wait, runs, calls and costs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from decision_hooks.backends import ledger
from decision_hooks.capture import worker
from decision_hooks.commands.report import counted
from decision_hooks.commands.status.activity import Activity, activity
from decision_hooks.errors import SettingError
from decision_hooks.normalize import job
from decision_hooks.settings import (
    CaptureSettings,
    NormalizeSettings,
    capture_settings,
    normalize_settings,
)
from decision_hooks.state.capture import CaptureState
from decision_hooks.state.normalize import NormalState
from decision_hooks.state.runs import known_runs
from decision_hooks.system import adr_folder
from decision_hooks.system.holder import Holder
from decision_hooks.system.project import Project
from decision_hooks.system.runlog import iso_time
from decision_hooks.system.world import World

_LONG = 600.0  # seconds of a call, where the setting is bad


class WaitingDrafts(NamedTuple):
    """The drafts that wait for normalisation."""

    number: int
    threshold: int | None  # None: the setting is bad
    oldest: str | None  # name
    sessions: int  # that they come from


class WaitingPart(NamedTuple):
    """A part of a session that waits to be captured."""

    session: str
    host: str
    since: str  # ISO
    tries: int


class Normalized(NamedTuple):
    """The newest run of normalisation that changed something."""

    run: str
    state: str  # done | undone | ...
    what: str


class Spent(NamedTuple):
    """Calls of models within a time."""

    calls: int = 0
    characters_in: int = 0
    characters_out: int = 0
    cost: float = 0.0  # US dollars, of the calls with a known cost
    cost_unknown: int = 0  # calls without a known cost
    failed: int = 0


class Status(NamedTuple):
    """The state of a project, as ``status`` shows it."""

    project: str
    adr: str
    drafts: WaitingDrafts
    records: int
    capture: Activity
    normalize: Activity
    newest_run: Normalized | None
    last_attempt: str  # ISO, "" when there was none
    next_attempt: str  # ISO, "" when one may be made now
    capturing: Holder | None  # the worker that works now
    normalizing: Holder | None
    pending: tuple[WaitingPart, ...]  # those that waited longest, where there are hundreds
    waiting: int  # the number of all of them
    given_up: int
    breakers: tuple[ledger.Breaker, ...]
    today: Spent
    month: Spent
    daily_cap: int | None
    problems: tuple[str, ...]  # settings that cannot be used


def read_status(project: Project, world: World) -> Status:
    """Gather the state of a project; changes nothing, and reads no more of a log than its end."""
    now = world.now()
    settings, capture, problems = _settings(world)
    folder = adr_folder.Snapshot(project.adr)
    state = CaptureState(project)
    last, following = _attempts(project, settings, now)
    today, month = spent(ledger.calls(project, iso_time(now)[:7]), iso_time(now)[:10])
    return Status(
        project=project.root,
        adr=project.adr,
        drafts=WaitingDrafts(
            number=len(folder.drafts),
            threshold=settings.threshold if settings else None,
            oldest=folder.drafts[0] if folder.drafts else None,
            sessions=len(set(folder.sessions.values())),
        ),
        records=len(folder.records),
        capture=activity(os.path.join(project.hooks, "capture-decisions.log")),
        normalize=activity(os.path.join(project.hooks, "normalize-decisions.log")),
        newest_run=_newest_run(project),
        last_attempt=last,
        next_attempt=following,
        capturing=worker.working(project, now, capture.timeout if capture else _LONG),
        normalizing=job.working(project, now, settings.timeout if settings else _LONG),
        pending=tuple(
            WaitingPart(entry.session_id, entry.host, iso_time(entry.first), entry.tries)
            for entry in state.pending()
        ),
        waiting=state.number_waiting(),
        given_up=len(state.given_up()),
        breakers=tuple(ledger.breakers(project, now)),
        today=today,
        month=month,
        daily_cap=capture.daily_calls if capture else None,
        problems=problems,
    )


def spent(lines: Iterable[ledger.LedgerLine], day: str) -> tuple[Spent, Spent]:
    """What the calls of one day (ISO) and of the whole ledger come to."""
    today, month = Spent(), Spent()
    for line in lines:
        month = _add(month, line)
        if line.time.startswith(day):
            today = _add(today, line)
    return today, month


def _add(total: Spent, line: ledger.LedgerLine) -> Spent:
    return Spent(
        total.calls + 1,
        total.characters_in + line.characters_in,
        total.characters_out + line.characters_out,
        total.cost + (line.cost or 0.0),
        total.cost_unknown + (line.cost is None),
        total.failed + (line.result != "ok"),
    )


def _settings(world: World) -> tuple[NormalizeSettings | None, CaptureSettings | None, tuple[str, ...]]:
    problems = []
    settings, capture = None, None
    try:
        settings = normalize_settings(world.environ)
    except SettingError as error:
        problems.append(str(error))
    try:
        capture = capture_settings(world.environ)
    except SettingError as error:
        problems.append(str(error))
    return settings, capture, tuple(dict.fromkeys(problems))


def _attempts(project: Project, settings: NormalizeSettings | None, now: float) -> tuple[str, str]:
    """When normalisation was last tried, and when it may be tried again."""
    state = NormalState(project)
    last = state.last_attempt(now)
    interval = settings.min_interval if settings else 0.0
    backoff = state.backoff(now, interval)
    later = max(last + interval if last is not None else 0.0, backoff.until if backoff else 0.0)
    return iso_time(last) if last is not None else "", iso_time(later) if later > now else ""


def _newest_run(project: Project) -> Normalized | None:
    run = next(iter(known_runs(project)), None)
    if run is None:
        return None
    written = sum(step.before is None for step in run.steps)
    removed = sum(step.after is None for step in run.steps)
    changed = len(run.steps) - written - removed
    what = f"{counted(written, 'file')} written, {changed} changed, {removed} removed"
    return Normalized(run.id, run.state, what)
