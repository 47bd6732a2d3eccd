"""Which files a call of an edit tool changes; the names of these tools are on the hosts' cards."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

from decision_hooks.hosts.fields import string

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
    paths = (_quoted_header() if quoted else _header()).findall(text, begin)
    return tuple(dict.fromkeys(path.strip() for path in paths if path.strip()))


@cache
def _header() -> re.Pattern[str]:
    return re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\r\n]+)", re.MULTILINE)


@cache
def _quoted_header() -> re.Pattern[str]:
    return re.compile(r"\\n\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\\\"\r\n]+)")
