"""What a tool call does: which files one of an edit tool changes and how, which command one runs.

The names of the edit tools are on the hosts' cards.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache

from decision_hooks.hosts.fields import Record, items, objects, readable, string

_PATH_FIELDS = ("file_path", "notebook_path", "path", "target_notebook", "target_file", "filePath")
_PATCH_FIELDS = ("input", "patch", "patchText")
_OLD_FIELDS = ("old_string", "oldText", "old_str")
_NEW_FIELDS = ("new_string", "newText", "new_str", "content", "contents", "new_source", "code_edit")
_COMMAND_FIELDS = ("command", "cmd", "script")
_BEGIN = "*** Begin Patch"


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


def changes(tool: str, value: object, tools: Collection[str]) -> list[tuple[str, str]]:
    """The path of each file that a call of an edit tool changes, and the lines that go and come; [] for other tools.

    A line that goes is ``- line``, one that comes ``+ line``; what is only context is left out.
    """
    if tool not in tools:
        return []
    text = value if isinstance(value, str) else ""
    if isinstance(value, dict):
        path = next(filter(None, (string(value, field) for field in _PATH_FIELDS)), "")
        if path:
            rows = [row for item in (value, *objects(items(value, "edits"))) for row in _changed_rows(item)]
            return [(path, "\n".join(rows))]
        text = next(
            (text for text in (string(value, field) for field in _PATCH_FIELDS) if _BEGIN in text), ""
        )
    return patch_changes(text)


def command_of(value: object) -> str:
    """The command that a call runs, without the shell that runs it; "" where a tool runs none."""
    if not isinstance(value, dict):
        return ""
    for field in _COMMAND_FIELDS:
        command = value.get(field)
        if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
            is_shell = len(command) == 3 and command[1] in ("-c", "-lc")
            return str(command[2]) if is_shell else " ".join(map(str, command))
        if isinstance(command, str) and command.strip():
            return command
    return ""


def spoken(value: object) -> str:
    """The input of a call as text: the command alone where there is one."""
    return command_of(value) or readable(value) or "-"


def patch_changes(text: str) -> list[tuple[str, str]]:
    """The changes of a patch in the ``*** Begin Patch`` form, as ``changes``."""
    begin = text.find(_BEGIN)
    if begin < 0:
        return []
    text = text[begin:]
    if "\n" not in text[:17]:  # inside a quoted string of a script
        text = re.sub(r"\\([\"'\\])", r"\1", text.replace("\\n", "\n"))
    found: list[tuple[str, list[str]]] = []
    for row in text.split("\n"):
        header = _header().match(row)
        if row.startswith("*** End Patch"):
            break
        if header:
            kind, path = row.split(" ", 2)[1], header[1].strip()
            if kind == "Move" and found:
                found[-1][1].append(f"moved to {path}")
            else:
                found.append((path, ["deleted"] if kind == "Delete" else []))
        elif found and row[:1] in ("+", "-") and row[1:].strip():
            found[-1][1].append(f"{row[0]} {row[1:]}")
    return [(path, "\n".join(rows)) for path, rows in found]


def _changed_rows(value: Record) -> Iterator[str]:
    """The lines of one replacement that go, then those that come; lines that both texts have are context."""
    old, new = (
        next((text for text in (string(value, field) for field in fields) if text), "").split("\n")
        for fields in (_OLD_FIELDS, _NEW_FIELDS)
    )
    for mark, rows, others in (("-", old, Counter(new)), ("+", new, Counter(old))):
        for row in rows:
            others[row] -= 1
            if others[row] < 0 and row.strip():
                yield f"{mark} {row}"


def patch_paths(text: str) -> tuple[str, ...]:
    """All paths of a patch in the ``*** Begin Patch`` form, also inside a quoted string of a script."""
    begin = text.find(_BEGIN)
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
