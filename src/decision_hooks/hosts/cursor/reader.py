"""Records of Cursor: ``role`` and ``message`` only, no ids, no tool results; and its older plain text."""

from __future__ import annotations

import re

from decision_hooks.hosts.edit_tools import edited_paths
from decision_hooks.hosts.fields import Record, blocks, clean, mapping, string, unpacked
from decision_hooks.hosts.gathering import Gathering
from decision_hooks.hosts.markup import without, without_reminders
from decision_hooks.hosts.times import from_words
from decision_hooks.sessions.model import Session

_NOT_TYPED = ("The above subagent result is already visible to the user.",)
# Tags of what Cursor wraps around a person's words.
_WRAPPERS = (
    "timestamp image_files uploaded_documents attached_files open_and_recently_viewed_files manually_attached_skills"
    " system_reminder user_info user_rules rules git_status project_layout current_file additional_data"
).split()
# Marks in the plain text of older versions.
_SPEAKERS = {"user:": "user", "assistant:": "assistant", "system:": "", "tool:": ""}
_MARKS = {"[Thinking]": "thinking", "[Tool call]": "tool", "[Tool result]": "result"}


class CursorReader:
    """Reads the records of a transcript in file order."""

    def __init__(self, into: Gathering) -> None:
        self.into = into
        self._last: Record = {}
        self._time = 0.0

    def session(self, bad_lines: int) -> Session:
        """The session of the records."""
        return self.into.session(bad_lines)

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
        self.into.seen(self._time)
        self.into.say("user", _typed_text(text), self._time, "")

    def _answer(self, block: Record) -> None:
        kind = block.get("type")
        if kind == "text":
            self.into.say("assistant", _without_redacted(string(block, "text")), self._time, "")
        elif kind in ("thinking", "reasoning_summary"):
            text = string(block, "thinking") or string(block, "summary") or string(block, "text")
            self.into.say("thinking", _without_redacted(text), self._time, "")
        elif kind == "tool_use":
            name = string(block, "name").partition("\n")[0]
            value = unpacked(block.get("input"))
            self.into.edit(edited_paths(name, value, self.into.edit_tools))
            self.into.act(name, value, self._time, "")


def _typed_text(text: str) -> str:
    _, begin, query = text.partition("<user_query>")
    if begin:
        text = query.rpartition("</user_query>")[0] or query
    else:
        text = without_reminders(text).replace("[Image]", "")
        for name in _WRAPPERS:
            text = without(text, name)
    text = text.strip()
    return "" if text.startswith(_NOT_TYPED) else text


def _without_redacted(text: str) -> str:
    """Text without the mark in place of thinking."""
    if "[REDACTED]" not in text:
        return text
    return "\n".join(line for line in text.split("\n") if line.strip() != "[REDACTED]")


# -- plain text: blocks under ``user:`` and ``assistant:``


def read_text(text: str, into: Gathering) -> Session:
    """Entries and edits of a whole plain text transcript; it has no times and no ids."""
    lines = clean(text).split("\n")
    alone = any(line.strip() in ("user:", "assistant:") for line in lines)
    speaker, block = "", list[str]()
    for line in (*lines, "user:"):
        word, _, rest = line.partition(":")
        begins = f"{word.strip()}:" in _SPEAKERS and (not rest.strip() or not alone)
        if not begins:
            block.append(line)
            continue
        _take_block(into, speaker, block)
        speaker, block = _SPEAKERS[f"{word.strip()}:"], [rest]
    return into.session(0)


def _take_block(into: Gathering, speaker: str, block: list[str]) -> None:
    if speaker == "user":
        into.say("user", _typed_text("\n".join(block)), 0.0, "")
    elif speaker == "assistant":
        kind, lines = "assistant", list[str]()
        for line in (*block, "[Thinking]"):
            mark = next((mark for mark in _MARKS if line.startswith(mark)), "")
            if mark:
                _say_block(into, kind, lines)
                kind, lines = _MARKS[mark], [line[len(mark) :].strip()]
            else:
                lines.append(line)


def _say_block(into: Gathering, kind: str, lines: list[str]) -> None:
    if kind not in ("tool", "result"):
        into.say(kind, _without_redacted("\n".join(lines)), 0.0, "")
        return
    name, body = lines[0], "\n".join(lines[1:])
    if kind == "result":
        into.say(kind, body, 0.0, "", tool=name)
        return
    fields = (line.strip().partition(": ") for line in lines[1:])
    value: object = {key: text for key, _, text in fields if text}
    if not edited_paths(name, value, into.edit_tools):
        value = body.strip()
    into.edit(edited_paths(name, value, into.edit_tools))
    into.act(name, value, 0.0, "")
