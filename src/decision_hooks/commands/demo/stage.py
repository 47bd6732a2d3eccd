"""The stage of the demo: a project, a recorded session, a recorded model, and our programs run among them."""

from __future__ import annotations

import json
import os
import sys
from typing import NamedTuple

from decision_hooks.commands.report import shortened
from decision_hooks.errors import DecisionHooksError
from decision_hooks.system import files, process
from decision_hooks.system.scratch import put
from decision_hooks.system.world import World

_DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "demo_data")
_SECONDS = 60.0
SESSION = "d0d0c0de-0000-4000-8000-000000000001"
KEY = "sk-ant-" + "api03-" + "Demo0" * 8  # of the form of a real one, and opens nothing
_KEPT = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "TMPDIR")
_PLAYER = """#!/bin/sh
# Stands in for claude: keeps the prompt that it is given, and plays the next recorded reply.
here=$(cd "$(dirname "$0")" && pwd)
for reply in "$here"/replies/*; do
  cat > "$here/prompts/$(basename "$reply")"
  cat "$reply"
  rm "$reply"
  exit 0
done
cat > /dev/null
echo "no recorded reply is left" >&2
exit 1
"""


class DemoFailed(DecisionHooksError):
    """A step did not do what it should; says which."""


class Stage(NamedTuple):
    """A temporary world in which our programs run, and the way its events are told."""

    world: World  # of the person: where the demo is told
    base: str
    root: str  # of the demo's project
    player: str  # folder of the stand-in, with its replies and the prompts it was given

    @property
    def adr(self) -> str:
        """The folder of drafts and records."""
        return os.path.join(self.root, "docs", "adr")

    @property
    def transcript(self) -> str:
        """The recorded session, where Claude Code would keep it."""
        return os.path.join(self.base, "home", ".claude", "projects", "-exchange", f"{SESSION}.jsonl")

    def reply(self, number: int, text: str) -> None:
        """Put a reply in the queue of the stand-in."""
        put(os.path.join(self.player, "replies", str(number)), text)

    def prompt(self, number: int) -> str:
        """The prompt that a reply was the answer to."""
        return files.read_text(os.path.join(self.player, "prompts", str(number))) or ""

    def heading(self, number: int, text: str) -> None:
        """Tell that an act begins."""
        self.world.out(f"{number}. {text}")

    def say(self, *lines: str) -> None:
        """Explain in plain words."""
        for line in ("", *(f"  {line}" for line in lines), ""):
            self.world.out(line)

    def show(self, *lines: str) -> None:
        """Show real output."""
        for line in lines:
            self.world.out(f"    {line}".rstrip())

    def call(self, program: str, *words: str, stdin: bytes = b"") -> None:
        """Run one of our programs and show what it says; ``DemoFailed`` when it fails."""
        self.show(" ".join(("$", program, *words)) + ("   (the event on its stdin)" if stdin else ""))
        entry = "capture_main" if program == "capture-decisions" else "normalize_main"
        code = f"import sys; from decision_hooks.cli import {entry} as main; sys.exit(main())"
        argv = [sys.executable, "-c", code, *words]
        result = process.run(argv, cwd=self.root, env=_environ(self), timeout=_SECONDS, stdin=stdin)
        self.show(*result.stdout.decode("utf-8", "replace").splitlines())
        if result.status != 0:
            said = shortened(result.stderr.decode("utf-8", "replace")[-300:], 300)
            raise DemoFailed(f"{program} {' '.join(words)} ended with {result.status}: {said}")


def build(world: World, base: str) -> Stage:
    """Set the stage in an empty folder: project, session, and the stand-in with its first reply."""
    stage = Stage(world, base, os.path.join(base, "exchange"), os.path.join(base, "bin"))
    files.make_folder(os.path.join(stage.player, "prompts"))
    put(os.path.join(stage.root, "rates.py"), "import sqlite3\n\nMAX_AGE = 3600\n")
    put(stage.transcript, data("session.jsonl", root=json.dumps(stage.root)[1:-1], key=KEY))
    put(os.path.join(stage.player, "claude"), _PLAYER, program=True)
    stage.reply(1, data("capture-reply.md"))
    return stage


def data(name: str, **values: str) -> str:
    """A recorded file with its places filled."""
    text = files.read_text(os.path.join(_DATA, name))
    if text is None:
        raise DemoFailed(f"the package lacks {name}")
    for project, value in values.items():
        text = text.replace("{{" + project + "}}", value)
    return text


def _environ(stage: Stage) -> dict[str, str]:
    """A world of its own: no home, no setting and no agent of the person's is in reach."""
    kept = {name: value for name, value in stage.world.environ.items() if name in _KEPT}
    return {
        **kept,
        "PATH": stage.player + os.pathsep + kept.get("PATH", os.defpath),
        "HOME": os.path.join(stage.base, "home"),
        "TZ": "UTC",
        "CLAUDE_PROJECT_DIR": stage.root,
        "CAPTURE_DECISIONS_BACKEND": "claude",
        "ADR_NORMALIZE_BACKEND": "claude",
        "ADR_LANGUAGE": "en",
    }
