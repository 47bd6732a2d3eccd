"""What is installed for Cursor: hooks and the slash command."""

from __future__ import annotations

import os

from decision_hooks.hosts.entry_line import FLAT, HookFile, Target, sh_entries, slash_command

_HOOKS = ".cursor/hooks.json"


def cursor() -> Target:
    """The card of Cursor, which loads the settings of Claude Code too."""
    return Target(
        "cursor",
        "Cursor",
        ".cursor",
        ("cursor-agent", "cursor"),
        HookFile(_HOOKS, FLAT, sh_entries(), environ=False),
        (slash_command(".cursor/commands"),),
        entry_files=lambda root, environ: [
            os.path.join(folder, _HOOKS) for folder in (environ.get("HOME", "/"), root)
        ],
        runs_too="claude",
    )
