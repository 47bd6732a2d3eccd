"""An inbox of drafts in a sandbox, and the batches that the tests of normalisation run on it."""

from __future__ import annotations

import json
from typing import Any

from support.adr_texts import block, draft, operations, record
from support.sandbox import Sandbox

ONE, TWO, THREE = "260304-0501-cache.md", "260304-0502-cache-again.md", "260304-0503-typo.md"
CLEAN = "260301-0900-queue.md"
CLAUDE = {"ADR_NORMALIZE_BACKEND": "claude", "ADR_LANGUAGE": "en"}
NOW = {**CLAUDE, "ADR_NORMALIZE_THRESHOLD": "1", "ADR_NORMALIZE_MIN_INTERVAL_HOURS": "0"}
# Of a fake agent: delete every draft that the prompt shows.
DELETE_ALL = """
import base64, json, re
shown = re.findall(r"^DATA-[0-9a-f]+ DRAFT (.+)$", base64.b64decode(call["stdin"]).decode(), re.M)
reply["stdout"] = json.dumps({"operations": [{"op": "delete", "file": f, "reason": "r"} for f in shown]})
"""


def fill(sandbox: Sandbox) -> None:
    """Three drafts, none of them tracked by git, and one record."""
    for number, name in enumerate((ONE, TWO, THREE), 1):
        session = f"5e551011-0000-4000-8000-00000000000{number}"
        sandbox.write(f"docs/adr/{name}", draft(f"Decision {number}", session=session))
    sandbox.write(f"docs/adr/{CLEAN}", record("Use a queue"))


def content(title: str = "Use SQLite") -> str:
    """The content of a rewrite, as a model gives it."""
    return (
        f"---\ntype: ADR\ntitle: {title}\ndescription: Embedded.\n---\n\n" + block(title).split("\n\n", 1)[1]
    )


def rewrite(file: str = ONE, slug: str = "price-cache", **over: Any) -> dict[str, Any]:
    """A lawful rewrite."""
    return {"op": "rewrite", "file": file, "slug": slug, "content": content(), **over}


def merge(file: str = TWO, target: str = CLEAN, **over: Any) -> dict[str, Any]:
    """A lawful merge."""
    return {"op": "merge-into", "file": file, "target": target, "additions": "The queue is bounded.", **over}


def delete(file: str = THREE, **over: Any) -> dict[str, Any]:
    """A lawful delete."""
    return {"op": "delete", "file": file, "reason": "a typo", **over}


def all_three() -> str:
    """A reply with one operation for each draft of ``fill``."""
    return operations(rewrite(), merge(), delete())


def fill_after_edit(sandbox: Sandbox, file: str) -> None:
    """The first draft, of a session that edited this file of the project alone."""
    call = {"type": "tool_use", "id": "t", "name": "Edit", "input": {"file_path": str(sandbox.root / file)}}
    row = {
        "type": "assistant",
        "uuid": "a",
        "timestamp": "2026-03-04T05:00:00Z",
        "cwd": str(sandbox.root),
        "message": {"role": "assistant", "content": [call]},
    }
    transcript = sandbox.home / ".claude/projects/p/s1.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text(json.dumps(row) + "\n")
    sandbox.write(f"docs/adr/{ONE}", draft(transcript="~/.claude/projects/*/s1.jsonl"))
