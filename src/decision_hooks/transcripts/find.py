"""Where transcripts lie: by the id of a session, by what a draft names, and all of a project."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from decision_hooks.hosts import table
from decision_hooks.system.project import Project, work_trees
from decision_hooks.transcripts import blocks

_HEADS = (16 * 1024, 512 * 1024)  # bytes in which a session says where it was begun, mostly in the first


class SessionFile(NamedTuple):
    """The transcript of one session."""

    host: str
    session_id: str
    where: blocks.Extent


def host_transcripts(host: str, session_id: str, environ: Mapping[str, str]) -> list[str]:
    """Paths where a host keeps the transcript of a session; ``*`` as its id finds those of all."""
    from glob import escape, glob

    home, paths = environ.get("HOME", ""), list[str]()
    for card in table.HOSTS:
        if card.name == host and home:
            folder = escape(environ.get(card.folder_variable) or os.path.join(home, card.folder))
            for pattern in card.transcripts:
                paths.extend(sorted(glob(f"{folder}/{pattern.format(session_id)}")))
    return paths


def is_kept(path: str, environ: Mapping[str, str]) -> bool:
    """Whether a path is one where a host keeps the transcript of a session, links followed; it may be gone."""
    from fnmatch import fnmatchcase

    home, real = environ.get("HOME", ""), os.path.realpath(path)
    for card in table.HOSTS:
        folder = os.path.realpath(environ.get(card.folder_variable) or os.path.join(home, card.folder))
        inside = real.startswith(folder.rstrip("/") + "/") if home else False
        below = real[len(folder) :].lstrip("/")
        if inside and any(fnmatchcase(below, pattern.format("*")) for pattern in card.transcripts):
            return True
    return False


def named(path: str, home: str) -> blocks.Extent | None:
    """The transcript that a draft names: home as ``~``, the host's folder perhaps as ``*``; None when it is gone."""
    if path.startswith("~/"):
        path = home + path[1:]
    if not os.path.isabs(path) or not path.endswith((".jsonl", ".txt")):
        return None
    before, star, after = path.partition("*")
    if not star:
        return blocks.extent(path)
    if "*" in after:
        return None
    from glob import escape, glob

    paths = glob(f"{escape(before)}*{escape(after)}")
    return blocks.extent(paths[0]) if len(paths) == 1 else None


def of_project(project: Project, environ: Mapping[str, str], since: float = 0.0) -> list[SessionFile]:
    """The sessions that were begun in this work tree and changed after ``since``, oldest first.

    A host's folder names are lossy: where a transcript notes working directories, the first one decides.
    """
    roots = {os.path.abspath(project.root), os.path.realpath(project.root)}
    trees = [tree for tree in work_trees(project.root) if tree != os.path.realpath(project.root)]
    sessions = {}
    for host in table.HOSTS:
        for path in host_transcripts(host.name, "*", environ):
            where = blocks.extent(path) if any(host.may_be_of(path, root) for root in roots) else None
            if where is None or not where.size or where.modified < since:
                continue
            if not host.notes_cwd or _belongs(_first_cwd(where.path), project.root, trees):
                stem = os.path.splitext(os.path.basename(path))[0]
                sessions[where.path] = SessionFile(host.name, host.session_id(stem), where)
    return sorted(sessions.values(), key=lambda session: (session.where.modified, session.where.path))


def _first_cwd(path: str) -> str:
    from decision_hooks.hosts import transcript

    for most in _HEADS:
        head = blocks.read_range(path, 0, most)
        lines = head.split(b"\n")
        for line in lines if len(head) < most else lines[:-1]:
            cwd = transcript.parse([line]).cwd if b'"cwd"' in line else ""
            if cwd:
                return cwd
        if len(head) < most:
            break
    return ""


def _belongs(cwd: str, root: str, others: list[str]) -> bool:
    """Whether a working directory lies in the root, and in no other work tree of its repository."""
    if not cwd or "\0" in cwd:
        return False
    here = os.path.realpath(cwd)
    top = os.path.realpath(root)
    inner = [tree for tree in others if _within(tree, top)]
    return _within(here, top) and not any(_within(here, tree) for tree in inner)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
