"""What is installed for Claude Code: hooks in its settings, the slash command, the entries of the plugin."""

from __future__ import annotations

import os
from collections.abc import Mapping

from decision_hooks.hosts.entry_line import (
    ENTRIES,
    GROUPED,
    HookEntry,
    HookFile,
    Target,
    line_finding,
    sh_entries,
    slash_command,
)
from decision_hooks.hosts.marks import MARK

# Cursor runs the hooks of Claude Code too: where it has an entry of its own, that one does the work.
_IN_CURSOR = '[ -n "$CURSOR_VERSION" ] && [ -z "$CLAUDECODE" ]'
_NOT_TWICE_IN_CURSOR = f'{_IN_CURSOR} && command -p grep -qs "{MARK}" "$r/.cursor/hooks.json" && exit 0'
_NOT_BESIDE_SETTINGS = (
    f'command -p grep -qs "{MARK}" "$r/.claude/settings.json" "$r/.claude/settings.local.json" && exit 0'
)
_COMMAND_HEAD = """---
description: Normalise decision drafts in docs/adr into MADR records
allowed-tools: Bash(normalize-decisions plan), Bash(git diff:*), Bash(git status:*)
---

"""


def claude() -> Target:
    """The card of Claude Code."""
    return Target(
        "claude",
        "Claude Code",
        ".claude",
        ("claude",),
        HookFile(".claude/settings.json", GROUPED, sh_entries(_NOT_TWICE_IN_CURSOR), environ=True),
        (slash_command(".claude/commands", _COMMAND_HEAD),),
        entry_files=_settings_files,
        plugin="decision-hooks@",
        off="disableAllHooks",
    )


def _settings_files(root: str, environ: Mapping[str, str]) -> list[str]:
    config = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(environ.get("HOME", "/"), ".claude")
    project = os.path.join(root, ".claude")
    return [
        os.path.join(config, "settings.json"),
        os.path.join(project, "settings.json"),
        os.path.join(project, "settings.local.json"),
    ]


def plugin_entries() -> tuple[HookEntry, ...]:
    """The entries of the plugin, which is on in every project of its user.

    It acts only where there are records, leaves the work to an entry of the project, and does not trust a
    path that a foreign project names.
    """
    return tuple(
        entry._replace(
            command=line_finding(
                entry,
                '[ -d "$r/${ADR_DIR:-docs/adr}" ] || exit 0',
                _NOT_BESIDE_SETTINGS,
                # the search path of a program that was started from a desktop is short
                f'p=$(command -v {entry.program}); may "$p" || p=$HOME/.local/bin/{entry.program}',
                'may "$p" || exit 0',
            )
        )
        for entry in ENTRIES
    )
