"""``capture-decisions demo``: a decision from the session to the record and back, offline, in a temporary folder.

Only the model is replaced: the programs run as an agent would run them, and a small script in place of ``claude``
prints recorded replies.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from decision_hooks.commands.demo.stage import KEY, SESSION, DemoFailed, Stage, build, data, temporary_folder
from decision_hooks.commands.options import parser
from decision_hooks.commands.report import shortened
from decision_hooks.system import adr_folder, files
from decision_hooks.system.world import World


def run(argv: Sequence[str], world: World) -> int:
    """Run each step and explain it; returns 0 and touches nothing outside its temporary folder."""
    parse = parser(world, argv, "See it all work in a temporary folder, offline.")
    parse.add_argument("--keep", action="store_true", help="leave the folder, and say where it is")
    options = parse.parse_args(list(argv[1:]))
    with temporary_folder("decision-hooks-demo-", keep=options.keep) as base:
        stage = build(world, base)
        for step in (_stop, _drafts, _normalize, _record, _undo, _status):
            step(stage)
            world.out("")
    if options.keep:
        world.out(f"The folder is left at {base}")
    else:
        world.out(
            "The temporary folder is gone; nothing else was touched. With --keep it stays for you to look at."
        )
    world.out("To begin in a project of your own: capture-decisions install")
    return 0


# -- the steps


def _stop(stage: Stage) -> None:
    stage.heading(1, "An agent has finished a turn")
    stage.say(
        "You asked for a cache, chose SQLite out of two options, and said when cached rates expire.",
        "The agent writes its transcript as always and calls its Stop hook:",
    )
    payload = {
        "session_id": SESSION,
        "transcript_path": stage.transcript,
        "cwd": stage.root,
        "hook_event_name": "Stop",
    }
    stage.call("capture-decisions", stdin=json.dumps(payload).encode())
    stage.say("The hook prints nothing to the agent. Its log says what it did:")
    stage.show(*_log(stage))
    prompt = stage.prompt(1)
    stage.say(
        f"A model (here a recording) got a prompt of {len(prompt):,} characters. The key that you had typed",
        "by mistake did not leave the machine; the model saw this:",
    )
    line = next((line for line in prompt.splitlines() if "My key is" in line), "")
    if not line:
        raise DemoFailed("the hook called no model")
    if KEY in prompt:
        raise DemoFailed("the demo's secret was not masked")
    stage.show(shortened(line[line.find("My key is") :], 100))


def _drafts(stage: Stage) -> None:
    stage.heading(2, "Two decisions, two drafts")
    names = adr_folder.Snapshot(stage.adr).drafts
    if len(names) != 2:
        raise DemoFailed(f"{len(names)} drafts were written instead of 2")
    stage.say("Each decision is a draft in docs/adr. Read it, change it, or throw it away:")
    for name in names:
        stage.show(f"docs/adr/{name}")
    stage.say(
        "The second draft. Claims of the model that the session does not support are listed as unverified",
        "(the recorded reply says 40 ms, but nobody had measured anything):",
    )
    stage.show(*_text(stage, names[1]))


def _normalize(stage: Stage) -> None:
    first, second = adr_folder.Snapshot(stage.adr).drafts
    stage.reply(2, data("normalize-reply.json", draft_1=first, draft_2=second))
    stage.heading(3, "Drafts become records")
    stage.say(
        "A hook does this once 30 drafts wait; you can do it at any time. The model proposes operations,",
        "the program checks them together and applies only valid ones. It never writes to git.",
    )
    stage.call("normalize-decisions", "run")


def _record(stage: Stage) -> None:
    stage.heading(4, "The record")
    listing = adr_folder.Snapshot(stage.adr)
    if listing.drafts or len(listing.records) != 1:
        raise DemoFailed(
            f"{len(listing.records)} records and {len(listing.drafts)} drafts instead of one record"
        )
    stage.say(f"The folder now has docs/adr/{listing.records[0]}:")
    stage.show(*_text(stage, listing.records[0]))


def _undo(stage: Stage) -> None:
    stage.heading(5, "Undo")
    stage.say("If you do not like the result, undo restores every file, the drafts included:")
    stage.call("normalize-decisions", "undo")
    if len(adr_folder.Snapshot(stage.adr).drafts) != 2:
        raise DemoFailed("undo did not bring the drafts back")


def _status(stage: Stage) -> None:
    stage.heading(6, "Status")
    stage.say("One screen shows what waits, what was done, and what the calls have cost:")
    stage.call("capture-decisions", "status")


def _log(stage: Stage) -> list[str]:
    text = files.read_text(os.path.join(stage.root, ".claude", "hooks", "capture-decisions.log"))
    if not text:
        raise DemoFailed("the hook left no line in its log")
    return [line.replace(stage.root + "/", "") for line in text.splitlines()]


def _text(stage: Stage, name: str) -> list[str]:
    stored = adr_folder.read(stage.adr, name)
    return [f"| {line}" for line in (stored.text if stored else "").splitlines()]
