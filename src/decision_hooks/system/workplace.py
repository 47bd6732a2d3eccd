"""Where a run works: the world around it, its project, its log."""

from __future__ import annotations

from typing import NamedTuple

from decision_hooks.system.project import Project, project_at
from decision_hooks.system.runlog import RunLog, log_of
from decision_hooks.system.world import World


class Workplace(NamedTuple):
    """What every run has."""

    world: World
    project: Project
    log: RunLog


def workplace(world: World, root: str, adr_dir: str) -> Workplace:
    """The workplace of a program in the project at ``root``; ``SettingError`` when records would lie outside."""
    return Workplace(world, project_at(root, adr_dir), log_of(root, world.program, world.now))
