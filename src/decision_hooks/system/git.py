"""Questions to git: never a command that writes, not even the index, and none that runs what a repository names.

A repository is not the user: its configuration can name programs, and its files can pretend to be another
repository. So git is never taken from the project, it is given the folder of the repository that we found, and
only commands are used that read no filters, no diff drivers and no hooks.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from decision_hooks.system.project import git_dir, git_top, is_blocked, main_tree

if TYPE_CHECKING:
    from decision_hooks.system import process

_SECONDS = 15.0
_LARGEST = 4 * 1024 * 1024  # bytes of a file whose version may have changed
_MOST_LINKS = 40
_BUSY = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase or am",
    "BISECT_LOG": "bisect",
}
# A value on the command line wins over that of any file. What names a program is off.
_CONFIG = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.askPass=false",
    "core.alternateRefsCommand=true",
    "credential.helper=",
    "diff.external=",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
    "core.quotePath=false",
)
# Objects that a partial clone lacks are not fetched; versions of git that do not know that may use no protocol.
_ENVIRON = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
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


def before_and_now(root: str, path: str, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """The text of a file in HEAD and in the work tree; None for anything but two regular files of one mode."""
    from decision_hooks.system import files

    top, path = git_top(root), os.path.realpath(path)
    if not top or not is_below(path, top):
        return None
    listed = _ask(
        top, environ, "--literal-pathspecs", "ls-tree", "-z", "HEAD", "--", os.path.relpath(path, top)
    )
    mode, _, rest = listed.partition(" ")
    kind, _, rest = rest.partition(" ")
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    if kind != "blob" or not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
        return None
    expected = "100755" if status.st_mode & 0o100 else "100644"
    if (
        mode != expected
        and _ask(top, environ, "config", "--get", "--bool", "core.fileMode").strip() != "false"
    ):
        return None
    before = _run(top, environ, ("cat-file", "blob", rest.partition("\t")[0]))
    now = files.read_text(path, _LARGEST)
    if before.status != 0 or now is None or len(before.stdout) > _LARGEST:
        return None
    return before.stdout.decode("utf-8", "replace"), now


def tracked_files(root: str, environ: Mapping[str, str]) -> str:
    """All files that git tracks in the work tree, one a line with "/"."""
    return _ask(root, environ, "ls-files")


def tracked(root: str, paths: Sequence[str], environ: Mapping[str, str]) -> set[str]:
    """Those of the paths that git tracks, or that lead to something below them that it tracks.

    Paths are absolute or relative to ``root``; none where there is no git work tree, all where git cannot be asked.
    """
    if not git_top(root):
        return set()
    return {path for path in paths if _tracks(root, [path], environ)}


def is_users(root: str, path: str, environ: Mapping[str, str]) -> bool:
    """Whether what lies at a path is the user's own, and not what the repository around ``root`` brought.

    Git must know the project, and track none of it: no link on the way, not what they lead to. What lies outside
    of the project is the user's.
    """
    brought = [step for step in _steps(path) if is_in_project(root, step, environ)]
    by_top: dict[str, list[str]] = {}
    for step in brought:
        by_top.setdefault(git_top(os.path.dirname(step)), []).append(step)
    return all(_knows(top) and not _tracks(top, steps, environ) for top, steps in by_top.items())


def links(root: str, path: str, environ: Mapping[str, str]) -> list[str]:
    """The links in the project on the way to what lies at a path."""
    return [step for step in _steps(path)[:-1] if is_in_project(root, step, environ)]


def is_tracked(path: str, environ: Mapping[str, str]) -> bool:
    """Whether the git work tree around a path, whose folder is a real one, tracks it; also where git cannot tell."""
    top = git_top(os.path.dirname(path))
    return bool(top) and _tracks(top, [path], environ)


def is_in_project(root: str, path: str, environ: Mapping[str, str]) -> bool:
    """Whether a path lies in the folder, its git work tree or the main work tree of that; links are not followed.

    A work tree that holds the home folder of the user is the user's own: nothing lies in a project there.
    """
    top = git_top(root)
    folders = {os.path.realpath(root), *((top, os.path.realpath(main_tree(top))) if top else ())}
    home = os.path.realpath(environ.get("HOME") or "/")
    return any(is_below(path, folder) and not is_below(home, folder) for folder in folders)


def is_below(path: str, folder: str) -> bool:
    """Whether a path is the folder or lies in it; letter case is passed over, as some file systems do."""
    path, folder = path.casefold(), folder.casefold().rstrip("/")
    return path == folder or path.startswith(folder + "/")


def search_path(environ: Mapping[str, str]) -> list[str]:
    """The folders of the search path."""
    return environ.get("PATH", os.defpath).split(os.pathsep)


def find(name: str, folders: Iterable[str], root: str, environ: Mapping[str, str]) -> str:
    """The absolute path of a program that a hook may run, "" when there is none.

    Relative folders are passed over, and programs in the project that are not the user's own.
    """
    from decision_hooks.system import process

    return process.on_path(name, folders, lambda path: may_run(root, path, environ))


def may_run(root: str, path: str, environ: Mapping[str, str]) -> bool:
    """Whether a hook may run the program at an absolute path that a person or a backend's card names.

    Without git the search path is believed, but nothing that may have been unpacked with the project.
    """
    return is_users(root, path, environ) or not (git_top(root) or "/node_modules/" in path)


def program(root: str, environ: Mapping[str, str]) -> str:
    """The absolute path of git, "" when there is none; never one that lies in the project or leads into it."""
    from decision_hooks.system import process

    def is_elsewhere(path: str) -> bool:
        return not any(is_in_project(root, step, environ) for step in _steps(path))

    return process.on_path("git", search_path(environ), is_elsewhere)


def ignored(root: str, paths: Sequence[str], environ: Mapping[str, str]) -> set[str]:
    """Those of the paths that git's ignore files cover."""
    if not paths or not git_top(root):
        return set()
    given = "".join(f"{path}\0" for path in paths)
    result = _run(root, environ, ("check-ignore", "--no-index", "--stdin", "-z"), given)
    if result.status not in (0, 1) and len(paths) > 1:  # git gives up at a path beyond a symbolic link
        return {path for path in paths if ignored(root, [path], environ)}
    return set(result.stdout.decode("utf-8", "replace").split("\0")) - {""}


