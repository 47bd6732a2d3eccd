"""The queue of stops: each is stored durably before anything is done for it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from decision_hooks.errors import StateRefused
from decision_hooks.hosts.event import HookEvent
from decision_hooks.languages import table
from decision_hooks.settings import CaptureSettings
from decision_hooks.state.capture import CaptureState
from decision_hooks.state.values import Pending, key_of
from decision_hooks.system.project import main_root, tree_name
from decision_hooks.system.seal import seal
from decision_hooks.system.state_folder import open_state
from decision_hooks.system.workplace import Workplace
from decision_hooks.transcripts import blocks, find


class CaptureRun(NamedTuple):
    """The workplace and the settings of a capture."""

    at: Workplace
    settings: CaptureSettings

    @property
    def state(self) -> CaptureState:
        """The state of the project, its other work trees included."""
        return CaptureState(self.at.project)


def enter(run: CaptureRun, event: HookEvent) -> Pending | None:
    """Take a stop into the queue, durably; None (and a log line) when there is nothing to capture now."""
    table.language(run.settings.language)  # a bad name ends the run before anything changes
    world, project, log = run.at
    path = find_transcript(event, world.environ)
    if not path and not event.message:
        log.skip("no transcript", "no transcript path")
        return None
    try:
        open_state(project, world.environ)
    except StateRefused as refused:
        from decision_hooks.capture import earlier

        earlier.take_over(run.at, refused)
    now = world.now()
    entry = Pending(
        key=key_of(path or f"message:{event.host}:{event.session_id}"),
        transcript=path,
        session_id=event.session_id,
        host=event.host,
        message=event.message,
        root=project.root,
        waits=not event.completed,
        first=now,
        stop=now,
        serial=os.urandom(8).hex(),
        main=main_root(project),
        tree=tree_name(project),
    )
    entry = run.state.put(entry._replace(seal=seal_of(entry, world.environ)))
    if not event.completed:
        log.skip("stop not completed", "stop was not completed: the part waits")
        return None
    return entry


def seal_of(entry: Pending, environ: Mapping[str, str]) -> str:
    """The seal of a part whose transcript a stop of this machine has named."""
    return seal(environ, "pending", entry.key, entry.transcript)


def may_be_read(entry: Pending, environ: Mapping[str, str]) -> bool:
    """Whether the transcript of a stored part was named on this machine, or lies where hosts keep theirs."""
    if not entry.transcript:
        return True
    if not os.path.isabs(entry.transcript):
        return False
    return entry.seal == seal_of(entry, environ) or find.is_kept(entry.transcript, environ)


def find_transcript(event: HookEvent, environ: Mapping[str, str]) -> str:
    """The real path of the session's transcript, "" when there is none that can be read."""
    home = environ.get("HOME", "")
    where = None
    for given in event.transcripts:
        path = home + given[1:] if given.startswith("~/") and home else given
        where = where or (blocks.extent(path) if path else None)
    if where is None and re.fullmatch(r"[\w.-]{3,100}", event.session_id) and event.session_id != "unknown":
        found = (blocks.extent(path) for path in find.host_transcripts(event.host, event.session_id, environ))
        where = next(filter(None, found), None)
    return where.path if where else ""
