"""Checks of the agents: are the hooks registered, once each."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from decision_hooks.commands.doctor.check import FAIL, OFF, OK, WARN, Check, Subject
from decision_hooks.commands.hook_environ import settings_files
from decision_hooks.errors import DecisionHooksError
from decision_hooks.hosts.entry_line import ENTRIES, MARK, PROGRAMS, HookFile, Host, hosts
from decision_hooks.hosts.marks import is_sealed
from decision_hooks.install import merge, plan
from decision_hooks.system import files

_INSTALL = "capture-decisions install"
_PLUGIN = "decision-hooks@"


class Registered(NamedTuple):
    """The entries of one file that run our programs."""

    path: str
    ids: tuple[str, ...]  # with repeats
    marked: bool  # every entry is one that install wrote
    trouble: str = ""  # why the file cannot be read


def host_checks(subject: Subject) -> list[Check]:
    """One check for each host, and one for what concerns them all."""
    known = hosts()
    claude = _claude_files(subject, known["claude"])
    cursor = _files(known["cursor"], _cursor_paths(subject))
    plugin = _has_plugin(subject)
    checks = [
        _claude_check(claude, plugin),
        _cursor_check(subject, known["cursor"], claude, cursor),
        _codex_check(subject, known["codex"]),
        _pi_check(subject, known["pi"]),
    ]
    off = _hooks_disabled(subject)
    if off:
        checks.append(Check("hooks", FAIL, f"disableAllHooks is on in {off}", f"take it out of {off}"))
    if all(check.state == OFF for check in checks):
        checks.append(Check("hooks", FAIL, "no agent of this project runs the hooks", _INSTALL))
    return checks


# -- Claude Code and Cursor


def _claude_files(subject: Subject, host: Host) -> list[Registered]:
    return _files(host, settings_files(subject.at.project.root, subject.at.world.environ))


def _claude_check(found: list[Registered], plugin: bool) -> Check:
    name = "claude code"
    broken = [one for one in found if one.trouble]
    with_entries = [one for one in found if one.ids]
    if broken:
        return _mend(name, broken[0])
    if not with_entries:
        return Check(name, OK, "through the plugin") if plugin else Check(name, OFF, "no entry")
    doubled = _doubled(with_entries)
    if doubled:
        where = ", ".join(one.path for one in with_entries)
        return Check(name, FAIL, f"{doubled} is registered more than once: {where}", f"{_INSTALL} --claude")
    if plugin and not all(one.marked for one in with_entries):
        return Check(name, FAIL, "an old entry and the plugin both run", f"{_INSTALL} --claude")
    return _complete(name, with_entries, "--claude")


def _cursor_check(subject: Subject, host: Host, claude: list[Registered], cursor: list[Registered]) -> Check:
    name = "cursor"
    broken = [one for one in cursor if one.trouble]
    own = [one for one in cursor if one.ids]
    project = [one for one in claude if one.ids]
    if broken:
        return _mend(name, broken[0])
    if not own:
        if project and _in_use(subject, host):
            return Check(name, OK, f"through {project[0].path}, which Cursor loads too")
        return Check(name, OFF, "no entry")
    if _doubled(own):
        return Check(name, FAIL, f"{_doubled(own)} is registered more than once", f"{_INSTALL} --cursor")
    if not all(one.marked for one in own + project):
        if project:
            reason = "an old entry runs twice: Cursor loads the settings of Claude Code too"
            return Check(name, FAIL, reason, f"{_INSTALL} --claude --cursor")
        return Check(name, WARN, f"an old entry in {own[0].path}", f"{_INSTALL} --cursor")
    return _complete(name, own, "--cursor")


def _cursor_paths(subject: Subject) -> list[str]:
    home = subject.at.world.environ.get("HOME", "/")
    return [os.path.join(folder, ".cursor", "hooks.json") for folder in (home, subject.at.project.root)]


def _mend(name: str, broken: Registered) -> Check:
    return Check(name, WARN, f"{broken.path}: {broken.trouble}", "mend the file, then install again")


def _complete(name: str, found: list[Registered], flag: str) -> Check:
    """Whether all entries are registered, in the form of today."""
    ids = [id for one in found for id in one.ids]
    missing = [entry.title for entry in ENTRIES if entry.id not in ids]
    where = ", ".join(one.path for one in found)
    if missing:
        return Check(name, FAIL, f"{', '.join(missing)} is not registered in {where}", f"{_INSTALL} {flag}")
    if not all(one.marked for one in found):
        return Check(name, WARN, f"an old entry in {where}", f"{_INSTALL} {flag}")
    return Check(name, OK, where)


def _doubled(found: list[Registered]) -> str:
    ids = [id for one in found for id in one.ids]
    return next((entry.title for entry in ENTRIES if ids.count(entry.id) > 1), "")


# -- Codex and pi


def _codex_check(subject: Subject, host: Host) -> Check:
    name = "codex"
    home = subject.at.world.environ.get("CODEX_HOME") or os.path.join(
        subject.at.world.environ.get("HOME", "/"), ".codex"
    )
    found = _files(
        host,
        [os.path.join(home, "hooks.json"), os.path.join(subject.at.project.root, ".codex", "hooks.json")],
    )
    broken = [one for one in found if one.trouble]
    own = [one for one in found if one.ids]
    if broken:
        return _mend(name, broken[0])
    if not own:
        return Check(name, OFF, "no entry")
    if _doubled(own):
        return Check(name, FAIL, f"{_doubled(own)} is registered more than once", f"{_INSTALL} --codex")
    complete = _complete(name, own, "--codex")
    if complete.state == OK and not _captured_from_codex(subject):
        reason = (
            f"{complete.reason}; nothing has come from Codex yet, which passes over hooks it does not trust"
        )
        return Check(name, WARN, reason, "open codex in this project, type /hooks, trust both")
    return complete


def _captured_from_codex(subject: Subject) -> bool:
    """Whether a rollout of Codex was ever captured here: then its hooks are trusted."""
    folder = subject.at.project.state_file("positions")
    for name in files.names(folder)[:2000]:
        stored = files.read_bytes(os.path.join(folder, name), 4096) or b""
        if b"/rollout-" in stored:
            return True
    return False


def _pi_check(subject: Subject, host: Host) -> Check:
    own = host.files[0]
    path = os.path.join(subject.at.project.root, *own.name.split("/"))
    data = files.read_bytes(path)
    if data is None:
        return Check("pi", OFF, "no extension")
    if data == own.text.encode():
        return Check("pi", OK, path)
    if is_sealed(data):
        return Check("pi", WARN, f"{path} is of another version", f"{_INSTALL} --pi")
    return Check("pi", WARN, f"{path} was changed by hand", f"remove it, then {_INSTALL} --pi")


# -- files of hosts


def _files(host: Host, paths: Iterable[str]) -> list[Registered]:
    different = {os.path.realpath(path): path for path in paths}.values()
    return [_registered(path, host.hooks) for path in different] if host.hooks else []


def _registered(path: str, file: HookFile) -> Registered:
    data = files.read_bytes(path)
    if data is None:
        return Registered(path, (), True)
    try:
        found = merge.entries(data, file.layout)
    except DecisionHooksError as error:
        trouble = str(error) if any(name.encode() in data for name in (*PROGRAMS, MARK)) else ""
        return Registered(path, (), True, trouble)
    return Registered(path, tuple(one.id for one in found), all(one.ours for one in found))


def _in_use(subject: Subject, host: Host) -> bool:
    return bool(plan.in_use(subject.at.project.root, [host], subject.at.world.environ))


def _has_plugin(subject: Subject) -> bool:
    for path in settings_files(subject.at.project.root, subject.at.world.environ):
        enabled = (files.read_json(path) or {}).get("enabledPlugins")
        for name, on in enabled.items() if isinstance(enabled, dict) else ():
            if name.startswith(_PLUGIN) and on is True:
                return True
    return False


def _hooks_disabled(subject: Subject) -> str:
    """The settings file that switches all hooks off, "" when none does."""
    paths = settings_files(subject.at.project.root, subject.at.world.environ)
    return next((path for path in paths if (files.read_json(path) or {}).get("disableAllHooks") is True), "")