def _knows(top: str) -> bool:
    """Whether there is a work tree in which git tracks anything: before that, all files came with the folder."""
    return bool(top) and os.path.isfile(os.path.join(git_dir(top), "index"))


def _tracks(root: str, paths: Iterable[str], environ: Mapping[str, str]) -> bool:
    """Whether git tracks one of the paths, or cannot tell."""
    top = git_top(root)
    asked = [os.path.relpath(os.path.join(os.path.realpath(root), path), top) for path in paths]
    words = [f":(top,icase,literal){path}" for path in asked]  # case: as the file systems of macOS
    result = _run(top, environ, ("ls-files", "-z", "--", *words))
    return result.status != 0 or bool(result.stdout)


def _steps(path: str) -> list[str]:
    """Every link on the way to what lies at a path, and the end; each in its real folder."""
    steps: list[str] = []
    here, left = "/", os.path.abspath(path).split("/")[::-1]
    while left:
        name = left.pop()
        if name in ("", "."):
            continue
        if name == "..":
            here = os.path.dirname(here)
            continue
        there = os.path.join(here, name)
        if len(steps) >= _MOST_LINKS or not os.path.islink(there):
            here = there
            continue
        steps.append(there)
        target = os.readlink(there)
        here = "/" if target.startswith("/") else here
        left += target.split("/")[::-1]
    return [*steps, here]


def _ask(root: str, environ: Mapping[str, str], *words: str) -> str:
    result = _run(root, environ, words)
    return result.stdout.decode("utf-8", "replace") if result.status == 0 else ""


def _run(root: str, environ: Mapping[str, str], words: Sequence[str], stdin: str = "") -> process.Result:
    """Run git in ``root``, on the work tree around it; nothing is discovered by git itself."""
    from decision_hooks.system import process

    top = git_top(root)
    folder, git = git_dir(top) if top else "", program(root, environ)
    if not folder or not git or is_blocked(root):
        return process.Result(None, b"", b"no git work tree, or no git", False, 0.0)
    env = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    env.update(_ENVIRON)
    options = [word for pair in _CONFIG for word in ("-c", pair)]
    argv = [git, "--no-pager", f"--git-dir={folder}", f"--work-tree={top}", *options, *words]
    return process.run(argv, cwd=os.path.realpath(root), env=env, timeout=_SECONDS, stdin=stdin.encode())
