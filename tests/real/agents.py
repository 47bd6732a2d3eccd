"""Real agents in an isolated world: where they are, their environment, one session or call."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from support import programs
from support.guard import NODE, SAFE_PATH
from support.sandbox import Sandbox

PLACE = "DECISION_HOOKS_AGENTS"


class Said(NamedTuple):
    """What a real agent printed."""

    rc: int
    stdout: str
    stderr: str
    seconds: float


def program(name: str) -> str:
    """The path of a real agent; that it is not installed is a failure, never a reason to pass."""
    folder = os.environ.get(PLACE, "")
    assert folder, (
        f"{PLACE} must name the folder whose node_modules/.bin holds the agents; .ci/run installs them"
    )
    path = Path(folder, "node_modules", ".bin", name)
    assert path.exists(), f"{name} is not installed in the folder that {PLACE} names"
    return str(path)


def environment(sandbox: Sandbox, url: str, env: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """The world's environment with real agents, node and our scripts on the path; ``url`` is the model's."""
    assert NODE, "node is needed for the real agents"
    folder = str(Path(program("claude")).parent)
    path = (str(sandbox.bin), folder, str(Path(NODE).parent), str(programs.SCRIPTS), SAFE_PATH)
    real = {
        "PATH": ":".join(path),
        "IS_SANDBOX": "1",  # claude refuses some modes to root elsewhere
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return sandbox.environment({**real, **(env or {})})


def configure_pi(sandbox: Sandbox, url: str) -> str:
    """Give pi a model of its own on the server; the model's name."""
    provider = {
        "baseUrl": f"{url}/v1",
        "api": "openai-completions",
        "apiKey": "dummy",
        "models": [{"id": "tiny"}],
    }
    folder = sandbox.home / ".pi" / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "models.json").write_text(json.dumps({"providers": {"local": provider}}))
    return "local/tiny"


def call(
    sandbox: Sandbox,
    command: list[str],
    environ: Mapping[str, str],
    *,
    stdin: str = "",
    seconds: float = 90.0,
) -> Said:
    """Run a real agent once; ``command`` begins with its name."""
    full = [program(command[0]), *command[1:]]
    process = programs.start(full, environ=environ, cwd=sandbox.root)
    return Said(*programs.finish(process, stdin, seconds))


def claude_turn(
    sandbox: Sandbox, environ: Mapping[str, str], prompt: str, *, again: bool = False, seconds: float = 90.0
) -> Said:
    """One turn of a real ``claude -p`` session in the project; ``again`` goes on with the last session."""
    flags = ["-c"] if again else []
    command = ["claude", *flags, "-p", "--model", "sonnet", "--permission-mode", "acceptEdits", prompt]
    said = call(sandbox, command, environ, seconds=seconds)
    assert said.rc == 0, said
    return said
