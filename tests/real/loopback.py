"""A server on loopback that speaks enough of three model APIs to drive the real agents.

Anthropic messages (``claude``), OpenAI chat completions (``pi``), OpenAI responses (``codex``). What it
answers is a list of rules; what it was asked is kept as a list of requests.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

ENDPOINTS = {"/messages": "messages", "/chat/completions": "chat", "/responses": "responses"}
USAGE = {
    "input_tokens": 10,
    "output_tokens": 5,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


@dataclass(frozen=True)
class Rule:
    """What is answered to a request whose text (system and all turns) fits ``match``; the first fit counts.

    With ``write`` an agent that has tools is told to write that file first, once a turn, then gets ``text``.
    """

    match: str
    text: str = "Done."
    write: tuple[str, str] | None = None  # path, content
    status: int = 200  # another one: an error with ``text`` as its message
    delay: float = 0.0  # seconds


@dataclass(frozen=True)
class Request:
    """One request that a model got."""

    api: str  # messages | chat | responses
    model: str
    tools: tuple[str, ...]
    system: str
    users: tuple[str, ...]  # texts of the user's turns
    raw: str  # the whole body as text, escapes of JSON undone

    @property
    def text(self) -> str:
        """System and user texts together."""
        return "\n".join((self.system, *self.users))


class Loopback:
    """The server; a context manager. ``url`` is its address, ``requests`` what it was asked so far."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = list(rules)
        self.requests: list[Request] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The address, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def matching(self, pattern: str) -> list[Request]:
        """The requests whose text fits a regex."""
        return [request for request in self.requests if re.search(pattern, request.text, re.S)]

    def rule_for(self, request: Request) -> Rule:
        """The first rule that fits; else a plain "Done."."""
        fitting = (rule for rule in self.rules if re.search(rule.match, request.text, re.S))
        return next(fitting, Rule(""))

    def __enter__(self) -> Loopback:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


def read_request(api: str, body: dict[str, Any]) -> Request:
    """A request body of any of the three APIs as one value."""
    turns = body.get("messages") or body.get("input") or []
    if isinstance(turns, str):
        turns = [{"role": "user", "content": turns}]
    system = [_text(body.get("system")), _text(body.get("instructions"))]
    system += [_text(turn.get("content")) for turn in turns if turn.get("role") in ("system", "developer")]
    users = [_text(turn.get("content")) for turn in turns if turn.get("role") == "user"]
    tools = [tool.get("name") or tool.get("function", {}).get("name", "") for tool in body.get("tools") or []]
    return Request(
        api=api,
        model=str(body.get("model")),
        tools=tuple(tools),
        system="\n".join(filter(None, system)),
        users=tuple(filter(None, users)),
        raw="\n".join(_strings(body)),
    )


def has_acted(body: dict[str, Any]) -> bool:
    """Whether the newest turn is the result of a tool: the agent has done what it was told."""
    turns = body.get("messages") or body.get("input") or []
    last = turns[-1] if isinstance(turns, list) and turns else {}
    content = last.get("content")
    blocks = content if isinstance(content, list) else []
    is_result = any(isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks)
    return is_result or last.get("role") == "tool" or str(last.get("type", "")).endswith("_output")


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(
        str(block.get("text", "")) for block in blocks if isinstance(block, dict) and "text" in block
    )


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _strings(inner)


def _handler(loopback: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        server_state = loopback

    return Handler


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_state: Loopback

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""

    def do_GET(self) -> None:
        self._json({"data": [], "models": []})

    do_HEAD = do_GET

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        path = self.path.split("?")[0]
        api = next((name for end, name in ENDPOINTS.items() if path.endswith(end)), "")
        if not api:
            self._json({"input_tokens": 10})
            return
        request = read_request(api, body)
        self.server_state.requests.append(request)
        rule = self.server_state.rule_for(request)
        time.sleep(rule.delay)
        if rule.status != 200:
            error = {"type": "invalid_request_error", "message": rule.text}
            self._json({"type": "error", "error": error}, rule.status)
            return
        act = rule.write if request.tools and not has_acted(body) else None
        getattr(self, f"_{api}")(body, rule.text, act)

    def _messages(self, body: dict[str, Any], text: str, act: tuple[str, str] | None) -> None:
        blocks: list[dict[str, Any]] = [{"type": "text", "text": "I write the file." if act else text}]
        if act:
            arguments = {"file_path": act[0], "content": act[1]}
            blocks.append({"type": "tool_use", "id": _new("toolu"), "name": "Write", "input": arguments})
        message = {
            "id": _new("msg"), "type": "message", "role": "assistant", "model": body.get("model"),
            "content": blocks, "stop_reason": "tool_use" if act else "end_turn", "stop_sequence": None,
            "usage": USAGE,
        }  # fmt: skip
        if not body.get("stream"):
            self._json(message)
            return
        self._stream()
        self._event("message_start", message={**message, "content": [], "stop_reason": None})
        for index, block in enumerate(blocks):
            self._block(index, block)
        end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        self._event("message_delta", delta=end, usage=USAGE)
        self._event("message_stop")

    def _block(self, index: int, block: dict[str, Any]) -> None:
        if block["type"] == "text":
            begin, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            begin = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        self._event("content_block_start", index=index, content_block=begin)
        self._event("content_block_delta", index=index, delta=delta)
        self._event("content_block_stop", index=index)

    def _chat(self, body: dict[str, Any], text: str, act: tuple[str, str] | None) -> None:
        delta: dict[str, Any] = {"content": text}
        if act:
            arguments = json.dumps({"path": act[0], "content": act[1]})
            call = {"index": 0, "id": _new("call"), "type": "function"}
            delta = {"tool_calls": [{**call, "function": {"name": "write", "arguments": arguments}}]}
        base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}
        self._stream()
        end = "tool_calls" if act else "stop"
        for part, reason in (({"role": "assistant", "content": ""}, None), (delta, None), ({}, end)):
            self._data({**base, "choices": [{"index": 0, "delta": part, "finish_reason": reason}]})
        usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
        self._data({**base, "choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def _responses(self, body: dict[str, Any], text: str, act: tuple[str, str] | None) -> None:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        item = {
            "type": "message",
            "id": _new("msg"),
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
        if act:
            lines = "".join(f"+{line}\n" for line in act[1].splitlines())
            patch = f"*** Begin Patch\n*** Add File: {act[0]}\n{lines}*** End Patch\n"
            item = {
                "type": "custom_tool_call", "id": _new("ctc"), "status": "completed", "call_id": _new("call"),
                "name": "apply_patch", "input": patch,
            }  # fmt: skip
        details = {
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, **details}
        begun = {"id": "r1", "object": "response", "status": "in_progress", "output": []}
        self._stream()
        self._event("response.created", response=begun)
        self._event("response.output_item.added", output_index=0, item=item)
        self._event("response.output_item.done", output_index=0, item=item)
        self._event(
            "response.completed", response={**begun, "status": "completed", "output": [item], "usage": usage}
        )

    def _json(self, value: Any, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def _event(self, kind: str, **fields: Any) -> None:
        self.wfile.write(f"event: {kind}\n".encode())
        self._data({"type": kind, **fields})

    def _data(self, value: Any) -> None:
        self.wfile.write(f"data: {json.dumps(value)}\n\n".encode())
        self.wfile.flush()


def _new(kind: str) -> str:
    return f"{kind}_{time.time_ns()}"
