"""Finds a project's root, records, logs and state, and its git work trees, without running git."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from decision_hooks.errors import FolderError, OutsideError
from decision_hooks.system import files

_NO_RECORDS = frozenset(
    (".git", ".claude", ".cursor", ".codex", ".pi")
)  # a record there is a command or a setting


class Project(NamedTuple):
    """The folders of one project; all absolute, none needs to exist."""

    root: str
    adr: str  # drafts and records
    hooks: str  # the logs, .normalize-state and .normalize.lock
    state: str  # all other files of the package; in the main work tree

    def state_file(self, *parts: str) -> str:
        """The path of a file in the state folder."""
        return os.path.join(self.state, *parts)


def first_folder(candidates: Iterable[str]) -> str:
    """The first candidate that is a folder, absolute; "" when none is."""
    for candidate in candidates:
        try:
            if candidate and os.path.isdir(candidate):
                return os.path.abspath(candidate)
        except ValueError:
            continue
    return ""


def git_top(folder: str) -> str:
    """The top of the git work tree around ``folder``, "" when there is none."""
    if not folder or not os.path.isdir(folder):
        return ""
    here = os.path.realpath(folder)
    while True:
        if os.path.exists(os.path.join(here, ".git")):
            return here
        above = os.path.dirname(here)
        if above == here:
            return ""
        here = above


def git_dir(root: str) -> str:
    """The git directory of the work tree at ``root`` (through a ``.git`` file too), "" when there is none."""
    dot_git = os.path.join(root, ".git")
    if os.path.isdir(dot_git):
        return dot_git
    text = files.read_text(dot_git, 4096) or ""
    if not text.startswith("gitdir:"):
        return ""
    return os.path.normpath(os.path.join(root, text[len("gitdir:") :].strip()))


def main_tree(root: str) -> str:
    """The main work tree when ``root`` is a linked one, else ``root``."""
    here = git_dir(root)
    if not here or os.path.isdir(os.path.join(root, ".git")):
        return root
    common = files.read_text(os.path.join(here, "commondir"), 4096)
    if not common:
        return root
    shared = os.path.normpath(os.path.join(here, common.strip()))
    if os.path.basename(shared) != ".git" or not os.path.isdir(shared):
        return root
    return os.path.dirname(shared)


def work_trees(root: str) -> tuple[str, ...]:
    """``root`` and all other work trees of its repository that git knows of."""
    main = main_tree(root)
    found = [root, main]
    folder = os.path.join(main, ".git", "worktrees")
    for name in files.names(folder):
        text = files.read_text(os.path.join(folder, name, "gitdir"), 4096)
        if text and "\0" not in text:
            found.append(os.path.join(folder, name, os.path.dirname(text.strip())))  # may be relative
    return tuple(dict.fromkeys(os.path.realpath(tree) for tree in found if tree))


def project_at(root: str, adr_dir: str) -> Project:
    """The folders of the project at ``root``; ``OutsideError`` where records must not lie."""
    adr = os.path.join(root, *adr_dir.split("/"))
    trouble = _trouble_of_records(root, adr, adr_dir.split("/"))
    if trouble:
        raise OutsideError(f"the folder of records {adr} {trouble}; nothing was done")
    hooks = os.path.join(root, ".claude", "hooks")
    return Project(root=root, adr=adr, hooks=hooks, state=state_folder(root))


def _trouble_of_records(root: str, adr: str, asked: list[str]) -> str:
    """Why a link must not be followed to the records: a repository can bring it. "" when it may be."""
    inside, real = os.path.realpath(root), os.path.realpath(adr)
    if os.path.commonpath([inside, real]) != inside:
        return "leads out of the project"
    if os.path.join(inside, *asked).startswith(real.rstrip("/") + "/"):
        return "leads to a folder above itself"
    for name in os.path.relpath(real, inside).split("/"):
        if name.casefold() in _NO_RECORDS or (name.startswith(".") and name not in asked):
            return f"leads into {name}"
    return ""


def state_folder(root: str) -> str:
    """The folder for everything that is neither a record nor a log; in the main work tree."""
    return os.path.join(main_tree(root), ".claude", "hooks", ".decision-hooks")


def tree_mark(project: Project) -> str:
    """An id of a linked work tree among those that share the state folder; "" for the main one."""
    if project.state == os.path.join(project.root, ".claude", "hooks", ".decision-hooks"):
        return ""
    from decision_hooks.text.fingerprint import fingerprint

    return fingerprint(files.to_bytes(os.path.realpath(project.root)), 4)


def open_state(project: Project) -> None:
    """Make the state folder, private to the user, with a ``.gitignore`` that ignores all of it."""
    if not os.path.isdir(project.state):
        files.make_folder(os.path.dirname(project.state))
        files.make_folder(project.state, 0o700)
    ignore = project.state_file(".gitignore")
    if files.read_bytes(ignore) != b"*\n":
        try:
            files.write_new(ignore, b"*\n")
        except (
            FolderError
        ):  # another hook may be writing it now; any other problem surfaces at the next write
            pass
