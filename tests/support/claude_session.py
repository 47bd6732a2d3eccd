"""Sessions of Claude Code as it stores them, and its Stop payload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from support.transcript import START, Transcript

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file "
    "edit, the new_string was NOT written to the file). "
)


class ClaudeSession(Transcript):
    """One session file under ``~/.claude/projects``."""

    def __init__(
        self, home: Path, cwd: Path, session_id: str = "5e551011-0000-4000-8000-000000000001", *,
        start: datetime = START, path: Path | None = None,
    ) -> None:  # fmt: skip
        slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(cwd))
        place = path or home / ".claude" / "projects" / slug / f"{session_id}.jsonl"
        super().__init__(place, cwd, session_id, start=start)
        self.parent: str | None = None
        self._tools = 0

    def record(self, kind: str, fields: Mapping[str, Any]) -> str:
        """Append a record of the conversation's chain; its uuid."""
        uuid = self.new_id()
        self.raw(
            {
                "parentUuid": self.parent,
                "isSidechain": False,
                "type": kind,
                **fields,
                "uuid": uuid,
                "timestamp": self.tick(),
                "userType": "external",
                "entrypoint": "cli",
                "cwd": str(self.cwd),
                "sessionId": self.session_id,
                "version": "2.1.332",
                "gitBranch": "main",
            }
        )
        self.parent = uuid
        return uuid

    def user(self, text: str | list[Any], **fields: Any) -> str:
        """A prompt that the person typed (``isMeta=True`` and the like make it something else)."""
        return self.record("user", {"message": {"role": "user", "content": text}, **fields})

    def assistant(self, text: str, **fields: Any) -> str:
        """A text of the model."""
        self.last_message = text
        return self._say({"type": "text", "text": text}, **fields)

    def thinking(self, text: str) -> str:
        """A thinking block."""
        return self._say({"type": "thinking", "thinking": text, "signature": "sig"})

    def tool(
        self, name: str, arguments: Any, result: str = "ok", *, ok: bool = True, details: Any = None
    ) -> str:
        """A tool call with its result; ``details`` is the record's ``toolUseResult``. The tool's id."""
        tool_id = self.tool_use(name, arguments)
        self.tool_result(tool_id, result, ok=ok, details=details)
        return tool_id

    def tool_use(self, name: str, arguments: Any) -> str:
        """A tool call without its result (yet); the tool's id."""
        self._tools += 1
        tool_id = f"toolu_{self.session_id[:8]}_{self._tools}"
        self._say({"type": "tool_use", "id": tool_id, "name": name, "input": arguments})
        return tool_id

    def tool_result(self, tool_id: str, result: Any, *, ok: bool = True, details: Any = None) -> str:
        """The result of a tool call."""
        block = {"type": "tool_result", "tool_use_id": tool_id, "content": result}
        if not ok:
            block["is_error"] = True
        extra = {"toolUseResult": details if details is not None else ("" if ok else f"Error: {result}")}
        return self.record("user", {"message": {"role": "user", "content": [block]}, **extra})

    def edit(self, path: Path | str, *, old: str = "a = 1", new: str = "a = 2", ok: bool = True) -> str:
        """An Edit of a file: done, or refused with an error."""
        arguments = {"file_path": str(path), "old_string": old, "new_string": new, "replace_all": False}
        if not ok:
            return self.tool("Edit", arguments, "File has not been read yet.", ok=False)
        details = {"filePath": str(path), "oldString": old, "newString": new, "structuredPatch": []}
        return self.tool("Edit", arguments, f"The file {path} has been updated.", details=details)

    def write(self, path: Path | str, content: str = "x\n", *, ok: bool = True) -> str:
        """A Write of a file: done, or denied by the person."""
        arguments = {"file_path": str(path), "content": content}
        if not ok:
            return self.tool("Write", arguments, f"{REJECTED}STOP what you are doing.", ok=False)
        details = {"type": "create", "filePath": str(path), "content": content, "structuredPatch": []}
        return self.tool("Write", arguments, f"File created successfully at: {path}", details=details)

    def question(
        self,
        question: str,
        options: Sequence[tuple[str, str]],
        answer: str,
        *,
        notes: str = "",
        header: str = "Pick",
    ) -> str:
        """An AskUserQuestion with (label, description) options, and the person's answer."""
        asked = {
            "question": question,
            "header": header,
            "options": [{"label": label, "description": text} for label, text in options],
            "multiSelect": False,
        }
        details: dict[str, Any] = {"questions": [asked], "answers": {question: answer}}
        if notes:
            details["annotations"] = {question: {"notes": notes}}
        said = f'User has answered your questions: "{question}"="{answer}"' + (
            f" user notes: {notes}" if notes else ""
        )
        text = f"{said}. You can now continue with the user's answers in mind."
        return self.tool("AskUserQuestion", {"questions": [asked]}, text, details=details)

    def plan(self, plan: str, *, reason: str | None = None) -> str:
        """A plan put forward by ExitPlanMode: approved, or sent back with a reason."""
        if reason is not None:
            text = f"{REJECTED}To tell you how to proceed, the user said:\n{reason}"
            return self.tool("ExitPlanMode", {"plan": plan}, text, ok=False)
        text = f"User has approved your plan. You can now start coding.\n\n## Approved Plan:\n{plan}"
        return self.tool("ExitPlanMode", {"plan": plan}, text, details={"plan": plan, "isAgent": False})

    def queued(self, prompt: str) -> str:
        """A prompt typed while the agent works."""
        attachment = {
            "type": "queued_command",
            "prompt": prompt,
            "commandMode": "prompt",
            "origin": {"kind": "human"},
        }
        return self.record("attachment", {"attachment": attachment})

    def api_error(self, text: str = "Credit balance is too low") -> str:
        """A turn that ended with an error of the API."""
        return self._say({"type": "text", "text": text}, isApiErrorMessage=True, model="<synthetic>")

    def subagent(self, name: str = "a0000001") -> ClaudeSession:
        """The file of a subagent of this session; its records are side chain."""
        path = self.path.with_suffix("") / "subagents" / f"agent-{name}.jsonl"
        return _Subagent(path.parent, self.cwd, self.session_id, start=self.now, path=path)

    def fork(self, session_id: str) -> ClaudeSession:
        """A session that begins as a copy of this one: the same uuids under another session id."""
        copy = ClaudeSession(
            self.path, self.cwd, session_id, start=self.now, path=self.path.with_name(f"{session_id}.jsonl")
        )
        copy.path.write_text(self.path.read_text().replace(self.session_id, session_id))
        copy.parent, copy.last_message = self.parent, self.last_message
        return copy

    def payload(self, **over: Any) -> dict[str, Any]:
        """The Stop payload of the last turn."""
        return {
            "session_id": self.session_id,
            "transcript_path": str(self.path),
            "cwd": str(self.cwd),
            "prompt_id": "a56c92ad-933a-438a-850a-7cab89fef06d",
            "permission_mode": "default",
            "hook_event_name": "Stop",
            "stop_hook_active": False,
            "last_assistant_message": self.last_message,
            "background_tasks": [],
            "session_crons": [],
            **over,
        }

    def _say(self, block: dict[str, Any], *, model: str = "claude-sonnet-5-5", **fields: Any) -> str:
        message = {
            "id": f"msg_{self.session_id[:8]}_{self._count}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }
        return self.record("assistant", {"message": message, **fields})


class _Subagent(ClaudeSession):
    def record(self, kind: str, fields: Mapping[str, Any]) -> str:
        """Append a record of the side chain."""
        return super().record(kind, {**fields, "isSidechain": True, "agentId": self.path.stem})

    def new_id(self) -> str:
        """Ids apart from those of the main file."""
        return super().new_id()[:-4] + self.path.stem[-4:]
