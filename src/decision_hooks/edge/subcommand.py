"""A subcommand at the border: 0 fine, 1 finding or refusal, 2 usage, I/O, or a defect of ours."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from decision_hooks.edge.world import end_on_signals, real_world


def run(program: str, argv: Sequence[str]) -> int:
    """Run a subcommand: 0 fine, 1 finding or refusal, 2 usage, I/O, or a defect of ours."""
    from decision_hooks.commands import dispatch
    from decision_hooks.errors import DecisionHooksError

    end_on_signals()
    _utf8_streams()
    world = real_world(program)
    try:
        code = dispatch.run(program, argv, world)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except DecisionHooksError as error:
        world.err(f"{program}: {error}")
        return 2
    except BrokenPipeError:
        _drop_stdout()
        return 0
    except OSError as error:
        world.err(f"{program}: {error}")
        _drop_stdout()
        return 2
    except KeyboardInterrupt:
        world.err(f"{program}: interrupted")
        return 130
    except Exception as error:  # noqa: BLE001 - the boundary of the program
        import traceback

        world.err(f"{traceback.format_exc()}{program}: fault: {type(error).__name__}: {error}")
        return 2


def _drop_stdout() -> None:
    """Point stdout at /dev/null so that the interpreter's final flush cannot fail again."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _utf8_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(encoding="utf-8", errors="replace")
