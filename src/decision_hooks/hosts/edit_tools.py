"""Which files a call of an edit tool changes; the names of these tools are on the hosts' cards."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

from decision_hooks.hosts.fields import NOTHING, objects, string

_PATH_FIELDS = ("file_path", "notebook_path", "path", "target_notebook", "target_file", "filePath")
_PATCH_FIELDS = ("input", "patch", "patchText")


def edited_paths(tool: str, value: object, tools: Collection[str]) -> tuple[str, ...]:
    """The paths, as recorded, that a call of one of the edit tools changes; () for other tools."""
    if tool not in tools:
        return ()
    if isinstance(value, str):
        return patch_paths(value)
    if not isinstance(value, dict):
        return ()
    for field in _PATH_FIELDS:
        path = string(value, field)
        if path:
            return (path,)
    return tuple(path for field in _PATCH_FIELDS for path in patch_paths(string(value, field)))


def patch_paths(text: str) -> tuple[str, ...]:
    """All paths of a patch in the ``*** Begin Patch`` form, also inside a quoted string of a script."""
    begin = text.find("*** Begin Patch")
    if begin < 0:
        return ()
    quoted = "\n" not in text[begin : begin + 17]  # the line ends are written as \n
    found = (_quoted_header() if quoted else _header()).findall(text, begin)
    return tuple(dict.fromkeys(path.strip() for path in found if path.strip()))


def paths_of_changes(changes: object) -> tuple[str, ...]:
    """Paths of a Codex event of a done patch: an object keyed by path, with the new path of a move."""
    if not isinstance(changes, dict):
        return ()
    moved = [string(change, "move_path") for change in objects(list(changes.values()))]
    return tuple(path for path in (*changes, *moved) if path)


def path_of_result(result: object) -> str:
    """The path in a Claude Code result that only a done edit has; "" for results of other tools."""
    record = result if isinstance(result, dict) else NOTHING
    return string(record, "filePath") if isinstance(record.get("structuredPatch"), list) else ""


@cache
def _header() -> re.Pattern[str]:
    return re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\r\n]+)", re.MULTILINE)


@cache
def _quoted_header() -> re.Pattern[str]:
    return re.compile(r"\\n\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\\\"\r\n]+)")
