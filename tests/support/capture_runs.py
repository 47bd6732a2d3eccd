"""What the tests of ``capture-decisions`` share: sessions with turns, a ready backend, looks into the state."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from support import programs
from support.adr_texts import block
from support.agents import FakeAgent
from support.claude_session import ClaudeSession
from support.sandbox import CAPTURE, Sandbox

MODEL = "tiny-model"
OTHER_ID = "5e551011-0000-4000-8000-00000000000"


def ready(sandbox: Sandbox) -> FakeAgent:
    """A world with ``pi`` and its model set; the fake comes back without any reply."""
    sandbox.environ["N_LOCAL_MIN_MODEL"] = MODEL
    return sandbox.fake("pi")


def session(sandbox: Sandbox, number: int = 1, *, turns: int = 1) -> ClaudeSession:
    """The number-th session of Claude Code in the project, with so many turns."""
    made = ClaudeSession(sandbox.home, sandbox.root, f"{OTHER_ID}{number}")
    for turn_number in range(1, turns + 1):
        turn(made, turn_number)
    return made


def turn(made: ClaudeSession, number: int = 1) -> None:
    """One turn: a request, an edit in the project, an answer; each with its number in it."""
    made.user(f"request {number} of {made.session_id[-1]}")
    made.edit(made.cwd / "src" / f"module{number}.py")
    made.assistant(f"answer {number} of {made.session_id[-1]}")


def decision(number: int = 1) -> str:
    """A reply with one decision of that number."""
    return block(f"Decision {number}", outcome=f'Chosen option: "Number {number}", because it was asked for.')


def capture_at_once(sandbox: Sandbox, payload: dict[str, Any], *, env: dict[str, str] | None = None) -> None:
    """Capture without the two seconds in which the transcript may catch up with the last message."""
    code = (
        "import sys; from decision_hooks import cli; from decision_hooks.capture import part\n"
        "part._LAG = 0.0; sys.argv = ['capture-decisions']; sys.exit(cli.capture_main())"
    )
    command = [sys.executable, "-c", code]
    process = programs.start(command, environ=sandbox.environment(env), cwd=sandbox.root)
    assert programs.finish(process, payload, 30)[:3] == (0, "", "")
    sandbox.settle()


def at_clock(
    sandbox: Sandbox, program: str, payload: dict[str, Any] | None, ahead: float, *arguments: str
) -> None:
    """Run a program that sees a clock so many seconds ahead (or behind); that of the file system stays right."""
    code = (
        "import sys, time; real, ahead = time.time, float(sys.argv[1])\n"
        "time.time = lambda: real() + ahead\n"
        "from decision_hooks import cli\n"
        "program, sys.argv = sys.argv[2], sys.argv[2:]\n"
        "sys.exit(cli.capture_main() if program.startswith('capture') else cli.normalize_main())"
    )
    command = [sys.executable, "-c", code, str(ahead), program, *arguments]
    process = programs.start(command, environ=sandbox.environment(), cwd=sandbox.root)
    rc, _, err, _ = programs.finish(process, payload, 30)
    assert (rc, err) == (0, "")
    sandbox.settle()


def stems(sandbox: Sandbox) -> list[str]:
    """Names of the drafts without time and suffix."""
    return sorted(name[len("YYMMDD-HHMM-") : -len(".md")] for name in sandbox.drafts())


def front_matter(text: str) -> dict[str, Any]:
    """The front matter of a draft, every value as text."""
    loaded = yaml.load(text.split("---\n")[1], Loader=yaml.BaseLoader)
    assert isinstance(loaded, dict)
    return loaded


def transcript_of(prompt: str) -> str:
    """What a prompt says between its two boundaries."""
    lines = prompt.split("\n")
    fences = [at for at, line in enumerate(lines) if line.startswith("DATA-")]
    assert len(fences) == 2, "the transcript is not fenced by one boundary at each end"
    assert lines[fences[0]] == lines[fences[1]]
    return "\n".join(lines[fences[0] + 1 : fences[1]])


def part_of(prompt: str) -> str:
    """The part of a prompt without the context that was judged already."""
    return transcript_of(prompt).rpartition("[end of context]")[2]


def pending(sandbox: Sandbox) -> list[dict[str, Any]]:
    """The parts that wait."""
    return _json_files(sandbox.own_state / "pending")


def positions(sandbox: Sandbox) -> list[dict[str, Any]]:
    """How far each transcript has been captured."""
    return _json_files(sandbox.own_state / "positions")


def edit_state(sandbox: Sandbox, kind: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Change each stored value of a kind in place."""
    for path in sorted((sandbox.own_state / kind).glob("*.json")):
        value = json.loads(path.read_text())
        change(value)
        path.write_text(json.dumps(value))


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.02)


def log(sandbox: Sandbox) -> str:
    """The log of capture without the time stamps."""
    return "\n".join(line.partition(" ")[2] for line in sandbox.log(CAPTURE).splitlines())


def _json_files(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
