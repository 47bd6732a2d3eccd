"""Parts of sessions read by the function alone, with a clock that goes on only while somebody sleeps."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from decision_hooks.capture.part import Part, read_part
from decision_hooks.state.capture import CaptureState
from decision_hooks.state.values import Pending, key_of
from decision_hooks.system.project import project_at
from decision_hooks.system.state_folder import open_state
from decision_hooks.system.world import World


class Clock:
    """A clock for a ``World``: ``slept`` counts its seconds, ``during`` runs after each sleep."""

    def __init__(self, during: Callable[[], None] = lambda: None) -> None:
        self.begin = time.time()
        self.slept = 0.0
        self.during = during

    def now(self) -> float:
        """The seconds since the epoch."""
        return self.begin + self.slept

    def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        self.slept += seconds
        self.during()


def state_of(root: Path) -> CaptureState:
    """The state of capture in a project's folder."""
    project = project_at(str(root), "docs/adr")
    open_state(project, os.environ)
    return CaptureState(project)


def read(
    state: CaptureState,
    path: Path,
    *,
    message: str = "",
    clock: Clock | None = None,
    age: float = 0.0,
    incremental: bool = True,
) -> Part:
    """Read what is new of a transcript at a stop ``age`` seconds ago; its position is not saved."""
    clock = clock or Clock()
    world = World(
        program="capture-decisions",
        script="",
        environ={},
        cwd="/",
        now=clock.now,
        sleep=clock.sleep,
        out=lambda line: None,
        err=lambda line: None,
        watched=False,
    )
    entry = Pending(
        key=key_of(str(path)),
        transcript=str(path),
        session_id="s",
        host="claude",
        message=message,
        root="",
        waits=False,
        first=clock.now() - age,
        stop=clock.now() - age,
    )
    part = read_part(state, entry, incremental=incremental, world=world)
    assert part is not None
    return part


def save(state: CaptureState, part: Part) -> None:
    """Count a part as captured."""
    state.save_position(key_of(part.path), part.position)


def texts(part: Part) -> list[str]:
    """What was said in a part."""
    return [entry.text for entry in part.session.entries]
