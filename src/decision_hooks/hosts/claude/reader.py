"""Records of Claude Code, 1.0 to 2.1: which are conversation is decided by the top-level ``type``."""

from __future__ import annotations

from decision_hooks.hosts.claude import prompts
from decision_hooks.hosts.claude import results as claude_results
from decision_hooks.hosts.edit_tools import edited_paths
from decision_hooks.hosts.fields import Record, blocks, clean, mapping, string, text_of, unpacked
from decision_hooks.hosts.gathering import Gathering
from decision_hooks.hosts.times import from_iso
from decision_hooks.sessions.model import Choice, Session


class ClaudeReader:
    """Reads the records of a transcript in file order."""

    def __init__(self, into: Gathering) -> None:
        self.into = into
        self._queue = prompts.Queue()

    def session(self, bad_lines: int) -> Session:
        """The session of the records."""
        return self._queue.session(self.into.session(bad_lines))

    def read(self, record: Record) -> None:
        """Take one record."""
        uuid, time = clean(string(record, "uuid")), from_iso(record.get("timestamp"))
        self.into.link(uuid, clean(string(record, "parentUuid")))
        self.into.seen(time, string(record, "cwd"))
        kind = record.get("type")
        if kind == "queue-operation":
            self._queue.take(record, time, self.into)
        elif kind == "attachment":
            self._queued(mapping(record, "attachment"), time, uuid)
        elif kind in ("user", "assistant"):
            content = mapping(record, "message").get("content")
            if not isinstance(content, (str, list, dict)) or not self.into.is_new(uuid):
                return
            if record.get("isSidechain") is True:
                self._sidechain(record, content, uuid)
            elif kind == "user":
                self._user(record, content, time, uuid)
            else:
                self._assistant(record, content, time, uuid)

    def _user(self, record: Record, content: object, time: float, uuid: str) -> None:
        if record.get("isMeta") is True or record.get("isCompactSummary") is True:
            return
        texts = []
        results = False
        for block in blocks(content):
            if block.get("type") == "tool_result":
                results = True
                claude_results.take(block, record, time, uuid, self.into)
            elif block.get("type") == "text":
                texts.append(prompts.typed_text(string(block, "text")))
                self.into.say("report", prompts.background_report(string(block, "text")), time, uuid)
        text = "\n".join(text for text in texts if text)
        if not prompts.is_from_person(record):
            return
        plan = string(record, "planContent")
        if plan and not results:
            text = text if plan.strip() in text else f"{text}\n\n{plan}"
            self.into.choose(Choice("plan-approved", clean(plan).strip(), (), (), "", time), uuid)
        if not text:
            return
        self.into.say("user", text, time, uuid)
        if not results:
            self._queue.recorded(text)
            self.into.typed(uuid, clean(string(record, "parentUuid")))

    def _assistant(self, record: Record, content: object, time: float, uuid: str) -> None:
        message = mapping(record, "message")
        if message.get("model") == "<synthetic>" or record.get("isApiErrorMessage") is True:
            return
        for block in blocks(content):
            kind = block.get("type")
            if kind == "text":
                self.into.say("assistant", string(block, "text"), time, uuid, message=string(message, "id"))
            elif kind == "thinking":
                self.into.say(
                    "thinking", string(block, "thinking"), time, uuid, message=string(message, "id")
                )
            elif kind == "tool_use":
                self._call(block, time, uuid)

    def _call(self, block: Record, time: float, uuid: str) -> None:
        name, value = string(block, "name"), unpacked(block.get("input"))
        self._note_edit(block, uuid)
        plan = string(value, "plan") if isinstance(value, dict) and name == "ExitPlanMode" else ""
        if plan:
            self.into.say("plan", plan, time, uuid)
        else:
            identity = string(block, "id")
            self.into.act(name, value, time, uuid, call=identity, message=identity)

    def _note_edit(self, block: Record, uuid: str) -> None:
        call, name, value = string(block, "id"), string(block, "name"), unpacked(block.get("input"))
        self.into.call(call, name, value)
        self.into.edit(edited_paths(name, value, self.into.edit_tools), call=call, uuid=uuid)

    def _sidechain(self, record: Record, content: object, uuid: str) -> None:
        """A subagent's own line, in its file or, in old versions, in the session's: only its edits matter."""
        for block in blocks(content):
            if block.get("type") == "tool_use":
                self._note_edit(block, uuid)
            elif block.get("type") == "tool_result" and claude_results.is_failure(block, record):
                self.into.fail(string(block, "tool_use_id"))

    def _queued(self, attachment: Record, time: float, uuid: str) -> None:
        """A prompt that was typed while the agent worked; other attachments are none of the conversation."""
        if attachment.get("type") != "queued_command":
            return
        report = prompts.background_report(text_of(attachment.get("prompt")))
        if report or attachment.get("commandMode") == "task-notification":
            if self.into.is_new(uuid):
                self.into.say("report", report, time, uuid)
            return
        if not prompts.is_from_person(attachment) or not self.into.is_new(uuid):
            return
        text = prompts.typed_text(text_of(attachment.get("prompt")))
        self.into.say("user", text, time, uuid)
        self._queue.recorded(text)
