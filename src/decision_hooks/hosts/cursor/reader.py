"""Records of Cursor: ``role`` and ``message`` only, no ids and no tool results."""

from __future__ import annotations

import re

from decision_hooks.hosts.edit_tools import edited_paths
from decision_hooks.hosts.fields import Record, blocks, clean, mapping, readable, string
from decision_hooks.hosts.gathering import Gathering
from decision_hooks.hosts.markup import without, without_reminders
from decision_hooks.hosts.times import from_words
from decision_hooks.sessions.model import Session

_NOT_TYPED = ("The above subagent result is already visible to the user.",)
_WRAPPERS = (
    "timestamp",
    "image_files",
    "uploaded_documents",
    "attached_files",
    "open_and_recently_viewed_files",
    "manually_attached_skills",
    "system_reminder",
    "user_info",
    "user_rules",
    "rules",
    "git_status",
    "project_layout",
    "current_file",
    "additional_data",
)


class CursorReader:
    """Reads the records of a transcript in file order."""

    def __init__(self, into: Gathering) -> None:
        self._into = into
        self._last: Record = {}
        self._time = 0.0

    def session(self, bad_lines: int) -> Session:
        """What the records hold."""
        return self._into.session(bad_lines)

    def read(self, record: Record) -> None:
        """Take one record; one that repeats the line before it is passed over."""
        if record == self._last:
            return
        self._last = record
        for block in blocks(mapping(record, "message").get("content")):
            kind = block.get("type")
            if kind == "text" and record.get("role") == "user":
                self._prompt(clean(string(block, "text")))
            elif record.get("role") == "assistant":
                self._answer(block)

    def _prompt(self, text: str) -> None:
        stamp = re.search(r"<timestamp>([^<\n]{1,100})</timestamp>", text)
        self._time = (from_words(stamp.group(1)) if stamp else 0.0) or self._time
        self._into.seen(self._time)
        self._into.say("user", typed_text(text), self._time, "")

    def _answer(self, block: Record) -> None:
        kind = block.get("type")
        if kind == "text":
            self._into.say("assistant", without_redacted(string(block, "text")), self._time, "")
        elif kind in ("thinking", "reasoning_summary"):
            text = string(block, "thinking") or string(block, "summary") or string(block, "text")
            self._into.say("thinking", without_redacted(text), self._time, "")
        elif kind == "tool_use":
            name = string(block, "name").partition("\n")[0]
            self._into.edit(edited_paths(name, block.get("input"), self._into.edit_tools))
            self._into.say("tool", readable(block.get("input")) or "-", self._time, "", tool=name)


def typed_text(text: str) -> str:
    """The words of a text block that a person typed, without what Cursor wraps around them."""
    _, found, query = text.partition("<user_query>")
    if found:
        text = query.rpartition("</user_query>")[0] or query
    else:
        text = without_reminders(text).replace("[Image]", "")
        for name in _WRAPPERS:
            text = without(text, name)
    text = text.strip()
    return "" if text.startswith(_NOT_TYPED) else text


def without_redacted(text: str) -> str:
    """Text without the mark that stands where thinking was."""
    if "[REDACTED]" not in text:
        return text
    return "\n".join(line for line in text.split("\n") if line.strip() != "[REDACTED]")
