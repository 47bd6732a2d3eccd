"""Sessions of Cursor as it stores them, and its stop payload."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from support.transcript import START, Transcript


class CursorSession(Transcript):
    """One transcript under ``~/.cursor/projects``: no ids, no results, no newline at the end."""

    def __init__(
        self, home: Path, cwd: Path, session_id: str = "668320d2-2fd8-4888-b33c-2a466fec0001", *,
        start: datetime = START,
    ) -> None:  # fmt: skip
        slug = str(cwd).strip("/").replace("/", "-")
        place = (
            home / ".cursor" / "projects" / slug / "agent-transcripts" / session_id / f"{session_id}.jsonl"
        )
        super().__init__(place, cwd, session_id, start=start)
        self.generation = 0

    def raw(self, line: dict[str, Any] | str | bytes) -> None:
        """Append one line; the file never ends with a newline."""
        if self.path.stat().st_size:
            with self.path.open("ab") as stream:
                stream.write(b"\n")
        super().raw(line)
        self.cut_newline()

    def user(self, text: str) -> None:
        """A prompt that the person typed, in Cursor's wrapping."""
        self.generation += 1
        self.tick(60)
        time = f"{self.now:%A, %B %d, %Y, %I:%M %p} (UTC+0)"
        shown = f"<timestamp>{time}</timestamp>\n<user_query>\n{text}\n</user_query>"
        self.raw({"role": "user", "message": {"content": [{"type": "text", "text": shown}]}})

    def assistant(self, text: str) -> None:
        """A text of the model."""
        self.last_message = text
        self.raw({"role": "assistant", "message": {"content": [{"type": "text", "text": text}]}})

    def tool(self, name: str, arguments: Any) -> None:
        """A tool call; Cursor stores no results."""
        block = {"type": "tool_use", "name": name, "input": arguments}
        self.raw({"role": "assistant", "message": {"content": [block]}})

    def edit(self, path: Path | str, *, old: str = "a = 1", new: str = "a = 2") -> None:
        """A StrReplace of a file."""
        self.tool("StrReplace", {"path": str(path), "old_string": old, "new_string": new})

    def write(self, path: Path | str, content: str = "x\n") -> None:
        """A Write of a file."""
        self.tool("Write", {"path": str(path), "contents": content})

    def patch(self, path: Path | str, line: str = "x") -> None:
        """An ApplyPatch, whose input is one string."""
        self.tool("ApplyPatch", f"*** Begin Patch\n*** Add File: {path}\n+{line}\n*** End Patch")

    def ended(self, status: str = "completed") -> None:
        """The line at the end of a turn."""
        self.raw({"type": "turn_ended", "status": status})

    def payload(self, **over: Any) -> dict[str, Any]:
        """The stop payload of the last turn: no session id, no cwd."""
        return {
            "conversation_id": self.session_id,
            "generation_id": f"490b90b7-a2ce-4c2c-bb76-{self.generation:012d}",
            "model": "claude-sonnet-4",
            "hook_event_name": "stop",
            "cursor_version": "2.4.0",
            "workspace_roots": [str(self.cwd)],
            "user_email": None,
            "transcript_path": str(self.path),
            "status": "completed",
            "loop_count": 0,
            **over,
        }
