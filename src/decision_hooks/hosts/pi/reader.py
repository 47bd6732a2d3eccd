"""Records of pi, versions 1 to 3: a header, then entries with ``id`` and ``parentId`` (none in version 1)."""

from __future__ import annotations

from decision_hooks.hosts.edit_tools import edited_paths
from decision_hooks.hosts.fields import Record, blocks, clean, mapping, string, text_of, unpacked
from decision_hooks.hosts.gathering import Gathering
from decision_hooks.hosts.times import from_iso
from decision_hooks.sessions.model import Session


class PiReader:
    """Reads the entries of a session in file order."""

    def __init__(self, into: Gathering) -> None:
        self.into = into
        self._stems: dict[str, str] = {}  # entry that is no message -> the message before it

    def session(self, bad_lines: int) -> Session:
        """The session of the entries."""
        return self.into.session(bad_lines)

    def read(self, record: Record) -> None:
        """Take one entry."""
        if record.get("type") == "session":
            self.into.seen(0.0, string(record, "cwd"))
        time = from_iso(record.get("timestamp"))
        identity, parent = clean(string(record, "id")), clean(string(record, "parentId"))
        parent = self._stems.get(parent, parent)
        if record.get("type") != "message":
            if identity and record.get("type") != "session":
                self._stems[identity] = parent
            return
        self.into.seen(time)
        self.into.link(identity, parent)
        if self.into.is_new(identity):
            self._message(mapping(record, "message"), time, identity, parent)

    def _message(self, message: Record, time: float, identity: str, parent: str) -> None:
        role = message.get("role")
        if role == "user":
            text = text_of(message.get("content"))
            self.into.say("user", text, time, identity)
            if text.strip():
                self.into.typed(identity, parent)
        elif role == "assistant":
            broken = message.get("stopReason") in ("error", "aborted")
            for block in blocks(message.get("content")):
                self._block(block, time, identity, broken)
        elif role == "toolResult":
            self._result(message, time, identity)

    def _block(self, block: Record, time: float, identity: str, broken: bool) -> None:
        kind = block.get("type")
        if kind == "text":
            self.into.say("assistant", string(block, "text"), time, identity, message=identity)
        elif kind == "thinking":
            self.into.say("thinking", string(block, "thinking"), time, identity, message=identity)
        elif kind == "toolCall":
            name, value = string(block, "name"), unpacked(block.get("arguments"))
            if not broken:  # the calls of a message that broke off are not run
                paths = edited_paths(name, value, self.into.edit_tools)
                self.into.edit(paths, call=string(block, "id"), uuid=identity)
            self.into.act(name, value, time, identity, call=string(block, "id"))

    def _result(self, message: Record, time: float, identity: str) -> None:
        failed = message.get("isError") is True
        if failed:
            self.into.fail(string(message, "toolCallId"))
        text = text_of(message.get("content"))
        self.into.say("result", text, time, identity, tool=string(message, "toolName"), failed=failed)
