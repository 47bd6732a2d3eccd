"""The index of the records, kept between runs: only files that changed are read again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from decision_hooks.errors import FolderError
from decision_hooks.records import search
from decision_hooks.records.search import MOST_COUNT, Indexed
from decision_hooks.state.normalize import NormalState
from decision_hooks.system import adr_folder, files
from decision_hooks.system.project import Project
from decision_hooks.text.terms import MOST_CHARACTERS

_VERSION = 1  # of the stored form and of the rules for terms
_MOST_LENGTH = 10 * MOST_CHARACTERS  # terms; a larger entry was not written here


def record_index(project: Project, names: Sequence[str]) -> search.Index:
    """The index of the records' bodies, kept by size and time of each file: only what has changed is read."""
    state = NormalState(project)
    stored = load(files.read_bytes(state.index) or b"")
    current: dict[str, tuple[int, int, Indexed]] = {}
    for name, (size, time) in adr_folder.stamps(project.adr, names):
        old = stored.get(name)
        if old and old[:2] == (size, time):
            current[name] = old
        else:
            read = adr_folder.read(project.adr, name)
            if read:
                current[name] = (size, time, search.index_record(name, read.text))
    if current != stored:
        try:
            state.keep_index(dump(current))
        except FolderError:  # it is only slower without
            pass
    return search.build_index([one for _, _, one in current.values()])


def dump(records: Mapping[str, tuple[int, int, Indexed]]) -> bytes:
    """Records with size (bytes) and time (ns) of their files, as bytes that ``load`` reads."""
    rows = [(size, mtime, *one) for size, mtime, one in records.values()]
    stored = {"version": _VERSION, "records": rows}
    return json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def load(data: bytes) -> dict[str, tuple[int, int, Indexed]]:
    """What ``dump`` wrote; entries of another form are left out, another version or no JSON gives none."""
    try:
        stored = json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(stored, dict) or stored.get("version") != _VERSION:
        return {}
    rows = stored.get("records")
    found = map(_entry, rows) if isinstance(rows, list) else ()
    return {entry[2].name: entry for entry in found if entry is not None}


def _entry(row: object) -> tuple[int, int, Indexed] | None:
    if not isinstance(row, list) or len(row) != 2 + len(Indexed._fields):
        return None
    size, mtime, name, title, description, heading, counted, length, updates = row
    if not all(isinstance(text, str) for text in (name, title, description, heading)):
        return None
    if not all(type(number) is int for number in (size, mtime, length, updates)):
        return None
    if not (0 <= length <= _MOST_LENGTH and 0 <= updates <= _MOST_LENGTH):
        return None
    if not isinstance(counted, list) or not all(map(_is_counted, counted)):
        return None
    pairs = tuple((count, together) for count, together in counted)
    return size, mtime, Indexed(name, title, description, heading, pairs, length, updates)


def _is_counted(pair: object) -> bool:
    return (
        isinstance(pair, list)
        and len(pair) == 2
        and type(pair[0]) is int
        and 0 < pair[0] <= MOST_COUNT
        and isinstance(pair[1], str)
    )
