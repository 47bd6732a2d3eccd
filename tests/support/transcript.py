"""The common part of the made-up sessions: a growing file, the same ids and times each run."""

from __future__ import annotations

import json
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

START = datetime(2026, 3, 4, 5, 6, 7, tzinfo=timezone.utc)


class Transcript:
    """A JSONL file of one session; every call of a host's method appends what that host would write."""

    def __init__(self, path: Path, cwd: Path, session_id: str, *, start: datetime = START) -> None:
        self.path = path
        self.cwd = cwd
        self.session_id = session_id
        self.now = start
        self.last_message = ""
        self._count = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def raw(self, line: dict[str, Any] | str | bytes) -> None:
        """Append one line: a record, or text or bytes as they are."""
        if isinstance(line, dict):
            line = json.dumps(line)
        data = line if isinstance(line, bytes) else line.encode("utf-8", "surrogatepass")
        with self.path.open("ab") as stream:
            stream.write(data + b"\n")

    def cut_newline(self) -> None:
        """Take the last newline away, as most stored files lack it."""
        self.path.write_bytes(self.path.read_bytes().rstrip(b"\n"))

    def tick(self, seconds: float = 1.0) -> str:
        """Move the session's clock on; the new time as the hosts write it."""
        self.now += timedelta(seconds=seconds)
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.now.microsecond // 1000:03d}Z"

    def new_id(self) -> str:
        """The next id: unique in the session, the same each run."""
        self._count += 1
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.session_id}/{self._count}"))

    def milliseconds(self) -> int:
        """The session's clock in milliseconds since the epoch."""
        return int(self.now.timestamp() * 1000)
