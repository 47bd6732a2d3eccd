"""Maps each subcommand to its module, which is imported only when it is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from decision_hooks.system.world import World


class Subcommand(NamedTuple):
    """One subcommand: the module under ``commands`` that has its ``run(argv, world) -> int``."""

    name: str
    module: str
    summary: str


_CAPTURE = (
    Subcommand("install", "install", "register both programs with the agents of this project"),
    Subcommand("uninstall", "install", "take back what install wrote"),
    Subcommand("doctor", "doctor.command", "check the whole set-up and say how to mend it"),
    Subcommand("status", "status.command", "drafts, runs, calls and costs on one screen"),
    Subcommand("backfill", "backfill.command", "capture sessions that never were"),
    Subcommand("demo", "demo.command", "see it all work in a temporary folder, offline"),
)
_NORMALIZE = (
    Subcommand("run", "run", "normalise drafts now"),
    Subcommand("plan", "run", "show what a run would do; changes nothing"),
    Subcommand("undo", "undo", "take a run back, byte for byte"),
    Subcommand("local-pipeline", "local_pipeline.command", "the pipeline of the local backend, by hand"),
)


def table(program: str) -> tuple[Subcommand, ...]:
    """The subcommands of a program."""
    return _CAPTURE if program == "capture-decisions" else _NORMALIZE


def usage(program: str) -> str:
    """The usage of the program and its subcommands."""
    width = max(len(row.name) for row in table(program))
    lines = [
        f"usage: {program} [--detach] [--project-root DIR] [--transcript FILE] [--session-id ID]   (a Stop hook)",
        f"       {program} SUBCOMMAND [-h] ...",
        "",
        *(f"  {row.name:<{width}}  {row.summary}" for row in table(program)),
    ]
    return "\n".join(lines)


def version(program: str) -> str:
    """The program's name and the version of its package."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{program} {version('decision-hooks')}"
    except PackageNotFoundError:
        return f"{program} (not installed)"


def run(program: str, argv: Sequence[str], world: World) -> int:
    """Run a subcommand; 2 for one that the program does not have."""
    if argv[0] in ("help", "version"):
        world.out(usage(program) if argv[0] == "help" else version(program))
        return 0
    for row in table(program):
        if row.name == argv[0]:
            from importlib import import_module

            module = import_module(f"decision_hooks.commands.{row.module}")
            return int(module.run(argv, world))
    world.err(f"{program}: no subcommand {argv[0]!r}")
    world.err(usage(program))
    return 2
