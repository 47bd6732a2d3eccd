"""pi: its card, and in the folder its reader and the extension that calls us."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from decision_hooks.hosts.base import Host, Reader

if TYPE_CHECKING:
    from decision_hooks.hosts.entry_line import Target

_ENTRIES = (
    *("message", "model_change", "thinking_level_change", "compaction", "branch_summary"),
    *("custom", "custom_message", "label", "session_info"),
)


class Pi(Host):
    """pi; its payload is what our extension writes."""

    name = "pi"
    title = "pi"
    header = "session"
    edit_tools = ("edit", "write")
    edit_needles = (b'"path"',)
    folder_variable = "PI_CODING_AGENT_DIR"
    folder = ".pi/agent"
    transcripts = ("sessions/*/*_{0}.jsonl",)
    project_folder = "(/sessions/)--[^/]*--/"

    def is_payload(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> bool:
        """Whether our extension wrote a payload."""
        return payload.get("hook_event_name") == "agent_end"

    def is_record(self, record: Mapping[str, object]) -> bool:
        """Whether a record is an entry with a time, or the header."""
        kind = record.get("type")
        if kind == self.header:
            return "sessionId" not in record and isinstance(record.get("cwd"), str)
        named = "uuid" in record or "sessionId" in record
        return kind in _ENTRIES and not named and "timestamp" in record

    def reader(self) -> type[Reader]:
        """The class of its readers."""
        from decision_hooks.hosts.pi.reader import PiReader

        return PiReader

    def target(self) -> Target:
        """What is installed for pi."""
        from decision_hooks.hosts.pi.entries import pi

        return pi()

    def session_id(self, stem: str) -> str:
        """What follows the time and its underscore."""
        return stem.rpartition("_")[2]
