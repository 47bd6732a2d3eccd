"""What an installation remembers in the state folder: each file as it was before, and the folders it created.

Without it (another clone, a cleaned folder) our entries are still found by their mark and taken out of the
text.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from decision_hooks.hosts.entry_line import ID_OF_PROGRAM
from decision_hooks.hosts.marks import MARK, is_sealed
from decision_hooks.install.merge import Trace
from decision_hooks.system import files
from decision_hooks.system.project import Project, main_root
from decision_hooks.text.fingerprint import fingerprint

BACKUPS, MEMORY = "backups", "install.json"  # in the state folder
LABEL = "install-"  # of temporary files


class Kept(NamedTuple):
    """What is remembered of one file."""

    existed: bool  # before the first change of ours
    exact: bool  # the backup is the file without us
    after: str  # hash of the file as we left it
    trace: Trace


class Memory(NamedTuple):
    """What an installation did: files by their real path, and the folders that it created."""

    kept: dict[str, Kept]
    folders: tuple[str, ...]


def read_memory(project: Project) -> Memory:
    """What the last installation remembered; nothing where it cannot be read."""
    stored = files.read_json(project.state_file(MEMORY)) or {}
    kept, folders = stored.get("files"), stored.get("folders")
    return Memory(
        {path: _kept(value) for path, value in _items(kept) if isinstance(value, dict)},
        tuple(folder for folder in _list(folders) if isinstance(folder, str) and _is_inside(project, folder)),
    )


def _is_inside(project: Project, folder: str) -> bool:
    """Whether a folder lies below the project or its main work tree: no other was created here."""
    tops = (project.root, os.path.realpath(project.root), main_root(project))
    return any(os.path.normpath(folder).startswith(top.rstrip(os.sep) + os.sep) for top in tops)


def _kept(value: Mapping[str, object]) -> Kept:
    created, replaced = value.get("created"), value.get("replaced")
    return Kept(
        value.get("existed") is True,
        value.get("exact") is True,
        str(value.get("after", "")),
        Trace(
            tuple(str(name) for name in _list(created)),
            tuple((ID_OF_PROGRAM.get(name, name), str(text)) for name, text in _items(replaced)),
        ),
    )


def _items(value: object) -> list[tuple[str, object]]:
    return list(value.items()) if isinstance(value, dict) else []


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def write_memory(project: Project, memory: Memory) -> None:
    """Remember it in the state folder, which must be there. Raises ``FolderError``."""
    kept = {
        path: {
            "existed": file.existed,
            "exact": file.exact,
            "after": file.after,
            "created": list(file.trace.created),
            "replaced": dict(file.trace.replaced),
        }
        for path, file in memory.kept.items()
    }
    data = files.json_bytes({"files": kept, "folders": list(memory.folders)})
    files.write_atomic(project.state_file(MEMORY), data, label=LABEL)


def backup(project: Project, path: str) -> str:
    """The path of the backup of a file."""
    return project.state_file(BACKUPS, f"{hash_of(files.to_bytes(path))[:8]}-{os.path.basename(path)}")


def hash_of(data: bytes) -> str:
    """A hash of the content of a file."""
    return fingerprint(data, 16)


def keep(
    project: Project, path: str, before: bytes | None, left: bytes, trace: Trace, old: Kept | None
) -> Kept:
    """What to remember of a file that is about to change from ``before`` to ``left``; backs it up."""
    after = hash_of(left)
    ours = _has_ours(before)
    old = old if ours else None  # a file without anything of ours begins anew
    if old and before is not None and old.after == hash_of(before):
        return old._replace(after=after, trace=_joined(old.trace, trace))
    if before is not None:
        files.make_folder(project.state_file(BACKUPS), 0o700)
        files.write_atomic(backup(project, path), before, mode=0o600, label=LABEL)
    existed = old.existed if old else before is not None
    return Kept(existed, not ours, after, _joined(old.trace if old else Trace(), trace))


def _has_ours(before: bytes | None) -> bool:
    """Whether the old file already had something of ours, so that it is no valid restore target."""
    text = (before or b"").decode("utf-8", "replace")
    return MARK in text or is_sealed(before or b"")


def _joined(old: Trace, new: Trace) -> Trace:
    replaced = {**dict(new.replaced), **dict(old.replaced)}
    return Trace(tuple(dict.fromkeys([*old.created, *new.created])), tuple(replaced.items()))
