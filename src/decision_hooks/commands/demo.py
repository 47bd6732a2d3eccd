"""``capture-decisions demo``: the whole way of a decision, in a temporary folder, offline, with recorded replies.

Nothing is simulated but the model: the installed programs run as an agent would run them, with a small
script in place of ``claude`` that plays the replies.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from decision_hooks.commands.place import parser
from decision_hooks.commands.report import shortened
from decision_hooks.errors import DecisionHooksError
from decision_hooks.system import adr_folder, files, process
from decision_hooks.system.scratch import put, scratch_folder
from decision_hooks.system.world import World

_DATA = os.path.join(os.path.dirname(os.path.dirname(__file__)), "demo_data")
_SECONDS = 60.0
_SESSION = "d0d0c0de-0000-4000-8000-000000000001"
_TRANSCRIPT = f"home/.claude/projects/-exchange/{_SESSION}.jsonl"
_KEY = "sk-ant-" + "api03-" + "Demo0" * 8  # of the form of a real one, and opens nothing
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


class _Stage(NamedTuple):
    world: World
    base: str
    root: str
    player: str  # folder of the stand-in, with its replies and the prompts it was given
    show: Callable[[str], None]

    @property
    def adr(self) -> str:
        return os.path.join(self.root, "docs", "adr")


def run(argv: Sequence[str], world: World) -> int:
    """Play the story and explain each step: 0; touches nothing outside of its temporary folder."""
    parse = parser(world, argv, "See it all work in a temporary folder, offline.")
    parse.add_argument("--keep", action="store_true", help="leave the folder, and say where it is")
    options = parse.parse_args(list(argv[1:]))
    with scratch_folder("decision-hooks-demo-", keep=options.keep) as base:
        stage = _build(world, base)
        for act in (_stop, _drafts, _normalize, _record, _undo, _sum):
            act(stage)
        world.out("")
        if options.keep:
            world.out(f"The folder is left at {base}")
        else:
            world.out(
                "The temporary folder is gone; nothing else was touched. --keep leaves it for you to look at."
            )
        world.out("To begin in a project of your own: capture-decisions install")
    return 0


def _build(world: World, base: str) -> _Stage:
    root, player = os.path.join(base, "exchange"), os.path.join(base, "bin")
    for folder in (os.path.join(base, "home"), os.path.join(player, "prompts")):
        files.make_folder(folder)
    put(os.path.join(root, "rates.py"), "import sqlite3\n\nMAX_AGE = 3600\n")
    session = _data("session.jsonl", root=json.dumps(root)[1:-1], key=_KEY)
    put(os.path.join(base, _TRANSCRIPT), session)
    put(os.path.join(player, "replies", "1"), _data("capture-reply.md"))
    put(os.path.join(player, "claude"), _PLAYER, program=True)
    return _Stage(world, base, root, player, lambda line: world.out(f"    {line}".rstrip()))


# -- the acts


def _stop(stage: _Stage) -> None:
    _heading(stage, 1, "An agent has finished a turn")
    _say(
        stage,
        "You asked for a cache, chose SQLite out of two options, and said when cached rates expire.",
        "The agent writes the session down as it always does, and calls its Stop hook:",
    )
    payload = {
        "session_id": _SESSION,
        "transcript_path": os.path.join(stage.base, _TRANSCRIPT),
        "cwd": stage.root,
        "hook_event_name": "Stop",
    }
    _call(stage, "capture-decisions", (), json.dumps(payload).encode())
    _say(stage, "The hook says nothing to the agent. What it did is in its log:")
    _lines(stage, os.path.join(stage.root, ".claude", "hooks", "capture-decisions.log"))
    prompt = files.read_text(os.path.join(stage.player, "prompts", "1")) or ""
    _say(
        stage,
        f"A model (here: a recording) was given a prompt of {len(prompt):,} characters. The key that you",
        "had typed by mistake did not leave the machine; this is what the model saw of it:",
    )
    line = next((line for line in prompt.splitlines() if "My key is" in line), "")
    if not line:
        raise DemoFailed("the hook gave the session to no model")
    if _KEY in prompt:
        raise DemoFailed("the demo's secret was not masked")
    stage.show(shortened(line[line.find("My key is") :], 100))


def _drafts(stage: _Stage) -> None:
    _heading(stage, 2, "Two decisions, two drafts")
    names = adr_folder.listing(stage.adr).drafts
    if len(names) != 2:
        raise DemoFailed(f"{len(names)} drafts were written instead of 2")
    _say(stage, "Each decision is a draft of its own in docs/adr, to be read, changed or thrown away by you:")
    for name in names:
        stage.show(f"docs/adr/{name}")
    _say(
        stage,
        "The second one. What the model claims and the session does not bear out is listed as unverified",
        "(the recorded reply speaks of 40 ms; nobody had measured anything):",
    )
    _text(stage, names[1])


def _normalize(stage: _Stage) -> None:
    first, second = adr_folder.listing(stage.adr).drafts
    put(
        os.path.join(stage.player, "replies", "2"),
        _data("normalize-reply.json", draft_1=first, draft_2=second),
    )
    _heading(stage, 3, "Drafts become records")
    _say(
        stage,
        "At 30 drafts a hook does this by itself; by hand it can be done at any time. The model proposes",
        "operations, the program checks them as a whole and applies only what is lawful. Git is never written to.",
    )
    _call(stage, "normalize-decisions", ("run",))


def _record(stage: _Stage) -> None:
    _heading(stage, 4, "The record")
    listing = adr_folder.listing(stage.adr)
    if listing.drafts or len(listing.records) != 1:
        raise DemoFailed(
            f"{len(listing.records)} records and {len(listing.drafts)} drafts instead of one record"
        )
    _say(stage, f"The folder now holds docs/adr/{listing.records[0]}:")
    _text(stage, listing.records[0])


def _undo(stage: _Stage) -> None:
    _heading(stage, 5, "All of it taken back")
    _say(stage, "If you do not like what you see: every file as it was, the drafts included.")
    _call(stage, "normalize-decisions", ("undo",))
    if len(adr_folder.listing(stage.adr).drafts) != 2:
        raise DemoFailed("undo did not bring the drafts back")


def _sum(stage: _Stage) -> None:
    _heading(stage, 6, "What it all came to")
    _say(stage, "One screen tells what waits, what was done, and what the calls have cost:")
    _call(stage, "capture-decisions", ("status",))


# -- running and showing


def _call(stage: _Stage, program: str, words: Iterable[str], stdin: bytes = b"") -> None:
    """Run one of our programs in the demo's world and show what it says; a failure ends the demo."""
    given = "   (the event on its stdin)" if stdin else ""
    stage.show(f"$ {' '.join([program, *words])}{given}")
    entry = "capture_main" if program == "capture-decisions" else "normalize_main"
    code = f"import sys; from decision_hooks.cli import {entry} as main; sys.exit(main())"
    result = process.run(
        [sys.executable, "-c", code, *words],
        cwd=stage.root,
        env=_environ(stage),
        timeout=_SECONDS,
        stdin=stdin,
    )
    for line in result.stdout.decode("utf-8", "replace").splitlines():
        stage.show(line)
    if result.status != 0:
        said = shortened(result.stderr.decode("utf-8", "replace")[-300:], 300)
        raise DemoFailed(f"{program} {' '.join(words)} ended with {result.status}: {said}")


def _environ(stage: _Stage) -> dict[str, str]:
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


def _heading(stage: _Stage, number: int, text: str) -> None:
    stage.world.out(f"{'' if number == 1 else chr(10)}{number}. {text}")


def _say(stage: _Stage, *lines: str) -> None:
    stage.world.out("")
    for line in lines:
        stage.world.out(f"  {line}")
    stage.world.out("")


def _lines(stage: _Stage, path: str) -> None:
    text = files.read_text(path)
    if not text:
        raise DemoFailed("the hook left no line in its log")
    for line in text.splitlines():
        stage.show(line.replace(stage.root + "/", ""))


def _text(stage: _Stage, name: str) -> None:
    stored = adr_folder.read(stage.adr, name)
    for line in (stored.text if stored else "").splitlines():
        stage.show(f"| {line}")


def _data(name: str, **values: str) -> str:
    """A recorded file with its places filled."""
    text = files.read_text(os.path.join(_DATA, name))
    if text is None:
        raise DemoFailed(f"the package lacks {name}")
    for place, value in values.items():
        text = text.replace("{{" + place + "}}", value)
    return text
