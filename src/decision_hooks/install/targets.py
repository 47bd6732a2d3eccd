"""The table of the hosts that the pair can be installed in."""

from __future__ import annotations

from decision_hooks.hosts.claude.entries import claude
from decision_hooks.hosts.codex.entries import codex
from decision_hooks.hosts.cursor.entries import cursor
from decision_hooks.hosts.entry_line import Target
from decision_hooks.hosts.pi.entries import pi


def targets() -> dict[str, Target]:
    """The hosts by the name of their flag."""
    return {host.name: host for host in (claude(), cursor(), codex(), pi())}
