"""Sessions of pi as it stores them (version 3), and the payload of its extension."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from support.transcript import START, Transcript


class PiSession(Transcript):
    """One session file under ``~/.pi/agent/sessions``."""

    def __init__(
        self, home: Path, cwd: Path, session_id: str = "01a22a64-20a4-7234-949a-194194277001", *,
        start: datetime = START,
    ) -> None:  # fmt: skip
        slug = "--" + str(cwd).strip("/").replace("/", "-") + "--"
        name = f"{start:%Y-%m-%dT%H-%M-%S}-000Z_{session_id}.jsonl"
        super().__init__(home / ".pi" / "agent" / "sessions" / slug / name, cwd, session_id, start=start)
        self.parent: str | None = None
        self._calls = 0
        head = {"type": "session", "version": 3, "id": session_id, "timestamp": self.tick(), "cwd": str(cwd)}
        self.raw(head)

    def entry(self, kind: str, **fields: Any) -> str:
        """Append an entry of the tree; its id."""
        short = self.new_id()[:8]
        self.raw({"type": kind, "id": short, "parentId": self.parent, "timestamp": self.tick(), **fields})
        self.parent = short
        return short

    def user(self, text: str) -> str:
        """A prompt that the person typed."""
        return self._message({"role": "user", "content": [{"type": "text", "text": text}]})

    def assistant(self, text: str) -> str:
        """A text of the model."""
        self.last_message = text
        return self._say([{"type": "text", "text": text}], "stop")

    def tool(self, name: str, arguments: Any, result: str = "ok", *, ok: bool = True) -> str:
        """A tool call with its result; the call's id."""
        self._calls += 1
        call = f"call_{self._calls}"
        self._say([{"type": "toolCall", "id": call, "name": name, "arguments": arguments}], "toolUse")
        content = [{"type": "text", "text": result}]
        self._message(
            {
                "role": "toolResult",
                "toolCallId": call,
                "toolName": name,
                "content": content,
                "isError": not ok,
            }
        )
        return call

    def edit(self, path: Path | str, *, old: str = "a = 1", new: str = "a = 2", ok: bool = True) -> str:
        """An edit of a file; pi keeps relative paths as the model gave them."""
        arguments = {"path": str(path), "edits": [{"oldText": old, "newText": new}]}
        return self.tool("edit", arguments, f"Successfully replaced 1 block(s) in {path}.", ok=ok)

    def write(self, path: Path | str, content: str = "x\n", *, ok: bool = True) -> str:
        """A write of a file."""
        return self.tool(
            "write", {"path": str(path), "content": content}, f"Successfully wrote to {path}", ok=ok
        )

    def payload(self, **over: Any) -> dict[str, Any]:
        """The payload that an extension gives at the end of a prompt."""
        return {
            "session_id": self.session_id,
            "transcript_path": str(self.path),
            "cwd": str(self.cwd),
            "hook_event_name": "Stop",
            **over,
        }

    def _say(self, content: list[dict[str, Any]], reason: str) -> str:
        return self._message(
            {
                "role": "assistant",
                "content": content,
                "api": "openai-completions",
                "provider": "local",
                "model": "tiny",
                "usage": {"input": 5, "output": 5, "totalTokens": 10},
                "stopReason": reason,
            }
        )

    def _message(self, message: dict[str, Any]) -> str:
        return self.entry("message", message={**message, "timestamp": self.milliseconds()})
