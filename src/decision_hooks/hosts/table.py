"""The hosts: one row for each card, and the questions that the cards answer together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from decision_hooks.hosts.base import Host
from decision_hooks.hosts.claude import Claude
from decision_hooks.hosts.codex import Codex
from decision_hooks.hosts.cursor import Cursor
from decision_hooks.hosts.pi import Pi

if TYPE_CHECKING:
    from decision_hooks.hosts.entry_line import Target

_NO_MARK = Claude()  # the host of a payload that has no mark
HOSTS: tuple[Host, ...] = (_NO_MARK, Cursor(), Codex(), Pi())


def of_payload(payload: Mapping[str, object], environ: Mapping[str, str]) -> Host:
    """The host that sent the payload of a stop."""
    return next((host for host in HOSTS if host.is_payload(payload, environ)), _NO_MARK)


def of_record(record: Mapping[str, object] | None) -> Host | None:
    """The host that wrote a record of a transcript, None when it has the shape of none."""
    return next((host for host in HOSTS if record is not None and host.is_record(record)), None)


def targets() -> dict[str, Target]:
    """What is installed for each host, by the name of its flag."""
    found = (host.target() for host in HOSTS)
    return {target.name: target for target in found if target}


@cache
def edit_tools() -> frozenset[str]:
    """The tools of all hosts that change files."""
    return frozenset(tool for host in HOSTS for tool in host.edit_tools)


def public_path(path: str, home: str) -> str:
    """A transcript's path without the user's name: ``~/.claude/projects/*/<id>.jsonl``.

    A host's folder for a project repeats the path of the home folder; a reader finds the file by glob.
    """
    from decision_hooks.privacy.mask import home_as_tilde

    shown = home_as_tilde(path, home)
    for host in HOSTS:
        shown = re.sub(host.project_folder, r"\1*/", shown) if host.project_folder else shown
    return shown
