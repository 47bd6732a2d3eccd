"""The stage of the demo: a project, a recorded session, recorded replies, and a way to run our programs there."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from decision_hooks.commands.report import shortened
from decision_hooks.errors import DecisionHooksError
from decision_hooks.system import files, process
from decision_hooks.system.world import World

_DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "demo_data")
_SECONDS = 60.0
SESSION = "d0d0c0de-0000-4000-8000-000000000001"
KEY = "sk-ant-" + "api03-" + "Demo0" * 8  # has the form of a real key, and is none
_KEPT = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "TMPDIR")
_PLAYER = """#!/bin/sh
# A fake claude: keeps the prompt that it gets and prints the next recorded reply.
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
    """A step of the demo went wrong; says which."""


class Stage(NamedTuple):
    """A temporary project in which our programs run, and the terminal that shows it."""

    world: World  # of the person who watches
    base: str
    root: str  # of the demo's project
    player: str  # folder of the fake ``claude``, with its replies and the prompts that it got

    @property
    def adr(self) -> str:
        """The folder of drafts and records."""
        return os.path.join(self.root, "docs", "adr")

    @property
    def transcript(self) -> str:
        """The recorded session, where Claude Code would keep it."""
        return os.path.join(self.base, "home", ".claude", "projects", "-exchange", f"{SESSION}.jsonl")

    def reply(self, number: int, text: str) -> None:
        """Queue a reply of the fake ``claude``."""
        put(os.path.join(self.player, "replies", str(number)), text)

    def prompt(self, number: int) -> str:
        """The prompt that a reply answered."""
        return files.read_text(os.path.join(self.player, "prompts", str(number))) or ""

    def heading(self, number: int, text: str) -> None:
        """Print the heading of a step."""
        self.world.out(f"{number}. {text}")

    def say(self, *lines: str) -> None:
        """Print an explanation."""
        for line in ("", *(f"  {line}" for line in lines), ""):
            self.world.out(line)

    def show(self, *lines: str) -> None:
        """Print real output, indented."""
        for line in lines:
            self.world.out(f"    {line}".rstrip())

    def call(self, program: str, *words: str, stdin: bytes = b"") -> None:
        """Run one of our programs and show its output; ``DemoFailed`` when it fails."""
        self.show(" ".join(("$", program, *words)) + ("   (the event on its stdin)" if stdin else ""))
        entry = "capture_main" if program == "capture-decisions" else "normalize_main"
        code = f"import sys; from decision_hooks.cli import {entry} as main; sys.exit(main())"
        argv = [sys.executable, "-c", code, *words]
        result = process.run(argv, cwd=self.root, env=_environ(self), timeout=_SECONDS, stdin=stdin)
        self.show(*result.stdout.decode("utf-8", "replace").splitlines())
        if result.status != 0:
            said = shortened(result.stderr.decode("utf-8", "replace")[-300:], 300)
            raise DemoFailed(f"{program} {' '.join(words)} ended with {result.status}: {said}")


@contextmanager
def temporary_folder(prefix: str, *, keep: bool) -> Iterator[str]:
    """A new private folder, its path resolved; removed at the end unless it is kept."""
    import tempfile

    if keep:
        yield os.path.realpath(tempfile.mkdtemp(prefix=prefix))
        return
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
        yield os.path.realpath(folder)


def put(path: str, text: str, mode: int = 0o644) -> None:
    """Write a text file and the folders above it."""
    files.make_folder(os.path.dirname(path))
    files.write_atomic(path, text.encode("utf-8", "replace"), mode=mode)


def build(world: World, base: str) -> Stage:
    """Write the project, the session, and the fake ``claude`` with its first reply into an empty folder."""
    stage = Stage(world, base, os.path.join(base, "exchange"), os.path.join(base, "bin"))
    files.make_folder(os.path.join(stage.player, "prompts"))
    put(os.path.join(stage.root, "rates.py"), "import sqlite3\n\nMAX_AGE = 3600\n")
    put(stage.transcript, data("session.jsonl", root=json.dumps(stage.root)[1:-1], key=KEY))
    put(os.path.join(stage.player, "claude"), _PLAYER, mode=0o755)
    stage.reply(1, data("capture-reply.md"))
    return stage


def data(name: str, **values: str) -> str:
    """A recorded file with its placeholders filled."""
    text = files.read_text(os.path.join(_DATA, name), follow=True)
    if text is None:
        raise DemoFailed(f"the package lacks {name}")
    for placeholder, value in values.items():
        text = text.replace("{{" + placeholder + "}}", value)
    return text


def _environ(stage: Stage) -> dict[str, str]:
    """An environment that reaches no home, setting or agent of the person."""
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
