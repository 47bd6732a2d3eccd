"""What is installed for Codex: hooks, which it runs once its user trusts them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from decision_hooks.hosts.entry_line import GROUPED, HookFile, Target, sh_entries


def codex() -> Target:
    """The card of Codex."""
    return Target(
        "codex",
        "Codex",
        ".codex",
        ("codex",),
        HookFile(".codex/hooks.json", GROUPED, sh_entries(), environ=False),
        note="open Codex in this project, trust the folder, type /hooks and trust both; else they do not run",
        entry_files=_hook_files,
        transcript=b"/rollout-",
    )


def _hook_files(root: str, environ: Mapping[str, str]) -> list[str]:
    home = environ.get("CODEX_HOME") or os.path.join(environ.get("HOME", "/"), ".codex")
    return [os.path.join(home, "hooks.json"), os.path.join(root, ".codex", "hooks.json")]
