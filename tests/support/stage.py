"""A project that is put back as it was, again and again, and run by hand in between."""

from __future__ import annotations

import shutil
import time

from decision_hooks.commands import dispatch
from decision_hooks.errors import DecisionHooksError
from decision_hooks.system.world import World
from support.inbox import CLAUDE, all_three, fill
from support.sandbox import NORMALIZE, Sandbox


class Stage:
    """A project that can be put back as it was."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._kept = sandbox.base / "kept"
        for name in ("docs", ".claude"):
            shutil.copytree(sandbox.root / name, self._kept / name, symlinks=True)

    def again(self) -> None:
        """Put everything back."""
        for name in ("docs", ".claude"):
            shutil.rmtree(self.sandbox.root / name)
            shutil.copytree(self._kept / name, self.sandbox.root / name, symlinks=True)

    def by_hand(self, *arguments: str) -> None:
        """Run a subcommand that has to end well."""
        code, said = self.attempt(*arguments)
        assert code == 0, said

    def attempt(self, *arguments: str, **env: str) -> tuple[int, list[str]]:
        """Run a subcommand in this process, for there are hundreds of them: the exit code and what was said."""
        said: list[str] = []
        world = World(
            program=NORMALIZE,
            script="",
            environ=self.sandbox.environment({**CLAUDE, **env}),
            cwd=str(self.sandbox.root),
            now=time.time,
            out=said.append,
            err=said.append,
            sleep=lambda seconds: None,
            watched=False,
        )
        try:
            return dispatch.run(NORMALIZE, arguments, world), said
        except DecisionHooksError as error:
            return 2, [*said, str(error)]


def planned(sandbox: Sandbox) -> tuple[Stage, str]:
    """A filled inbox with a kept plan of three operations: what runs then makes no call."""
    fill(sandbox)
    sandbox.fake("claude").answers(all_three())
    shown = sandbox.run(NORMALIZE, None, "plan", env=CLAUDE)
    return Stage(sandbox), shown.stdout.split("--plan ")[1].split("`")[0]
