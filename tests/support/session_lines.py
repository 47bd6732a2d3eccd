"""Lines of transcripts for tests: the smallest records that have each host's shape."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from decision_hooks.sessions.model import Session

SAMPLES = Path(__file__).parent.parent / "data" / "transcripts"


def sample(name: str) -> list[bytes]:
    """The lines of a sample file."""
    return (SAMPLES / name).read_bytes().split(b"\n")


def line(record: object) -> bytes:
    """A record as a line."""
    return json.dumps(record).encode()


class Claude:
    """Builds the lines of a Claude Code session; each record is the child of the one before it."""

    def __init__(self, cwd: str = "/home/dev/app") -> None:
        self.lines: list[bytes] = []
        self.cwd = cwd
        self.last: str | None = None
        self._numbers = itertools.count(1)

    def record(self, kind: str, content: object, *, parent: object = "last", **fields: object) -> str:
        """Add a record and return its uuid."""
        number = next(self._numbers)
        uuid = f"record-{number}"
        record = {
            "parentUuid": self.last if parent == "last" else parent,
            "isSidechain": False,
            "type": kind,
            "message": {"role": kind, "content": content},
            "uuid": uuid,
            "timestamp": f"2026-11-30T10:{number // 60:02}:{number % 60:02}.000Z",
            "cwd": self.cwd,
            **fields,
        }
        self.lines.append(line(record))
        self.last = uuid
        return uuid

    def user(self, content: object, **fields: object) -> str:
        """Add a user record."""
        return self.record("user", content, **fields)

    def says(self, text: str, **fields: object) -> str:
        """Add text of the model."""
        return self.record("assistant", [{"type": "text", "text": text}], **fields)

    def calls(self, name: str, value: object, *, call: str = "call-1") -> str:
        """Add a tool call."""
        return self.record("assistant", [{"type": "tool_use", "id": call, "name": name, "input": value}])

    def result(self, content: object, *, call: str = "call-1", error: bool = False, **fields: object) -> str:
        """Add a tool result."""
        block = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": error}
        return self.user([block], **fields)

    def queue(self, operation: str, content: str | None = None) -> None:
        """Add a queue operation."""
        record = {"type": "queue-operation", "operation": operation, "sessionId": "s", "content": content}
        self.lines.append(line({key: value for key, value in record.items() if value is not None}))

    def attachment(self, **attachment: object) -> None:
        """Add an attachment."""
        record = {"type": "attachment", "uuid": f"attachment-{next(self._numbers)}", "parentUuid": self.last}
        self.lines.append(line({**record, "attachment": attachment}))


def texts(session: Session, *kinds: str) -> list[str]:
    """What the entries of some kinds say."""
    return [entry.text for entry in session.entries if entry.kind in kinds]
