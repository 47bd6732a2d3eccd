"""Records of pi, versions 1 to 3: a header, then entries with ``id`` and ``parentId`` (none in version 1)."""

from __future__ import annotations

from decision_hooks.hosts.edit_tools import edited_paths
from decision_hooks.hosts.fields import Record, blocks, clean, mapping, readable, string, text_of
from decision_hooks.hosts.gathering import Gathering
from decision_hooks.hosts.times import from_iso
from decision_hooks.sessions.model import Session

_ENTRIES = (
    "message",
    "model_change",
    "thinking_level_change",
    "compaction",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "session_info",
)


def is_ours(record: Record) -> bool:
    """Whether a record has the shape of a pi entry or header."""
    kind = record.get("type")
    if kind == "session":
        return "sessionId" not in record and isinstance(record.get("cwd"), str)
    return kind in _ENTRIES and "uuid" not in record and "sessionId" not in record and "timestamp" in record


class Reader:
    """Reads the entries of a session in file order."""

    def __init__(self) -> None:
        self._into = Gathering("pi")
        self._stems: dict[str, str] = {}  # entry that is no message -> the message before it

    def head(self, record: Record) -> None:
        """The header tells the working directory, which relative paths are resolved against."""
        if record.get("type") == "session":
            self._into.seen(0.0, string(record, "cwd"))

    def session(self, bad_lines: int) -> Session:
        """What the entries hold."""
        return self._into.session(bad_lines)

    def read(self, record: Record) -> None:
        """Take one entry."""
        self.head(record)
        time = from_iso(record.get("timestamp"))
        identity, parent = clean(string(record, "id")), clean(string(record, "parentId"))
        parent = self._stems.get(parent, parent)
        if record.get("type") != "message":
            if identity and record.get("type") != "session":
                self._stems[identity] = parent
            return
        self._into.seen(time)
        self._into.link(identity, parent)
        if self._into.is_new(identity):
            self._message(mapping(record, "message"), time, identity, parent)

    def _message(self, message: Record, time: float, identity: str, parent: str) -> None:
        role = message.get("role")
        if role == "user":
            text = text_of(message.get("content"))
            self._into.say("user", text, time, identity)
            if text.strip():
                self._into.typed(identity, parent)
        elif role == "assistant":
            broken = message.get("stopReason") in ("error", "aborted")
            for block in blocks(message.get("content")):
                self._block(block, time, identity, broken)
        elif role == "toolResult":
            self._result(message, time, identity)

    def _block(self, block: Record, time: float, identity: str, broken: bool) -> None:
        kind = block.get("type")
        if kind == "text":
            self._into.say("assistant", string(block, "text"), time, identity, message=identity)
        elif kind == "thinking":
            self._into.say("thinking", string(block, "thinking"), time, identity, message=identity)
        elif kind == "toolCall":
            name, value = string(block, "name"), block.get("arguments")
            if not broken:  # the calls of a message that broke off are not run
                self._into.edit(edited_paths(name, value), call=string(block, "id"), uuid=identity)
            self._into.say("tool", readable(value) or "-", time, identity, tool=name)

    def _result(self, message: Record, time: float, identity: str) -> None:
        if message.get("isError") is True:
            self._into.fail(string(message, "toolCallId"))
        text = text_of(message.get("content"))
        self._into.say("result", text, time, identity, tool=string(message, "toolName"))
