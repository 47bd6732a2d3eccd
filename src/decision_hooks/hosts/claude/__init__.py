"""Claude Code: its card, and in the folder its readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from decision_hooks.hosts.base import Host, Reader, dashed

if TYPE_CHECKING:
    from decision_hooks.hosts.entry_line import Target

_LONGEST = 200  # characters of a folder's name; longer ones are cut and get a hash


class Claude(Host):
    """Claude Code, 1.0 to 2.1. Its payload has no mark: it is what no other host recognises."""

    name = "claude"
    title = "Claude Code"
    root_variable = "CLAUDE_PROJECT_DIR"
    edit_tools = ("Edit", "Write", "MultiEdit", "NotebookEdit")
    edit_needles = (b'_path"',)
    request_needles = (b'"user"', b'"queue', b'"AskUserQuestion"', b'"ExitPlanMode"')
    folder_variable = "CLAUDE_CONFIG_DIR"
    folder = ".claude"
    transcripts = ("projects/*/{0}.jsonl",)
    project_folder = "(/projects/)[^/]+/"

    def is_record(self, record: Mapping[str, object]) -> bool:
        """Whether a record is a message, or of another type and has an id."""
        kind = record.get("type")
        if kind in ("user", "assistant"):
            return "message" in record
        named = "sessionId" in record or "uuid" in record or "leafUuid" in record or "messageId" in record
        return isinstance(kind, str) and (named or kind in ("summary", "queue-operation", "attachment"))

    def reader(self) -> type[Reader]:
        """The class of its readers."""
        from decision_hooks.hosts.claude.reader import ClaudeReader

        return ClaudeReader

    def target(self) -> Target:
        """What is installed for Claude Code."""
        from decision_hooks.hosts.claude.entries import claude

        return claude()

    def may_be_of(self, path: str, root: str) -> bool:
        """Whether the folder's name is the path of the project, perhaps cut."""
        name, slug = path.split("/")[-2], dashed(root)
        return name == slug or (len(slug) > _LONGEST and name.startswith(slug[:_LONGEST]))
