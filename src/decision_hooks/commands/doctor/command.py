"""``capture-decisions doctor``: every check with its state, the reason, and the exact fix."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from decision_hooks.commands.doctor import project as checks_project
from decision_hooks.commands.doctor.backends import backend_checks
from decision_hooks.commands.doctor.check import FAIL, WARN, Check, Subject
from decision_hooks.commands.doctor.hosts import host_checks
from decision_hooks.commands.hook_environ import hook_environ
from decision_hooks.commands.options import parser, project_of, root_of
from decision_hooks.commands.report import columns, counted, json_text
from decision_hooks.errors import DecisionHooksError, SettingError, StateRefused
from decision_hooks.install import plan, write
from decision_hooks.settings import capture_settings, normalize_settings
from decision_hooks.state.runs import take_over
from decision_hooks.system import files, locking, process
from decision_hooks.system.project import project_at
from decision_hooks.system.runlog import log_of
from decision_hooks.system.state_folder import check_state, open_state, usable
from decision_hooks.system.workplace import Workplace
from decision_hooks.system.world import World

_Settings = TypeVar("_Settings")


def run(argv: Sequence[str], world: World) -> int:
    """Check the whole set-up: 0 fine (warnings too), 1 with a finding."""
    parse = parser(world, argv, "Check the whole set-up and show how to fix it.")
    parse.add_argument("--online", action="store_true", help="make one test call to check each login")
    parse.add_argument("--fix", action="store_true", help="repair what can be repaired safely")
    parse.add_argument("--json", action="store_true", help="the checks as JSON")
    options = parse.parse_args(list(argv[1:]))
    subject = _subject(world, options.project_root)
    mended = list(mend(subject)) if options.fix else []
    project, refused = usable(subject.at.project, world.environ)
    subject = subject._replace(at=subject.at._replace(project=project), refused=refused)
    checks = [
        checks_project.python_check(),
        *host_checks(subject),
        checks_project.script_check(subject),
        *backend_checks(subject, online=options.online),
        *checks_project.project_checks(subject),
    ]
    if options.json:
        world.out(json_text(_as_json(subject, checks, mended)))
    else:
        for line in _screen(subject, checks, mended):
            world.out(line)
    return 1 if any(check.state == FAIL for check in checks) else 0


def _subject(world: World, given: str) -> Subject:
    root = root_of(world, given)
    project = _usable(lambda: project_of(world, root)) or project_at(root, "docs/adr")
    world = world._replace(environ=hook_environ(project.root, world.environ))
    return Subject(
        Workplace(world, project, log_of(project.root, world.program, world.now)),
        _usable(lambda: capture_settings(world.environ)),
        _usable(lambda: normalize_settings(world.environ)),
    )


def _usable(read: Callable[[], _Settings]) -> _Settings | None:
    try:
        return read()
    except SettingError:
        return None


# -- mending


def mend(subject: Subject) -> Iterator[str]:
    """Repair what is safe; yields a line for each thing that was done or could not be done."""
    for step in (_mend_state, _mend_ignored, _mend_leftovers):
        try:
            yield from step(subject)
        except StateRefused as error:
            yield f"not mended: {error}"
            return
        except DecisionHooksError as error:
            yield f"not mended: {error}"


def _mend_state(subject: Subject) -> Iterator[str]:
    project, environ = subject.at.project, subject.at.world.environ
    before = check_state(project, environ, adopt=True)
    ignored = files.read_bytes(project.state_file(".gitignore")) is not None
    opened = before and (files.mode_of(project.state) or 0) & 0o077
    adopted = open_state(project, environ, adopt=True)
    if not before:
        yield f"made {project.state}"
    if not ignored:
        yield f"made {project.state_file('.gitignore')}"
    if opened:
        yield f"closed {project.state} to other users"
    if adopted:
        take_over(project, environ)
        yield f"took over {project.state}: its content was not written on this machine"


def _mend_ignored(subject: Subject) -> Iterator[str]:
    """The lines of ``.gitignore`` and the name of the script, as install writes them."""
    project, environ = subject.at.project, subject.at.world.environ
    in_git = os.path.exists(os.path.join(project.root, ".git"))
    changes = plan.plan_install(project, [], "", environ) if in_git else []
    before = write.named_script(project)
    script = write.usable_script(subject.at.world.script)
    if not write.refused_script(project, before, environ) and process.is_program(before):
        script = ""
    write.install(project, changes, script, environ)
    for change in changes:
        if change.trouble:
            yield f"not mended: {change.name}: {change.trouble}"
        elif change.needed:
            yield ", ".join((f"added lines to {change.name}", *change.notes))
    if write.named_script(project) != before:
        yield f"named the script in {project.state_file('bin')}"


def _mend_leftovers(subject: Subject) -> Iterator[str]:
    """Temporary files go only while nobody else writes: under the locks of both programs."""
    stale = checks_project.stale_files(subject)
    if not stale:
        return
    locks = []
    try:
        for path in (
            subject.at.project.state_file("worker.lock"),
            os.path.join(subject.at.project.hooks, ".normalize.lock"),
        ):
            lock = locking.acquire(path)
            if lock is None:
                yield "not mended: temporary files stay while a run is working"
                return
            locks.append(lock)
        for path in stale:
            files.remove(path)
            yield f"removed {path}"
    finally:
        for lock in locks:
            locking.release(lock)


# -- showing


def _screen(subject: Subject, checks: Sequence[Check], mended: Sequence[str]) -> list[str]:
    lines = [f"project {subject.at.project.root}", *(f"mended: {what}" for what in mended)]
    width = max(len(check.name) for check in checks)
    for check in checks:
        lines += columns([(check.state.ljust(4), check.name.ljust(width), check.reason)])
        if check.fix:
            lines += columns([("", "fix: " + check.fix)], indent=" " * (width + 6))
    failed = sum(check.state == FAIL for check in checks)
    warned = sum(check.state == WARN for check in checks)
    return [*lines, f"{counted(failed, 'finding')}, {counted(warned, 'warning')}"]


def _as_json(subject: Subject, checks: Sequence[Check], mended: Sequence[str]) -> dict[str, object]:
    return {
        "project": subject.at.project.root,
        "checks": [check._asdict() for check in checks],
        "findings": sum(check.state == FAIL for check in checks),
        "warnings": sum(check.state == WARN for check in checks),
        "mended": list(mended),
    }
