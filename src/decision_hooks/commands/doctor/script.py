"""Checks of the program itself: the Python that runs it, and the script that the agents' entries start."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from decision_hooks.backends.call import child_environ
from decision_hooks.commands.doctor.check import FAIL, OK, WARN, Check, Subject
from decision_hooks.hosts.entry_line import PROGRAMS
from decision_hooks.install import script as own_script
from decision_hooks.system import process

_INSTALL = "capture-decisions install"
_SECONDS = 15.0  # that a script may take to say its version


def script_check(subject: Subject) -> Check:
    """Whether the script that the entries start is there and runs, and its sister with it."""
    name = "script"
    path = subject.at.world.environ.get("PATH", os.defpath)
    named = own_script.named(subject.at.project)
    script = named if process.is_program(named) else process.on_path(PROGRAMS[0], path)
    if not script:
        reason = f"{named} is gone" if named else "capture-decisions is not on the search path"
        again = "" if process.is_program(subject.at.world.script) else "pip install decision-hooks, then "
        return Check(name, FAIL, f"{reason}: the hooks do nothing", again + _INSTALL)
    sister = own_script.sister(script)
    said = (
        _version(script, subject.at.world.environ) if process.is_program(sister) else f"{sister} is missing"
    )
    if PROGRAMS[0] not in said or not process.is_program(sister):
        reason = f"{script} does not run: {said or 'it says nothing'}"
        return Check(name, FAIL, reason, f"pip install --force-reinstall decision-hooks, then {_INSTALL}")
    if named and script != named:
        return Check(name, WARN, f"{named} is gone, {script} is used", _INSTALL)
    if not named:
        reason = (
            f"{script} is found on the search path only; an agent started from a desktop has a shorter one"
        )
        return Check(name, WARN, reason, _INSTALL)
    return Check(name, OK, f"{script} ({said})")


def _version(program: str, environ: Mapping[str, str]) -> str:
    result = process.run([program, "version"], cwd="/", env=child_environ(environ, program), timeout=_SECONDS)
    said = result.stdout if result.status == 0 else result.stderr
    return said.decode("utf-8", "replace").strip()[-200:]


def python_check() -> Check:
    """The version of Python that runs this."""
    return Check("python", OK, f"{'.'.join(map(str, sys.version_info[:3]))}, {sys.executable}")
