"""Where transcripts lie: by the id of a session, by what a draft names, and all of a project."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from decision_hooks.system.project import Project, work_trees
from decision_hooks.transcripts import blocks

HOSTS = ("claude", "cursor", "pi", "codex")
_HEADS = (16 * 1024, 512 * 1024)  # bytes in which a session tells where it was begun, mostly in the first
_LONGEST = 200  # characters of a folder's name; Claude Code cuts longer ones and adds a hash
_ID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")


class SessionFile(NamedTuple):
    """The transcript of one session."""

    host: str
    session_id: str
    path: str  # real path
    size: int  # bytes
    modified: float  # seconds since the epoch


def host_transcripts(host: str, name: str, environ: Mapping[str, str]) -> list[str]:
    """Paths where a host keeps the transcript of that session id; ``*`` as ``name`` finds those of all."""
    home = environ.get("HOME", "")
    if not home:
        return []
    claude = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    codex = environ.get("CODEX_HOME") or os.path.join(home, ".codex")
    pi = environ.get("PI_CODING_AGENT_DIR") or os.path.join(home, ".pi", "agent")
    from glob import escape, glob

    home, claude, codex, pi = (escape(folder) for folder in (home, claude, codex, pi))
    patterns = {
        "claude": [f"{claude}/projects/*/{name}.jsonl"],
        "cursor": [
            f"{home}/.cursor/projects/*/agent-transcripts/{name}.jsonl",
            f"{home}/.cursor/projects/*/agent-transcripts/{name}/{name}.jsonl",
            f"{home}/.cursor/projects/*/agent-transcripts/{name}.txt",
        ],
        "pi": [f"{pi}/sessions/*/*_{name}.jsonl"],
        "codex": [f"{codex}/sessions/*/*/*/rollout-*{name}.jsonl"],
    }
    found: list[str] = []
    for pattern in patterns.get(host, []):
        found.extend(sorted(glob(pattern)))
    return found


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

    found = glob(f"{escape(before)}*{escape(after)}")
    return blocks.extent(found[0]) if len(found) == 1 else None


def of_project(
    project: Project, environ: Mapping[str, str], cwd_of: Callable[[bytes], str], since: float = 0.0
) -> list[SessionFile]:
    """The sessions that were begun in this work tree and changed after ``since``, oldest first.

    ``cwd_of`` tells the working directory that a line of a transcript names, "" for none. A host's folder
    names are lossy: a session of another place is told by its first working directory (Cursor notes none).
    """
    trees = [tree for tree in work_trees(project.root) if tree != os.path.realpath(project.root)]
    found = {}
    for host in HOSTS:
        for path in host_transcripts(host, "*", environ):
            if not _may_be(host, path, project.root):
                continue
            where = blocks.extent(path)
            if where is None or not where.size or where.modified < since:
                continue
            if host == "cursor" or _belongs(_first_cwd(where.path, cwd_of), project.root, trees):
                session = SessionFile(host, _session_id(host, path), where.path, where.size, where.modified)
                found[where.path] = session
    return sorted(found.values(), key=lambda session: (session.modified, session.path))


def _may_be(host: str, path: str, root: str) -> bool:
    """Whether the folder of a transcript can be that of the project."""
    folder = os.path.dirname(path)
    roots = {os.path.abspath(root), os.path.realpath(root)}
    if host == "claude":
        name = os.path.basename(folder)
        slugs = {_dashed(one) for one in roots}
        return any(name == slug or _is_cut(name, slug) for slug in slugs)
    if host == "cursor":
        stem = os.path.splitext(os.path.basename(path))[0]
        parent = os.path.basename(folder)
        if parent == stem:
            folder = os.path.dirname(folder)
        elif parent != "agent-transcripts":
            return False
        name = os.path.basename(os.path.dirname(folder))
        return any(_dashed(name).strip("-") == _dashed(one).strip("-") for one in roots)
    return True


def _is_cut(name: str, slug: str) -> bool:
    return len(slug) > _LONGEST and name.startswith(slug[:_LONGEST])


def _dashed(path: str) -> str:
    """A path as the hosts make a folder name of it; JavaScript counts a letter beyond U+FFFF twice."""
    return "".join(c if c.isascii() and c.isalnum() else "--" if ord(c) > 0xFFFF else "-" for c in path)


def _session_id(host: str, path: str) -> str:
    stem = os.path.splitext(os.path.basename(path))[0]
    if host == "pi":
        return stem.rpartition("_")[2]
    if host == "codex":
        found = _ID.search(stem)
        return found[0] if found else stem.removeprefix("rollout-")
    return stem


def _first_cwd(path: str, cwd_of: Callable[[bytes], str]) -> str:
    for most in _HEADS:
        head = blocks.read_range(path, 0, most)
        lines = head.split(b"\n")
        for line in lines if len(head) < most else lines[:-1]:
            cwd = cwd_of(line) if b'"cwd"' in line else ""
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
