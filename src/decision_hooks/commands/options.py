"""The project that a subcommand works on, and the parser that all subcommands share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from decision_hooks.errors import SettingError
from decision_hooks.settings import capture_settings
from decision_hooks.system.project import Project, first_folder, git_top, project_at
from decision_hooks.system.world import World
from decision_hooks.text.controls import visible

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


def root_of(world: World, given: str = "") -> str:
    """The project's root: ``given``, else the host's environment, else the git top of the working directory.

    A variable that names no folder is ignored. ``SettingError`` on a bad ``given``, or if the working directory
    was removed.
    """
    if given:
        root = first_folder([given])
        if not root:
            raise SettingError(f"--project-root {given}: no such folder")
        return root
    named = [world.environ.get(name, "") for name in ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR")]
    root = first_folder([*named, git_top(world.cwd), world.cwd])
    if not root:
        raise SettingError(
            "the working directory is gone: change to a project, or name one by --project-root"
        )
    return root


def project_of(world: World, given: str = "") -> Project:
    """The folders of the project a subcommand works on; ``SettingError`` on a bad ``ADR_DIR``."""
    adr_dir = capture_settings({"ADR_DIR": world.environ.get("ADR_DIR", "")}).adr_dir
    return project_at(root_of(world, given), adr_dir)


class _Parser(argparse.ArgumentParser):
    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        super()._print_message(visible(message), file)


def parser(world: World, argv: Sequence[str], summary: str) -> argparse.ArgumentParser:
    """A parser of one subcommand with ``--project-root``; parse ``argv[1:]`` with it. Errors exit with 2."""
    shared = _Parser(prog=f"{world.program} {argv[0]}", description=summary, allow_abbrev=False)
    shared.add_argument(
        "--project-root", default="", metavar="DIR", help="the project (else the one around this folder)"
    )
    return shared
