"""The payload of a Stop event, and what flags and environment add to it, as one typed value."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

from decision_hooks.hosts import table


class HookEvent(NamedTuple):
    """A stop, as far as its host reports it."""

    host: str
    root_candidates: tuple[str, ...]  # best first; those that are no folder are to be passed over
    transcripts: tuple[str, ...]  # paths as given, best first, "~" not expanded; some may be ""
    session_id: str  # "unknown" when none was given
    message: str  # last assistant message, "" when none was given
    completed: bool  # some hosts report aborted and failed turns too


def read_payload(data: bytes) -> dict[str, object]:
    """The JSON object on stdin; {} for anything else. A BOM and bad bytes are tolerated."""
    try:
        value = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def read_event(
    payload: Mapping[str, object],
    flags: Mapping[str, str],
    environ: Mapping[str, str],
    *,
    cwd: str,
    git_top: Callable[[str], str],
) -> HookEvent:
    """Join flags, environment and payload; flags win, then the environment's root, then the payload's."""
    payload_cwd = _text(payload, "cwd")
    host = table.of_payload(payload, environ)
    roots = payload.get(host.roots_field)
    first_root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    ids = [_text(payload, field) for card in table.HOSTS for field in card.session_fields]
    return HookEvent(
        host=host.name,
        root_candidates=(
            flags.get("--project-root", ""),
            *(environ.get(card.root_variable, "") for card in table.HOSTS),
            _clean(first_root),
            git_top(payload_cwd),
            payload_cwd,
            cwd,
        ),
        transcripts=(
            flags.get("--transcript") or _text(payload, "transcript_path"),
            *(environ.get(card.transcript_variable, "") for card in table.HOSTS),
        ),
        session_id=flags.get("--session-id") or next(filter(None, ids), "unknown"),
        message=_text(payload, "last_assistant_message").strip(),
        completed=not host.has_status or _text(payload, "status") in ("", "completed"),
    )


def _clean(text: str) -> str:
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _text(payload: Mapping[str, object], key: str) -> str:
    value = payload.get(key)
    return _clean(value) if isinstance(value, str) else ""
