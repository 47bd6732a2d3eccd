"""The pair of scripts that the agents' entries start: the one that is named, and the one that runs now."""

from __future__ import annotations

import os

from decision_hooks.hosts.entry_line import PROGRAMS
from decision_hooks.system import files, process
from decision_hooks.system.project import Project

_LONGEST = 8192  # bytes of the file that names the script


def named(project: Project) -> str:
    """What the state folder names as the script of ``capture-decisions``, "" when it names none."""
    return (files.read_text(project.state_file("bin"), _LONGEST) or "").rstrip("\n")


def running(script: str) -> str:
    """The path of the running ``capture-decisions`` when the entries can start it, its sister too; else ""."""
    whole = os.path.isabs(script) and "\n" not in script and os.path.basename(script) == PROGRAMS[0]
    return script if whole and process.is_program(script) and process.is_program(sister(script)) else ""


def sister(script: str) -> str:
    """Where ``normalize-decisions`` lies: beside the script of ``capture-decisions``."""
    return os.path.join(os.path.dirname(script), PROGRAMS[1])
