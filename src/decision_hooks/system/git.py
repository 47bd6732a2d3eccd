"""Questions to git; never a command that writes, not even the index."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from decision_hooks.system.project import git_dir, git_top, is_blocked

if TYPE_CHECKING:
    from decision_hooks.system import process

_SECONDS = 15.0
_BUSY = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase or am",
    "BISECT_LOG": "bisect",
}


def operation_in_progress(root: str) -> str:
    """The git operation in progress in this work tree (merge, rebase ...), "" when there is none."""
    folder = git_dir(root) or git_dir(git_top(root))  # the root may be inside a work tree
    if not folder:
        return ""
    for name, operation in _BUSY.items():
        if os.path.lexists(os.path.join(folder, name)):
            return operation
    return ""


def diff_to_head(root: str, path: str, environ: Mapping[str, str]) -> str:
    """The unified diff of one file of the work tree against HEAD; "" when there is none or git fails."""
    return _ask(root, environ, "diff", "--no-ext-diff", "--no-color", "--no-textconv", "HEAD", "--", path)


def tracked_files(root: str, environ: Mapping[str, str]) -> str:
    """All files that git tracks in the work tree, one a line with "/"."""
    return _ask(root, environ, "ls-files")


def tracked(root: str, paths: Sequence[str], environ: Mapping[str, str]) -> set[str]:
    """Those of the paths that git tracks, or that lead to something below them that it tracks.

    Paths are absolute or relative to ``root``; none where there is no git.
    """
    return {path for path in paths if git_top(root) and _ask(root, environ, "ls-files", "-z", "--", path)}


def ignored(root: str, paths: Sequence[str], environ: Mapping[str, str]) -> set[str]:
    """Those of the paths that git's ignore files cover."""
    if not paths or not git_top(root):
        return set()
    given = "".join(f"{path}\0" for path in paths)
    result = _run(root, environ, ("check-ignore", "--no-index", "--stdin", "-z"), given)
    if result.status not in (0, 1) and len(paths) > 1:  # git gives up at a path beyond a symbolic link
        return {path for path in paths if ignored(root, [path], environ)}
    return set(result.stdout.decode("utf-8", "replace").split("\0")) - {""}


def _ask(root: str, environ: Mapping[str, str], *words: str) -> str:
    result = _run(root, environ, words)
    return result.stdout.decode("utf-8", "replace") if result.status == 0 else ""


def _run(root: str, environ: Mapping[str, str], words: Sequence[str], stdin: str = "") -> process.Result:
    env = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    env.update(GIT_OPTIONAL_LOCKS="0", LC_ALL="C")
    from decision_hooks.system import process

    if is_blocked(root):
        return process.Result(None, b"", b"", False, 0.0)
    argv = ["git", "-c", "diff.autoRefreshIndex=false", "-c", "core.quotePath=false", *words]
    return process.run(argv, cwd=root, env=env, timeout=_SECONDS, stdin=stdin.encode())
