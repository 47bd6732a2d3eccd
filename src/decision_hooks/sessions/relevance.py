"""Whether the files that a part changed are of this project, and whether they are more than tooling. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from decision_hooks.sessions.model import Edit


def changed_paths(edits: Iterable[Edit], *, root: str, resolve: Callable[[str], str]) -> tuple[str, ...]:
    """Absolute paths of edits, links resolved; a relative one is under its working directory, else the root."""
    found = []
    for edit in edits:
        if "\0" in edit.path or "\0" in edit.cwd:
            continue
        path = resolve(os.path.join(root, edit.cwd, edit.path))
        # Plan mode keeps its plan in the user's own folder: that is no work in another project.
        if "/.claude/plans/" not in path or _is_under(path, root):
            found.append(path)
    return tuple(dict.fromkeys(found))


def is_cross_project(paths: Iterable[str], roots: Iterable[str]) -> bool:
    """Whether files were changed, and none under the project or a worktree of its repository."""
    changed, ours = list(paths), list(roots)
    return bool(changed) and not any(_is_under(path, root) for path in changed for root in ours)


def is_tooling_only(
    paths: Iterable[str], *, root: str, adr_dir: str, version_only: Callable[[str], bool]
) -> bool:
    """Whether files were changed, and each is a dictionary, a record, a changelog, an agent file or a version.

    ``version_only``: whether only the version of a ``package.json`` differs from ``HEAD``.
    """
    changed = list(paths)
    return bool(changed) and all(_is_tooling(path, root, adr_dir, version_only) for path in changed)


def only_version_changed(before: str, now: str) -> bool:
    """Whether two texts differ, and in no other lines than ``"version"``; ends of lines may differ."""
    old, new = (text.replace("\r\n", "\n").split("\n") for text in (before, now))
    return old != new and _without_version(old) == _without_version(new)


def _without_version(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if not re.fullmatch(r'\s*"version"\s*:\s*"[^"]*"\s*,?\s*', line)]


def _is_tooling(path: str, root: str, adr_dir: str, version_only: Callable[[str], bool]) -> bool:
    folder, name = os.path.split(path)
    if name == "CHANGELOG.md":
        return True
    if name == "package.json":
        return version_only(path)
    if name in (".cspell.json", "AGENTS.md", "CLAUDE.md") and folder == root.rstrip("/"):
        return True
    return name.endswith(".md") and _is_under(path, adr_dir)


def _is_under(path: str, root: str) -> bool:
    """Letter case is passed over, as file systems of macOS do: in doubt a session counts as ours."""
    path, root = path.casefold(), root.casefold().rstrip("/")
    return path == root or path.startswith(root + "/")
