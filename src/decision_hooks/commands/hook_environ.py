"""The environment that the hooks of a project will have: the person's, and what Claude Code's settings set."""

from __future__ import annotations

import os
from collections.abc import Mapping

from decision_hooks.install import merge
from decision_hooks.settings import VARIABLES
from decision_hooks.system import files

API_KEY = "ANTHROPIC_API_KEY"
_OURS = frozenset(variable.name for variable in VARIABLES)


def settings_files(root: str, environ: Mapping[str, str]) -> list[str]:
    """Paths of the settings files of Claude Code that apply in a project: user, project, local."""
    config = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(environ.get("HOME", "/"), ".claude")
    project = os.path.join(root, ".claude")
    paths = (
        os.path.join(config, "settings.json"),
        os.path.join(project, "settings.json"),
        os.path.join(project, "settings.local.json"),
    )
    return list({os.path.realpath(path): path for path in paths}.values())  # a project may be the home folder


def hook_environ(root: str, environ: Mapping[str, str]) -> dict[str, str]:
    """What a hook will see of the pair's variables; nothing else of a settings file is taken over."""
    merged = dict(environ)
    for path in settings_files(root, environ):
        found = merge.environ_of(files.read_bytes(path))
        merged.update({name: value for name, value in found.items() if name in _OURS or name == API_KEY})
    return merged


def by_hand_environ(root: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The same for a run by hand: what the person set in the shell wins."""
    given = {name: value for name, value in environ.items() if name in _OURS and value.strip()}
    return {**hook_environ(root, environ), **given}
