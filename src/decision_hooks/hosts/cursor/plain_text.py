"""The plain text transcripts of older Cursor versions: blocks under ``user:`` and ``assistant:``."""

from __future__ import annotations

from decision_hooks.hosts.cursor.reader import typed_text, without_redacted
from decision_hooks.hosts.edit_tools import edited_paths
from decision_hooks.hosts.fields import clean
from decision_hooks.hosts.gathering import Gathering
from decision_hooks.sessions.model import Session

_SPEAKERS = {"user:": "user", "assistant:": "assistant", "system:": "", "tool:": ""}
_MARKS = {"[Thinking]": "thinking", "[Tool call]": "tool", "[Tool result]": "result"}


def read(text: str, into: Gathering) -> Session:
    """Entries and edits of a whole transcript; it has no times and no ids."""
    lines = clean(text).split("\n")
    alone = any(line.strip() in ("user:", "assistant:") for line in lines)
    speaker, block = "", list[str]()
    for line in (*lines, "user:"):
        word, _, rest = line.partition(":")
        begins = f"{word.strip()}:" in _SPEAKERS and (not rest.strip() or not alone)
        if not begins:
            block.append(line)
            continue
        _take(into, speaker, block)
        speaker, block = _SPEAKERS[f"{word.strip()}:"], [rest]
    return into.session(0)


def _take(into: Gathering, speaker: str, block: list[str]) -> None:
    if speaker == "user":
        into.say("user", typed_text("\n".join(block)), 0.0, "")
    elif speaker == "assistant":
        kind, lines = "assistant", list[str]()
        for line in (*block, "[Thinking]"):
            mark = next((mark for mark in _MARKS if line.startswith(mark)), "")
            if mark:
                _say(into, kind, lines)
                kind, lines = _MARKS[mark], [line[len(mark) :].strip()]
            else:
                lines.append(line)


def _say(into: Gathering, kind: str, lines: list[str]) -> None:
    if kind not in ("tool", "result"):
        into.say(kind, without_redacted("\n".join(lines)), 0.0, "")
        return
    name, body = lines[0], "\n".join(lines[1:])
    if kind == "tool":
        fields = (line.strip().partition(": ") for line in lines[1:])
        value = {key: text for key, _, text in fields if text}
        tools = into.edit_tools
        into.edit(edited_paths(name, value, tools) or edited_paths(name, body, tools))
    into.say(kind, body.strip() or "-", 0.0, "", tool=name)
