"""Codex: its card, and in the folder its readers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from decision_hooks.hosts.base import Host, Reader

if TYPE_CHECKING:
    from decision_hooks.hosts.entry_line import Target


class Codex(Host):
    """Codex; it keeps the rollouts of all projects by day."""

    name = "codex"
    title = "Codex"
    header = "session_meta"
    edit_tools = ("apply_patch",)
    edit_needles = (b"atch", b"FileChange")
    request_needles = (b'"user"', b"_message", b"UserMessage")
    folder_variable = "CODEX_HOME"
    folder = ".codex"
    transcripts = ("sessions/*/*/*/rollout-*{0}.jsonl",)

    def is_payload(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> bool:
        """Whether a payload names a turn."""
        return "turn_id" in payload

    def is_record(self, record: Mapping[str, object]) -> bool:
        """Whether a record is a typed payload."""
        return isinstance(record.get("payload"), dict) and isinstance(record.get("type"), str)

    def reader(self) -> type[Reader]:
        """The class of its readers."""
        from decision_hooks.hosts.codex.reader import CodexReader

        return CodexReader

    def target(self) -> Target:
        """What is installed for Codex."""
        from decision_hooks.hosts.codex.entries import codex

        return codex()

    def session_id(self, stem: str) -> str:
        """The UUID at the end of a rollout's name."""
        uuid = re.search(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", stem)
        return uuid[0] if uuid else stem.removeprefix("rollout-")
