"""The two entry points: the guards come before any import that costs; all else is in ``edge``."""

import os
import sys

_GUARDS = ("CAPTURE_DECISIONS_RUNNING", "ADR_NORMALIZE_RUNNING", "ADR_HOOKS_SKIP")


def capture_main() -> int:
    """Entry point of ``capture-decisions``; returns the exit code."""
    return _main("capture-decisions")


def normalize_main() -> int:
    """Entry point of ``normalize-decisions``; returns the exit code."""
    return _main("normalize-decisions")


def _main(program: str) -> int:
    argv = sys.argv[1:]
    is_hook = not argv or argv[0].startswith("-")
    if is_hook and any(map(os.environ.get, _GUARDS)):
        return 0
    if is_hook:
        from decision_hooks.edge import hook

        return hook.run(program, argv)
    from decision_hooks.edge import subcommand

    return subcommand.run(program, argv)
