"""A state folder of an earlier version, which sealed none: known by what only this machine can have written.

A position holds a hash of the transcript that it belongs to. A repository cannot know the transcripts of the
user, so that one right hash shows where the folder was written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from decision_hooks.errors import StateRefused
from decision_hooks.state import runs
from decision_hooks.state.values import Position
from decision_hooks.system import files, stored
from decision_hooks.system.project import Project
from decision_hooks.system.state_folder import check_state, open_state
from decision_hooks.system.workplace import Workplace
from decision_hooks.transcripts import blocks, find

_LISTED, _READ = 2000, 50  # positions: so many are looked at, the newest are read


def take_over(at: Workplace, refused: StateRefused) -> None:
    """Open the folder that was refused if an earlier version wrote it on this machine; else refuse it again."""
    check_state(at.project, at.world.environ, adopt=True)
    if not _was_written_here(at.project, at.world.environ):
        raise refused
    open_state(at.project, at.world.environ, adopt=True)
    runs.take_over(at.project, at.world.environ)  # ``undo`` needs them
    at.log.write("took over the state of an earlier version")


def _was_written_here(project: Project, environ: Mapping[str, str]) -> bool:
    folder = project.state_file("positions")
    paths = [os.path.join(folder, name) for name in files.names(folder)[:_LISTED] if name.endswith(".json")]
    newest = sorted(paths, key=lambda path: files.modified(path) or 0.0, reverse=True)[:_READ]
    found = (stored.read(Position, files.read_json(path)) for path in newest)
    return any(_is_right(position, environ) for position in found if position)


def _is_right(position: Position, environ: Mapping[str, str]) -> bool:
    """Whether the position fits a transcript where a host keeps those of this user."""
    if not position.offset or not find.is_kept(position.path, environ):
        return False
    right = blocks.check_before(os.path.realpath(position.path), position.offset)
    return bool(right) and right == position.check
