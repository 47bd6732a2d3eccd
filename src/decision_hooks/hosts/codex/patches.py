"""Which patches of a Codex rollout were applied: from the events where there are any, else from the calls."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

from decision_hooks.hosts.edit_tools import edited_paths, patch_paths
from decision_hooks.hosts.fields import Record, mapping, objects, string, text_of

PATCH = "apply_patch"  # the tool whose input is a patch


class Patches:
    """Collects calls, their results and events; a call whose result was not seen counts as done."""

    def __init__(self, edit_tools: Collection[str]) -> None:
        self._edit_tools = edit_tools
        self._calls: list[tuple[str, tuple[str, ...]]] = []
        self._failed: set[str] = set()
        self._events: list[tuple[str, ...]] = []
        self._by_event = False

    def called(self, call: str, name: str, value: object) -> None:
        """A tool call; the patch may be its input, a field of it, or part of a command or a script."""
        value = parsed(value)
        paths = edited_paths(name, value, self._edit_tools)
        if not paths:
            paths = tuple(path for text in strings(value) for path in patch_paths(text))
        if paths:
            self._calls.append((call, paths))

    def answered(self, call: str, output: object) -> bool:
        """Take the result of a tool call; returns whether it failed."""
        failed = _is_failure(output)
        if call and failed:
            self._failed.add(call)
        return failed

    def applied(self, event: Record, done: bool) -> None:
        """An event that says whether a patch was applied: the best evidence. A move has its new path inside."""
        self._by_event = True
        changes = mapping(event, "changes") if done else {}
        moved = (string(change, "move_path") for change in objects(list(changes.values())))
        self._events.append(tuple(path for path in (*changes, *moved) if path))

    def done(self) -> Iterator[tuple[str, ...]]:
        """Paths of the patches that were applied."""
        if self._by_event:
            yield from self._events
            return
        for call, paths in self._calls:
            if call not in self._failed:
                yield paths


def parsed(value: object) -> object:
    """Arguments and outputs, which some versions write as a JSON string."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def strings(value: object) -> Iterator[str]:
    """The strings of a call's input that can have a patch in them: itself, its fields, the words of a command."""
    if isinstance(value, str):
        yield value
    fields = list(value.values()) if isinstance(value, dict) else []
    for field in fields:
        if isinstance(field, str):
            yield field
        elif isinstance(field, list):
            yield from (word for word in field if isinstance(word, str))


def _is_failure(output: object) -> bool:
    value = parsed(output)
    if isinstance(value, dict):
        code = mapping(value, "metadata").get("exit_code", 0)
        text = string(value, "output") or text_of(value.get("content"))
        return (
            value.get("success") is False or (isinstance(code, int) and code != 0) or _is_failure_text(text)
        )
    return _is_failure_text(text_of(value))


def _is_failure_text(text: str) -> bool:
    head = text[:300].lstrip().lower()
    code = re.search(r"^(?:exit code:|process exited with code) (-?[0-9]{1,9})\b", head, re.MULTILINE)
    if code:
        return int(code.group(1)) != 0
    return (
        head.startswith(("error", "failed", "rejected", "patch rejected", "invalid patch", "aborted"))
        or "verification failed" in head
        or "rejected by user" in head
    )
