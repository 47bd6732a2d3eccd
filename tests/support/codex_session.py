"""Sessions of Codex as it stores them (0.171), and its Stop payload."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from support.transcript import START, Transcript


class CodexSession(Transcript):
    """One rollout file under ``~/.codex/sessions``; each message stands in it twice."""

    def __init__(
        self, home: Path, cwd: Path, session_id: str = "01a22a71-dd16-7c32-bcd5-9d1a13ec0001", *,
        start: datetime = START,
    ) -> None:  # fmt: skip
        name = f"rollout-{start:%Y-%m-%dT%H-%M-%S}-{session_id}.jsonl"
        super().__init__(
            home / ".codex" / "sessions" / f"{start:%Y/%m/%d}" / name, cwd, session_id, start=start
        )
        self._ordinal = 0
        self._calls = 0
        self.turn_id = self.new_id()
        self.line(
            "session_meta",
            {"id": session_id, "session_id": session_id, "cwd": str(cwd), "cli_version": "0.171.0"},
        )
        environment = (
            f"<environment_context>\n  <cwd>{cwd}</cwd>\n  <shell>bash</shell>\n</environment_context>"
        )
        self._item(
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": environment}]}
        )
        self.line("turn_context", {"turn_id": self.turn_id, "cwd": str(cwd), "model": "gpt-5.5"})

    def line(self, kind: str, payload: dict[str, Any]) -> None:
        """Append a line of a kind."""
        self.raw({"timestamp": self.tick(), "ordinal": self._ordinal, "type": kind, "payload": payload})
        self._ordinal += 1

    def user(self, text: str) -> None:
        """A prompt that the person typed."""
        self.turn_id = self.new_id()
        self._item({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
        self._done({"type": "UserMessage", "content": [{"type": "text", "text": text, "text_elements": []}]})

    def assistant(self, text: str) -> None:
        """A text of the model."""
        self.last_message = text
        self._done({"type": "AgentMessage", "content": [{"type": "Text", "text": text}]})
        self._item(
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        )

    def patch(self, path: Path | str, line: str = "x", *, ok: bool = True) -> None:
        """An apply_patch that adds a file: done, or failed."""
        self._calls += 1
        call = f"call_{self._calls}"
        text = f"*** Begin Patch\n*** Add File: {path}\n+{line}\n*** End Patch\n"
        self._item(
            {
                "type": "custom_tool_call",
                "status": "completed",
                "call_id": call,
                "name": "apply_patch",
                "input": text,
            }
        )
        changes = {str(self.cwd / path): {"type": "add", "content": f"{line}\n"}}
        status = "completed" if ok else "failed"
        self._done({"type": "FileChange", "id": call, "changes": changes, "status": status})
        said = f"Success. Updated the following files:\nA {path}" if ok else "Failed to apply"
        output = f"Exit code: {0 if ok else 1}\nWall time: 0 seconds\nOutput:\n{said}\n"
        self._item({"type": "custom_tool_call_output", "call_id": call, "output": output})

    edit = write = patch

    def payload(self, **over: Any) -> dict[str, Any]:
        """The Stop payload of the last turn."""
        return {
            "session_id": self.session_id,
            "turn_id": self.turn_id,
            "transcript_path": str(self.path),
            "cwd": str(self.cwd),
            "hook_event_name": "Stop",
            "model": "gpt-5.5",
            "permission_mode": "default",
            "stop_hook_active": False,
            "last_assistant_message": self.last_message,
            **over,
        }

    def _item(self, item: dict[str, Any]) -> None:
        self.line("response_item", item)

    def _done(self, item: dict[str, Any]) -> None:
        done = {"type": "item_completed", "thread_id": self.session_id, "turn_id": self.turn_id, "item": item}
        self.line("event_msg", done)
