"""A check of the set-up: what was looked at, its state, why, and the exact fix."""

from __future__ import annotations

from typing import NamedTuple

from decision_hooks.errors import StateRefused
from decision_hooks.settings import CaptureSettings, NormalizeSettings
from decision_hooks.system.workplace import Workplace

OK, WARN, FAIL, OFF = "ok", "warn", "fail", "off"  # only ``fail`` is a finding


class Check(NamedTuple):
    """One check."""

    name: str
    state: str  # ok | warn | fail | off
    reason: str
    fix: str = ""  # what to do, "" where nothing is to be done


class Subject(NamedTuple):
    """What is checked: a project, with the environment and the settings that its hooks will have."""

    at: Workplace  # its environment is that of a hook
    capture: CaptureSettings | None  # None: a setting is bad
    normalize: NormalizeSettings | None
    refused: StateRefused | None = None  # why the project is looked at without its state folder
