"""The environment that the hooks of a project will have: the person's, and what the hosts' settings set."""

from __future__ import annotations

from collections.abc import Mapping

from decision_hooks.hosts.table import targets
from decision_hooks.install import merge
from decision_hooks.settings import VARIABLES
from decision_hooks.system import files

API_KEY = "ANTHROPIC_API_KEY"
_OURS = frozenset(variable.name for variable in VARIABLES)


def hook_environ(root: str, environ: Mapping[str, str]) -> dict[str, str]:
    """What a hook will see of the pair's variables; nothing else of a settings file is taken over."""
    merged = dict(environ)
    for host in targets().values():
        for path in host.entry_files(root, environ) if host.hooks and host.hooks.environ else ():
            variables = merge.environ_of(files.read_bytes(path, follow=True))
            merged.update(
                {name: value for name, value in variables.items() if name in _OURS or name == API_KEY}
            )
    return merged


def by_hand_environ(root: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The same for a run by hand: what the person set in the shell wins."""
    given = {name: value for name, value in environ.items() if name in _OURS and value.strip()}
    return {**hook_environ(root, environ), **given}
