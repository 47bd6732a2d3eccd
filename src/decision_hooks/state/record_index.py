"""The index of the records, kept between runs: only files that changed are read again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from decision_hooks.errors import FolderError
from decision_hooks.records import search
from decision_hooks.records.search import MOST_COUNT, Indexed
from decision_hooks.state.normalize import NormalState
from decision_hooks.system import adr_folder, files, stored
from decision_hooks.system.project import Project
from decision_hooks.text.terms import MOST_CHARACTERS

_VERSION = 1  # of the stored form and of the rules for terms
_Length = Annotated[int, range(10 * MOST_CHARACTERS + 1)]  # terms; a larger entry was not written here
_Count = Annotated[int, range(1, MOST_COUNT + 1)]


class _Row(NamedTuple):
    """An ``Indexed`` as it is stored, with size (bytes) and time (ns) of its file."""

    size: int
    mtime: int
    name: str
    title: str
    description: str
    heading: str
    counted: tuple[tuple[_Count, str], ...]
    length: _Length
    updates: _Length


def record_index(project: Project, names: Sequence[str]) -> search.Index:
    """The index of the records' bodies, kept by size and time of each file: only what has changed is read."""
    state = NormalState(project)
    kept = load(files.read_bytes(state.index) or b"")
    current: dict[str, tuple[int, int, Indexed]] = {}
    for name, (size, time) in adr_folder.stamps(project.adr, names):
        old = kept.get(name)
        if old and old[:2] == (size, time):
            current[name] = old
        else:
            read = adr_folder.read(project.adr, name)
            if read:
                current[name] = (size, time, search.index_record(name, read.text))
    if current != kept:
        try:
            state.keep_index(dump(current))
        except FolderError:  # it is only slower without
            pass
    return search.build_index([one for _, _, one in current.values()])


def dump(records: Mapping[str, tuple[int, int, Indexed]]) -> bytes:
    """Records with size (bytes) and time (ns) of their files, as bytes that ``load`` reads."""
    rows = [(size, mtime, *one) for size, mtime, one in records.values()]
    value = {"version": _VERSION, "records": rows}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def load(data: bytes) -> dict[str, tuple[int, int, Indexed]]:
    """What ``dump`` wrote; entries of another form are left out, another version or no JSON gives none."""
    try:
        value = json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return {}
    rows = value.get("records") if isinstance(value, dict) and value.get("version") == _VERSION else None
    entries = [(row, stored.read(_Row, row)) for row in (rows if isinstance(rows, list) else ())]
    return {
        entry.name: (entry.size, entry.mtime, Indexed(*entry[2:]))
        for row, entry in entries
        if entry and isinstance(row, list) and len(row[6]) == len(entry.counted)
    }
