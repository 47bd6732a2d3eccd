"""Stops on their way to a capture: each is taken into the queue durably, before anything is done for it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from decision_hooks.hosts.event import HookEvent
from decision_hooks.records import madr
from decision_hooks.settings import CaptureSettings
from decision_hooks.state.capture import CaptureState
from decision_hooks.state.values import Pending, key_of
from decision_hooks.system.project import Project, open_state
from decision_hooks.system.runlog import RunLog
from decision_hooks.system.world import World
from decision_hooks.transcripts import blocks, find


class Stop(NamedTuple):
    """One stop of a session, taken into the queue."""

    world: World
    settings: CaptureSettings
    place: Project
    log: RunLog
    key: str
    time: float  # seconds since the epoch


def enter(
    world: World, settings: CaptureSettings, place: Project, log: RunLog, event: HookEvent
) -> Stop | None:
    """Take a stop into the queue, durably; None (and a log line) when it has nothing to capture."""
    madr.language(settings.language)  # a name that is none ends the run before anything changes
    path = find_transcript(event, world.environ)
    if not path and not event.message:
        log.write("no transcript path")
        return None
    open_state(place)
    key = key_of(path or f"message:{event.host}:{event.session_id}")
    now = world.now()
    entry = Pending(
        key=key,
        transcript=path,
        session_id=event.session_id,
        host=event.host,
        message=event.message,
        root=place.root,
        waits=not event.completed,
        first=now,
        stop=now,
        serial=os.urandom(8).hex(),
    )
    CaptureState(place).put(entry)
    if not event.completed:
        log.write("stop was not completed: the part waits")
        return None
    return Stop(world, settings, place, log, key, now)


def find_transcript(event: HookEvent, environ: Mapping[str, str]) -> str:
    """The real path of the session's transcript, "" when there is none that can be read."""
    home = environ.get("HOME", "")
    where = None
    for given in (event.transcript, environ.get("CURSOR_TRANSCRIPT_PATH", "")):
        path = home + given[1:] if given.startswith("~/") and home else given
        where = where or (blocks.extent(path) if path else None)
    if where is None and re.fullmatch(r"[\w.-]{3,100}", event.session_id) and event.session_id != "unknown":
        found = (blocks.extent(path) for path in find.host_transcripts(event.host, event.session_id, environ))
        where = next((one for one in found if one), None)
    return where.path if where else ""
