"""A project that is put back as it was, again and again, and run by hand in between."""

from __future__ import annotations

import shutil
import time

from decision_hooks.commands import dispatch
from decision_hooks.system.world import World
from support.inbox import CLAUDE, all_three, fill
from support.sandbox import NORMALIZE, Sandbox


class Stage:
    """A project that is put back as it was before each kill."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._kept = sandbox.base / "kept"
        for name in ("docs", ".claude"):
            shutil.copytree(sandbox.root / name, self._kept / name)

    def again(self) -> None:
        """Put everything back."""
        for name in ("docs", ".claude"):
            shutil.rmtree(self.sandbox.root / name)
            shutil.copytree(self._kept / name, self.sandbox.root / name)

    def by_hand(self, *arguments: str) -> None:
        """Run a subcommand undisturbed, in this process: there are hundreds of them."""
        said: list[str] = []
        world = World(
            program=NORMALIZE,
            script="",
            environ=self.sandbox.environment(CLAUDE),
            cwd=str(self.sandbox.root),
            now=time.time,
            out=said.append,
            err=said.append,
            ask=lambda question: "",
            watched=False,
        )
        assert dispatch.run(NORMALIZE, arguments, world) == 0, said


def planned(sandbox: Sandbox) -> tuple[Stage, str]:
    """A filled inbox with a kept plan of three operations: what runs then makes no call."""
    fill(sandbox)
    sandbox.fake("claude").answers(all_three())
    shown = sandbox.run(NORMALIZE, None, "plan", env=CLAUDE)
    return Stage(sandbox), shown.stdout.split("--plan ")[1].split("`")[0]
