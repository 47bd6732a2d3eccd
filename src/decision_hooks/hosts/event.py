"""The payload of a Stop event, and what flags and environment add to it, as one typed value."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple


class Flags(NamedTuple):
    """What stood on the command line in hook mode; "" where a flag was not given."""

    detach: bool = False
    project_root: str = ""
    transcript: str = ""
    session_id: str = ""


class HookEvent(NamedTuple):
    """A stop, as far as its host tells."""

    host: str  # claude | cursor | pi | codex
    root_candidates: tuple[str, ...]  # best first; those that are no folder are to be passed over
    transcript: str  # path as given, "~" not expanded; "" when none was
    session_id: str  # "unknown" when none was given
    message: str  # last assistant message, "" when none was given
    completed: bool  # Cursor tells of aborted and failed turns too


def read_payload(data: bytes) -> dict[str, object]:
    """The JSON object on stdin; {} for anything else. A BOM and bad bytes are tolerated."""
    try:
        value = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def read_event(
    payload: Mapping[str, object],
    flags: Flags,
    environ: Mapping[str, str],
    *,
    cwd: str,
    git_top: Callable[[str], str],
) -> HookEvent:
    """Join flags, environment and payload; flags win, then the environment's root, then the payload's."""
    payload_cwd = _text(payload, "cwd")
    roots = payload.get("workspace_roots")
    first_root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    host = _host(payload, environ)
    return HookEvent(
        host=host,
        root_candidates=(
            flags.project_root,
            environ.get("CLAUDE_PROJECT_DIR", ""),
            environ.get("CURSOR_PROJECT_DIR", ""),
            clean(first_root),
            git_top(payload_cwd),
            payload_cwd,
            cwd,
        ),
        transcript=flags.transcript
        or _text(payload, "transcript_path")
        or environ.get("CURSOR_TRANSCRIPT_PATH", ""),
        session_id=flags.session_id
        or _text(payload, "session_id")
        or _text(payload, "conversation_id")
        or _text(payload, "generation_id")
        or "unknown",
        message=_text(payload, "last_assistant_message").strip(),
        completed=_text(payload, "status") in ("", "completed") or host != "cursor",
    )


def _host(payload: Mapping[str, object], environ: Mapping[str, str]) -> str:
    if "conversation_id" in payload or "workspace_roots" in payload or "cursor_version" in payload:
        return "cursor"
    if payload.get("hook_event_name") == "agent_end":
        return "pi"
    if "turn_id" in payload:
        return "codex"
    if not payload and environ.get("CURSOR_TRANSCRIPT_PATH"):
        return "cursor"
    return "claude"


def clean(text: str) -> str:
    """Text of a payload without NUL and with lone surrogates replaced."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _text(payload: Mapping[str, object], key: str) -> str:
    value = payload.get(key)
    return clean(value) if isinstance(value, str) else ""
