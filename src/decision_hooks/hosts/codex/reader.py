"""Records of a Codex rollout. Each message stands there twice, as an item and as an event: one is read."""

from __future__ import annotations

from typing import NamedTuple

from decision_hooks.hosts.codex.patches import Patches
from decision_hooks.hosts.codex.prompts import is_injected
from decision_hooks.hosts.fields import Record, blocks, clean, items, mapping, readable, string, text_of
from decision_hooks.hosts.gathering import Gathering
from decision_hooks.hosts.times import from_iso
from decision_hooks.sessions.model import Session

_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


class _Said(NamedTuple):
    """One text of one family, kept until it is known which family the lines hold."""

    family: str  # item | event
    kind: str
    text: str
    time: float
    uuid: str
    injected: bool


class _Used(NamedTuple):
    """A tool call or its result: only one family has them."""

    kind: str
    text: str
    time: float
    tool: str


class CodexReader:
    """Reads the lines of a rollout in file order."""

    def __init__(self, into: Gathering) -> None:
        self._into = into
        self._said: list[_Said | _Used] = []
        self._patches = Patches(into.edit_tools)

    def read(self, record: Record) -> None:
        """Take one line."""
        kind, payload = record.get("type"), mapping(record, "payload")
        time = from_iso(record.get("timestamp"))
        if kind in ("session_meta", "turn_context"):
            self._into.seen(0.0, string(payload, "cwd"))
        elif kind == "response_item":
            self._into.seen(time)
            self._item(payload, time)
        elif kind == "event_msg":
            self._into.seen(time)
            self._event(payload, time)

    def session(self, bad_lines: int) -> Session:
        """What the lines hold: of each kind of text the response items, the events where there are none."""
        texts = [said for said in self._said if isinstance(said, _Said)]
        typed = {said.text.strip() for said in texts if said.family == "event" and said.kind == "user"}
        texts = [said for said in texts if not said.injected or said.text.strip() in typed]
        items_of = {said.kind for said in texts if said.family == "item"}
        for said in self._said:
            if not isinstance(said, _Said):
                self._into.say(said.kind, said.text, said.time, "", tool=said.tool)
            elif said.injected and said.text.strip() not in typed:
                continue
            elif said.family == "item" or said.kind not in items_of:
                self._into.say(said.kind, said.text, said.time, said.uuid)
        for paths in self._patches.done():
            self._into.edit(paths)
        return self._into.session(bad_lines)

    def _item(self, payload: Record, time: float) -> None:
        kind = payload.get("type", "message")
        if kind == "message":
            self._message(payload, time)
        elif kind == "reasoning":
            text = "\n".join(filter(None, (text_of(payload.get("summary")), text_of(payload.get("content")))))
            self._say("item", "thinking", text, time)
        elif kind in _CALLS:
            name = string(payload, "name") or "shell"
            value = next((payload[key] for key in ("input", "arguments", "action") if key in payload), "")
            self._into.call(string(payload, "call_id"), name, None)
            self._patches.called(string(payload, "call_id"), name, value)
            self._said.append(_Used("tool", readable(value) or "-", time, name))
        elif kind in _OUTPUTS:
            self._patches.answered(string(payload, "call_id"), payload.get("output"))
            name = self._into.called(string(payload, "call_id")).name
            self._said.append(_Used("result", _output_text(payload.get("output")), time, name))

    def _message(self, payload: Record, time: float) -> None:
        role = payload.get("role")
        if role == "assistant":
            self._say("item", "assistant", text_of(payload.get("content")), time)
        elif role == "user":
            uuid = clean(string(payload, "id"))
            if uuid:
                self._into.is_new(uuid)
            passthrough = mapping(payload, "internal_chat_message_metadata_passthrough")
            sources = items(passthrough, "content_item_metadata")
            for number, block in enumerate(blocks(payload.get("content"))):
                text = string(block, "text")
                source = sources[number] if number < len(sources) else None
                self._say("item", "user", text, time, uuid, injected=is_injected(text, source))

    def _event(self, payload: Record, time: float) -> None:
        kind = payload.get("type")
        if kind == "user_message":
            self._say("event", "user", string(payload, "message"), time)
        elif kind == "agent_message":
            self._say("event", "assistant", string(payload, "message"), time)
        elif kind == "agent_reasoning":
            self._say("event", "thinking", string(payload, "text"), time)
        elif kind == "patch_apply_end":
            self._patches.applied(payload, payload.get("success") is not False)
        elif kind == "item_completed":
            self._completed(mapping(payload, "item"), time)

    def _completed(self, item: Record, time: float) -> None:
        kind = item.get("type")
        if kind == "UserMessage":
            self._say("event", "user", text_of(item.get("content")), time)
        elif kind == "AgentMessage":
            self._say("event", "assistant", text_of(item.get("content")), time)
        elif kind == "FileChange":
            self._patches.applied(item, item.get("status") in (None, "completed"))

    def _say(
        self, family: str, kind: str, text: str, time: float, uuid: str = "", *, injected: bool = False
    ) -> None:
        if text.strip():
            self._said.append(_Said(family, kind, text, time, uuid, injected))


def _output_text(output: object) -> str:
    if isinstance(output, dict):
        return text_of(output.get("content") or output.get("output"))
    return text_of(output)
