"""Records of a Codex rollout. It has each message twice, as an item and as an event: one of them is read."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from decision_hooks.hosts.codex.patches import PATCH, Patches, parsed, strings
from decision_hooks.hosts.edit_tools import patch_paths
from decision_hooks.hosts.fields import Record, blocks, clean, items, mapping, string, text_of
from decision_hooks.hosts.gathering import Gathering
from decision_hooks.hosts.times import from_iso
from decision_hooks.sessions.model import Session

_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
# Tags of what the client writes under the user's role.
_TAGS = (
    "environment_context user_instructions skills_instructions permissions turn_aborted INSTRUCTIONS skill tools"
).split()


class _Said(NamedTuple):
    """A text, kept until it is known which family of lines the rollout has."""

    family: str  # item | event; "call" for tool calls and results, which only one family has
    kind: str
    text: str
    time: float
    uuid: str = ""
    tool: str = ""
    injected: bool = False
    line: int = -1
    call: str = ""
    value: object = None  # of a tool call
    failed: bool = False


class CodexReader:
    """Reads the lines of a rollout in file order."""

    def __init__(self, into: Gathering) -> None:
        self.into = into
        self._said: list[_Said] = []
        self._patches = Patches(into.edit_tools)

    def read(self, record: Record) -> None:
        """Take one line."""
        kind, payload = record.get("type"), mapping(record, "payload")
        time = from_iso(record.get("timestamp"))
        if kind in ("session_meta", "turn_context"):
            self.into.seen(0.0, string(payload, "cwd"))
        elif kind == "response_item":
            self.into.seen(time)
            self._item(payload, time)
        elif kind == "event_msg":
            self.into.seen(time)
            self._event(payload, time)

    def session(self, bad_lines: int) -> Session:
        """The session: of each kind of text the response items, the events where there are none."""
        typed = {said.text.strip() for said in self._said if said.family == "event" and said.kind == "user"}
        texts = [said for said in self._said if said.text.strip()]
        texts = [said for said in texts if not said.injected or said.text.strip() in typed]
        items_of = {said.kind for said in texts if said.family == "item"}
        for said in texts:
            if said.family != "event" or said.kind not in items_of:
                self._say(said)
        for paths in self._patches.done():
            self.into.edit(paths)
        return self.into.session(bad_lines)

    def _say(self, said: _Said) -> None:
        self.into.line = said.line
        if said.kind == "tool":
            patch = next((text for text in strings(said.value) if patch_paths(text)), None)
            tool = said.tool if patch is None else PATCH
            self.into.act(tool, patch or said.value, said.time, said.uuid, call=said.call)
        else:
            self.into.say(said.kind, said.text, said.time, said.uuid, tool=said.tool, failed=said.failed)

    def _add(self, said: _Said) -> None:
        self._said.append(said._replace(line=self.into.line))

    def _item(self, payload: Record, time: float) -> None:
        kind = payload.get("type", "message")
        if kind == "message":
            self._message(payload, time)
        elif kind == "reasoning":
            text = "\n".join(filter(None, (text_of(payload.get("summary")), text_of(payload.get("content")))))
            self._add(_Said("item", "thinking", text, time))
        elif kind in _CALLS:
            name = string(payload, "name") or "shell"
            value = next((payload[key] for key in ("input", "arguments", "action") if key in payload), "")
            self.into.call(string(payload, "call_id"), name, None)
            call = string(payload, "call_id")
            self._patches.called(call, name, value)
            self._add(_Said("call", "tool", "-", time, tool=name, call=call, value=parsed(value)))
        elif kind in _OUTPUTS:
            call, output = string(payload, "call_id"), parsed(payload.get("output"))
            failed = self._patches.answered(call, output)
            if failed:
                self.into.fail(call)
            name = self.into.called(call).name
            self._add(_Said("call", "result", _output_text(output), time, tool=name, failed=failed))

    def _message(self, payload: Record, time: float) -> None:
        role = payload.get("role")
        if role == "assistant":
            self._add(_Said("item", "assistant", text_of(payload.get("content")), time))
        elif role == "user":
            uuid = clean(string(payload, "id"))
            if uuid:
                self.into.is_new(uuid)
            passthrough = mapping(payload, "internal_chat_message_metadata_passthrough")
            sources = items(passthrough, "content_item_metadata")
            for number, block in enumerate(blocks(payload.get("content"))):
                text = string(block, "text")
                source = sources[number] if number < len(sources) else None
                self._add(_Said("item", "user", text, time, uuid, injected=_is_injected(text, source)))

    def _event(self, payload: Record, time: float) -> None:
        kind = payload.get("type")
        if kind == "user_message":
            self._add(_Said("event", "user", string(payload, "message"), time))
        elif kind == "agent_message":
            self._add(_Said("event", "assistant", string(payload, "message"), time))
        elif kind == "agent_reasoning":
            self._add(_Said("event", "thinking", string(payload, "text"), time))
        elif kind == "patch_apply_end":
            self._patches.applied(payload, payload.get("success") is not False)
        elif kind == "item_completed":
            self._completed(mapping(payload, "item"), time)

    def _completed(self, item: Record, time: float) -> None:
        kind = item.get("type")
        if kind == "UserMessage":
            self._add(_Said("event", "user", text_of(item.get("content")), time))
        elif kind == "AgentMessage":
            self._add(_Said("event", "assistant", text_of(item.get("content")), time))
        elif kind == "FileChange":
            self._patches.applied(item, item.get("status") in (None, "completed"))


def _output_text(output: object) -> str:
    if isinstance(output, dict):
        return text_of(output.get("content") or output.get("output"))
    return text_of(output)


def _is_injected(text: str, source: object) -> bool:
    """Whether the client wrote a text; ``source`` is its entry of ``content_item_metadata``, if any."""
    kind = string(mapping(source if isinstance(source, dict) else {}, "provenance"), "type")
    if kind:
        return kind != "user"
    text = text.strip()
    if text.startswith("# AGENTS.md instructions"):
        return True
    tag = _tag().match(text)
    if not tag:
        return False
    # a person's own mark-up has plain names, and words before or after it
    wrapped = text.endswith(f"</{tag.group(1)}>") and re.search("[_ A-Z]", tag.group(1)) is not None
    return wrapped or tag.group(1).split(" ")[0] in _TAGS


@cache
def _tag() -> re.Pattern[str]:
    return re.compile("<([A-Za-z][A-Za-z_ ]{1,60})>")
