"""Checks of the program and the project: script, settings, folders, what git ignores, drafts, parts, faults."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from decision_hooks.backends import ledger
from decision_hooks.backends.call import child_environ
from decision_hooks.capture import worker
from decision_hooks.commands.backfill import plan
from decision_hooks.commands.doctor.check import FAIL, OFF, OK, WARN, Check, Subject
from decision_hooks.commands.report import counted, minute, shortened
from decision_hooks.commands.status.activity import activity
from decision_hooks.errors import SettingError
from decision_hooks.hosts.entry_line import BIN, PROGRAMS
from decision_hooks.install import gitignore, write
from decision_hooks.languages import table
from decision_hooks.normalize import job
from decision_hooks.settings import GUARDS, VARIABLES, capture_settings, normalize_settings
from decision_hooks.state.capture import DAY, CaptureState
from decision_hooks.state.normalize import NormalState
from decision_hooks.state.runs import known_runs
from decision_hooks.system import adr_folder, files, git, process
from decision_hooks.system.project import git_dir
from decision_hooks.system.runlog import iso_time

STALE = 3600.0  # seconds after which a temporary file is nobody's
_RECENT = 7 * DAY
_INSTALL = "capture-decisions install"
_SCRIPT_SECONDS = 15.0  # that a script may take to print its version


def script_check(subject: Subject) -> Check:
    """Whether the script that the entries start is there and runs, and so its sister."""
    name = "script"
    root, environ = subject.at.project.root, subject.at.world.environ
    named = write.named_script(subject.at.project)
    why = write.refused_script(subject.at.project, named, environ)
    if why:
        fix = f"git rm --cached what git tracks of it, then {_INSTALL} from an installation of your own"
        return Check(name, FAIL, f"{why}: the hooks do not run it", fix)
    script = (
        named if process.is_program(named) else git.find(PROGRAMS[0], git.search_path(environ), root, environ)
    )
    if not script:
        reason = f"{named} is gone" if named else "capture-decisions is not on the search path"
        again = "" if process.is_program(subject.at.world.script) else "pip install decision-hooks, then "
        return Check(name, FAIL, f"{reason}: the hooks do nothing", again + _INSTALL)
    sister = write.sister(script)
    said = _version(script, root, environ) if process.is_program(sister) else f"{sister} is missing"
    if PROGRAMS[0] not in said or not process.is_program(sister):
        reason = f"{script} does not run: {said or 'no output'}"
        return Check(name, FAIL, reason, f"pip install --force-reinstall decision-hooks, then {_INSTALL}")
    if named and script != named:
        return Check(name, WARN, f"{named} is gone, {script} is used", _INSTALL)
    if not named:
        reason = (
            f"{script} is found on the search path only; an agent started from a desktop has a shorter one"
        )
        return Check(name, WARN, reason, _INSTALL)
    return Check(name, OK, f"{script} ({said})")


def _version(program: str, root: str, environ: Mapping[str, str]) -> str:
    env = child_environ(environ, program, root)
    result = process.run([program, "version"], cwd="/", env=env, timeout=_SCRIPT_SECONDS)
    said = result.stdout if result.status == 0 else result.stderr
    return said.decode("utf-8", "replace").strip()[-200:]


def python_check() -> Check:
    """The version of Python that runs this."""
    return Check("python", OK, f"{'.'.join(map(str, sys.version_info[:3]))}, {sys.executable}")


def project_checks(subject: Subject) -> list[Check]:
    """All checks that need neither an agent nor a backend."""
    return [
        _settings_check(subject),
        _guards_check(subject),
        _folders_check(subject),
        _ignore_check(subject),
        _git_check(subject),
        _drafts_check(subject),
        *_worker_checks(subject),
        *_aside_checks(subject),
        _pending_check(subject),
        _sessions_check(subject),
        _calls_check(subject),
        _runs_check(subject),
        _leftovers_check(subject),
        *_fault_checks(subject),
    ]


def _settings_check(subject: Subject) -> Check:
    environ = subject.at.world.environ
    try:
        table.language(capture_settings(environ).language)
        normalize_settings(environ)
    except SettingError as error:
        name = next((variable.name for variable in VARIABLES if variable.name in str(error)), "the variable")
        return Check("settings", FAIL, str(error), f"correct or unset {name}")
    return Check("settings", OK, "every variable can be used")


def _guards_check(subject: Subject) -> Check:
    guards = [name for name in GUARDS if subject.at.world.environ.get(name)]
    if guards:
        reason = f"{', '.join(guards)} is set here: agents that this shell starts run no hooks"
        return Check("guards", WARN, reason, f"unset {' '.join(guards)}")
    return Check("guards", OK, "no variable switches the hooks off")


def _folders_check(subject: Subject) -> Check:
    project = subject.at.project
    if subject.refused:
        return Check(
            "folders", FAIL, f"{subject.refused.what}: the state folder is not used", subject.refused.fix
        )
    for folder in (project.adr, project.hooks, project.state):
        if not files.may_write(folder):
            return Check("folders", FAIL, f"{folder} cannot be written", f"chmod u+rwx '{folder}'")
    mode = files.mode_of(project.state)
    if mode is not None and mode & 0o077:
        reason = f"{project.state} is open to other users (mode {mode:o})"
        return Check("folders", FAIL, reason, f"chmod 700 '{project.state}'")
    if mode is None:
        return Check("folders", OK, f"{project.adr} can be written; no state yet")
    return Check("folders", OK, f"{project.adr} and the state can be written")


def _ignore_check(subject: Subject) -> Check:
    name, project, environ = "gitignore", subject.at.project, subject.at.world.environ
    if not git_dir(project.root):
        return Check(name, OFF, "the project is no git work tree")
    if not git.program(project.root, environ):
        return Check(name, OFF, "git is not found")
    of_git = set(git.tracked_files(project.root, environ).splitlines())
    tracked = [path for path in (*gitignore.OWN, BIN) if path in of_git]
    if tracked:
        reason = f"git tracks {', '.join(tracked)}"
        return Check(name, FAIL, reason, f"git rm --cached {' '.join(tracked)}")
    ignored = git.ignored(project.root, gitignore.OWN, environ)
    missing = [path for path in gitignore.OWN if path not in ignored]  # the folder of BIN ignores itself
    if missing:
        reason = f"not ignored: {', '.join(missing)}"
        return Check(name, FAIL, reason, "capture-decisions doctor --fix (adds the lines to .gitignore)")
    return Check(name, OK, "logs, state and lock are ignored")


def _git_check(subject: Subject) -> Check:
    busy = git.operation_in_progress(subject.at.project.root)
    if busy:
        reason = f"git {busy} in progress: nothing is normalised until it ends"
        return Check("git", WARN, reason, f"finish or abort the {busy}")
    return Check("git", OK, "no operation in progress")


def _drafts_check(subject: Subject) -> Check:
    settings = subject.normalize
    if settings is None:
        return Check("drafts", OFF, "a setting is bad")
    waiting, threshold = len(adr_folder.Snapshot(subject.at.project.adr).drafts), settings.threshold
    text = f"{counted(waiting, 'draft')}, normalised from {threshold}"
    now = subject.at.world.now()
    last = NormalState(subject.at.project).last_attempt(now)
    overdue = waiting >= max(1, threshold) and (last is None or now - last > settings.min_interval + DAY)
    if overdue:
        tried = f"last attempt {minute(iso_time(last))}" if last else "no attempt so far"
        return Check("drafts", WARN, f"{text}; {tried}", "normalize-decisions run")
    return Check("drafts", OK, text)


def _worker_checks(subject: Subject) -> list[Check]:
    """The processes that work now, and whether one of them hangs: nothing is done until it ends."""
    project, now = subject.at.project, subject.at.world.now()
    capture, normalize = subject.capture, subject.normalize
    found = {
        "capture worker": worker.working(project, now, capture.timeout) if capture else None,
        "normalize worker": job.working(project, now, normalize.timeout) if normalize else None,
    }
    checks = [
        Check(name, FAIL if one.hangs else OK, str(one).partition(";")[0], one.fix)
        for name, one in found.items()
        if one
    ]
    return checks or [Check("workers", OK, "none at work")]


def _aside_checks(subject: Subject) -> list[Check]:
    """Stored values that were not carried out, because no stop of this machine had stored them."""
    folder = subject.at.project.state_file("aside")
    names = files.names(folder)
    if not names:
        return []
    reason = f"{counted(len(names), 'stored part')} put aside: not of this project or this machine"
    return [Check("aside", WARN, reason, f"look into '{folder}', then remove it")]


def _pending_check(subject: Subject) -> Check:
    state = CaptureState(subject.at.project)
    pending, given_up = state.pending(), state.given_up()
    if given_up:
        reason = f"{counted(len(given_up), 'part')} given up after three tries"
        return Check("pending", WARN, reason, "capture-decisions backfill --retry")
    tried = sum(entry.tries > 0 for entry in pending)
    text = f"{counted(state.number_waiting(), 'part')} of sessions wait, {tried} of them tried before"
    if tried:
        fix = "the next stop tries again; the log says why: .claude/hooks/capture-decisions.log"
        return Check("pending", WARN, text, fix)
    return Check("pending", OK, text if pending else "no part waits")


def _sessions_check(subject: Subject) -> Check:
    """Sessions that the hooks should have seen: a dead hook shows here first."""
    if subject.capture is None:
        return Check("sessions", OFF, "a setting is bad")
    since = subject.at.world.now() - _RECENT
    missed, captured = plan.coverage(subject.at.project, subject.at.world, since)
    text = f"{captured} of {counted(missed + captured, 'session')} of the last 7 days captured"
    if not missed + captured:
        return Check("sessions", OK, "none in the last 7 days")
    if missed:
        return Check("sessions", WARN, text, "capture-decisions backfill --dry-run")
    return Check("sessions", OK, text)


def _calls_check(subject: Subject) -> Check:
    if subject.capture is None:
        return Check("calls", OFF, "a setting is bad")
    most = subject.capture.daily_calls
    calls = ledger.calls_today(subject.at.project, subject.at.world.now(), most)
    if calls >= most:
        return Check(
            "calls", WARN, f"the daily cap of {most} calls is reached", "raise ADR_DAILY_CALLS, or wait"
        )
    return Check("calls", OK, f"{calls} of {most} calls today")


def _runs_check(subject: Subject) -> Check:
    unfinished = [run.id for run in known_runs(subject.at.project) if run.state in ("open", "undoing")]
    if unfinished:
        reason = f"run {', '.join(unfinished)} was interrupted"
        return Check("runs", WARN, reason, "normalize-decisions run (the next run finishes it first)")
    return Check("runs", OK, "no run is unfinished")


def _leftovers_check(subject: Subject) -> Check:
    stale = stale_files(subject)
    if stale:
        reason = f"{counted(len(stale), 'temporary file')} of a killed run: {', '.join(stale[:3])}"
        return Check("leftovers", WARN, reason, "capture-decisions doctor --fix")
    return Check("leftovers", OK, "no temporary files")


def stale_files(subject: Subject) -> list[str]:
    """Temporary files of ours that no living run can own."""
    project = subject.at.project
    kinds = ("positions", "pending", "outbox", "given-up", "seen", "breaker", "ledger", "plans")
    folders = [project.adr, project.hooks, project.state, *(project.state_file(kind) for kind in kinds)]
    now = subject.at.world.now()
    return [path for folder in folders for path in files.leftovers(folder, now, STALE)]


def _fault_checks(subject: Subject) -> list[Check]:
    checks = []
    for program in ("capture", "normalize"):
        fault = activity(os.path.join(subject.at.project.hooks, f"{program}-decisions.log")).fault
        if fault:
            reason = f"{minute(fault.time)}  {shortened(fault.text, 160)}"
            log = f".claude/hooks/{program}-decisions.log"
            checks.append(
                Check(f"{program} fault", WARN, reason, f"see {log}; please report it with its traceback")
            )
    return checks or [Check("faults", OK, "none in the logs")]
