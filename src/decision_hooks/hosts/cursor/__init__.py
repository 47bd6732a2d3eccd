"""Cursor: its card, and in the folder its readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from decision_hooks.hosts.base import Host, Reader, dashed

if TYPE_CHECKING:
    from decision_hooks.hosts.entry_line import Target


class Cursor(Host):
    """Cursor; its older versions name no session in the payload, and write plain text."""

    name = "cursor"
    title = "Cursor"
    root_variable = "CURSOR_PROJECT_DIR"
    transcript_variable = "CURSOR_TRANSCRIPT_PATH"
    roots_field = "workspace_roots"
    session_fields = ("conversation_id", "generation_id")
    has_status = True
    edit_tools = (
        *("Write", "StrReplace", "Delete", "EditNotebook", "ApplyPatch"),
        *("search_replace", "edit_file", "delete_file"),  # older versions
    )
    edit_needles = (b'path"', b"Begin Patch")
    folder = ".cursor"
    transcripts = (
        "projects/*/agent-transcripts/{0}.jsonl",
        "projects/*/agent-transcripts/{0}/{0}.jsonl",
        "projects/*/agent-transcripts/{0}.txt",
    )
    notes_cwd = False
    project_folder = "(/projects/)[^/]+/"

    def is_payload(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> bool:
        """Whether a payload has a field that only Cursor has, or is empty beside Cursor's variable."""
        if not payload:
            return bool(environ.get(self.transcript_variable))
        return any(field in payload for field in ("conversation_id", "workspace_roots", "cursor_version"))

    def is_record(self, record: Mapping[str, object]) -> bool:
        """Whether a record has a role and a message but no type, or ends a turn."""
        if record.get("type") == "turn_ended":
            return True
        named = "type" not in record and isinstance(record.get("role"), str)
        return named and isinstance(record.get("message"), dict)

    def reader(self) -> type[Reader]:
        """The class of its readers."""
        from decision_hooks.hosts.cursor.reader import CursorReader

        return CursorReader

    def target(self) -> Target:
        """What is installed for Cursor."""
        from decision_hooks.hosts.cursor.entries import cursor

        return cursor()

    def may_be_of(self, path: str, root: str) -> bool:
        """Whether the folder above ``agent-transcripts`` has the path of the project as its name."""
        *folders, name = path.split("/")
        if folders[-1] == name.rpartition(".")[0]:
            folders.pop()
        elif folders[-1] != "agent-transcripts":
            return False
        return dashed(folders[-2]).strip("-") == dashed(root).strip("-")
