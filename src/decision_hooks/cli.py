"""The two entry points: the guards come before any import that costs; all else is in ``edge``."""

import os
import sys

_GUARDS = ("CAPTURE_DECISIONS_RUNNING", "ADR_NORMALIZE_RUNNING", "ADR_HOOKS_SKIP")

# What a coding agent calls at a stop: program, first words, the story that ``edge.hook`` runs, and whether it may
# print to stdout. Only flags follow the words. A hook heeds the guards and exits with 0; all else is a subcommand.
HOOKS = (
    ("capture-decisions", (), "capture", False),
    ("normalize-decisions", (), "normalize", False),
)


def capture_main() -> int:
    """Entry point of ``capture-decisions``; returns the exit code."""
    return _main("capture-decisions")


def normalize_main() -> int:
    """Entry point of ``normalize-decisions``; returns the exit code."""
    return _main("normalize-decisions")


def _main(program: str) -> int:
    argv = sys.argv[1:]
    for name, words, story, speaks in HOOKS:
        if name == program and _calls(argv, words):
            if any(map(os.environ.get, _GUARDS)):
                return 0
            from decision_hooks.edge import hook

            return hook.run(program, argv[len(words) :], story, speaks=speaks)
    from decision_hooks.edge import subcommand

    return subcommand.run(program, argv)


def _calls(argv: list[str], words: tuple[str, ...]) -> bool:
    """Whether an argv begins with these words and has nothing but flags after them."""
    after = argv[len(words) :]
    return tuple(argv[: len(words)]) == words and (not after or after[0].startswith("-"))
