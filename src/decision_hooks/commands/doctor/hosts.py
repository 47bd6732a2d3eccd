"""Checks of the agents: are the hooks registered, once each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from decision_hooks.commands.doctor.check import FAIL, OFF, OK, WARN, Check, Subject
from decision_hooks.errors import DecisionHooksError
from decision_hooks.hosts.entry_line import ENTRIES, PROGRAMS, Target
from decision_hooks.hosts.marks import MARK, is_sealed
from decision_hooks.hosts.table import targets
from decision_hooks.install import merge, plan
from decision_hooks.system import files

_INSTALL = "capture-decisions install"


class Registered(NamedTuple):
    """The entries of one file that run our programs."""

    path: str
    ids: tuple[str, ...]  # with repeats
    marked: bool  # every entry is one that install wrote
    trouble: str = ""  # why the file cannot be read


def host_checks(subject: Subject) -> list[Check]:
    """One check for each host, and one for what concerns them all."""
    known = targets()
    registered = {name: list(_registered(subject, host)) for name, host in known.items()}
    checks = [
        _hooks_check(subject, host, registered) if host.hooks else _file_check(subject, host)
        for host in known.values()
    ]
    for host in known.values():
        path = _hooks_disabled(subject, host)
        if path:
            checks.append(Check("hooks", FAIL, f"{host.off} is on in {path}", f"take it out of {path}"))
    if all(check.state == OFF for check in checks):
        checks.append(Check("hooks", FAIL, "no agent of this project runs the hooks", _INSTALL))
    return checks


def _hooks_check(subject: Subject, host: Target, registered: Mapping[str, list[Registered]]) -> Check:
    """Whether all entries are registered, once each, in the form of today."""
    name, fix = host.title.lower(), f"{_INSTALL} --{host.name}"
    broken = next((file for file in registered[host.name] if file.trouble), None)
    if broken:
        return Check(name, WARN, f"{broken.path}: {broken.trouble}", "mend the file, then install again")
    own = [file for file in registered[host.name] if file.ids]
    others = [file for file in registered.get(host.runs_too, ()) if file.ids]
    plugin = _has_plugin(subject, host)
    if not own:
        return _without_entry(subject, host, others, plugin=plugin)
    ids = [id for file in own for id in file.ids]
    where = ", ".join(file.path for file in own)
    doubled = next((entry.title for entry in ENTRIES if ids.count(entry.id) > 1), "")
    if doubled:
        return Check(name, FAIL, f"{doubled} is registered more than once: {where}", fix)
    if not all(file.marked for file in own + others):
        if plugin:
            return Check(name, FAIL, "an old entry and the plugin both run", fix)
        if others:
            reason = f"an old entry runs twice: {host.title} loads {others[0].path} too"
            return Check(name, FAIL, reason, f"{_INSTALL} --{host.runs_too} --{host.name}")
    missing = [entry.title for entry in ENTRIES if entry.id not in ids]
    if missing:
        return Check(name, FAIL, f"{', '.join(missing)} is not registered in {where}", fix)
    if not all(file.marked for file in own):
        return Check(name, WARN, f"an old entry in {where}", fix)
    if host.note and not _has_captured(subject, host):
        return Check(
            name,
            WARN,
            f"{where}; nothing has come from {host.title} yet, which skips hooks it does not trust",
            host.note,
        )
    return Check(name, OK, where)


def _without_entry(subject: Subject, host: Target, others: list[Registered], *, plugin: bool) -> Check:
    name = host.title.lower()
    if plugin:
        return Check(name, OK, "through the plugin")
    if others and plan.in_use(subject.at.project.root, [host], subject.at.world.environ):
        return Check(name, OK, f"through {others[0].path}, which {host.title} loads too")
    return Check(name, OFF, "no entry")


def _file_check(subject: Subject, host: Target) -> Check:
    """Whether the file that is the host's entry is the one of today."""
    own, name, fix = host.files[0], host.title.lower(), f"{_INSTALL} --{host.name}"
    path = os.path.join(subject.at.project.root, *own.name.split("/"))
    data = files.read_bytes(path, follow=True)
    if data is None:
        return Check(name, OFF, "no extension")
    if data == own.text.encode():
        return Check(name, OK, path)
    if is_sealed(data):
        return Check(name, WARN, f"{path} is of another version", fix)
    return Check(name, WARN, f"{path} was changed by hand", f"remove it, then {fix}")


# -- files of hosts


def _entry_files(subject: Subject, host: Target) -> list[str]:
    paths = host.entry_files(subject.at.project.root, subject.at.world.environ)
    return list({os.path.realpath(path): path for path in paths}.values())  # a project may be the home folder


def _registered(subject: Subject, host: Target) -> Iterator[Registered]:
    for path in _entry_files(subject, host):
        data = files.read_bytes(path, follow=True)
        if data is None or not host.hooks:
            continue
        try:
            entries = merge.registered(data, host.hooks.layout)
        except DecisionHooksError as error:
            if any(name.encode() in data for name in (*PROGRAMS, MARK)):
                yield Registered(path, (), True, str(error))
            continue
        yield Registered(path, tuple(entry.id for entry in entries), all(entry.ours for entry in entries))


def _has_captured(subject: Subject, host: Target) -> bool:
    """Whether a session of the host was ever captured here: then it runs the hooks."""
    folder = subject.at.project.state_file("positions")
    positions = (os.path.join(folder, name) for name in files.names(folder)[:2000])
    return any(host.transcript in (files.read_bytes(path, 4096) or b"") for path in positions)


def _has_plugin(subject: Subject, host: Target) -> bool:
    for path in _entry_files(subject, host) if host.plugin else ():
        enabled = (files.read_json(path, follow=True) or {}).get("enabledPlugins")
        for name, on in enabled.items() if isinstance(enabled, dict) else ():
            if name.startswith(host.plugin) and on is True:
                return True
    return False


def _hooks_disabled(subject: Subject, host: Target) -> str:
    """The settings file that turns all hooks off, "" when none does."""
    paths = _entry_files(subject, host) if host.off else ()
    return next(
        (path for path in paths if (files.read_json(path, follow=True) or {}).get(host.off) is True), ""
    )
