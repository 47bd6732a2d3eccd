"""Finds a project's root, records, logs and state, and its git work trees, without running git."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from decision_hooks.errors import OutsideError
from decision_hooks.system import files

SEAL = ".sealed"  # a file of the state folder: the seals of the machines that may use it
_NO_RECORDS = frozenset(
    (".git", ".claude", ".cursor", ".codex", ".pi")
)  # a record there is a command or a setting


class Project(NamedTuple):
    """The folders of one project; all absolute, none needs to exist."""

    root: str
    adr: str  # drafts and records
    hooks: str  # the logs, .normalize-state and .normalize.lock
    state: str  # all other files; in the main work tree; used through ``state_folder.open_state`` only

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
    text = files.read_text(dot_git, 4096, follow=True) or ""
    if not text.startswith("gitdir:"):
        return ""
    return os.path.normpath(os.path.join(root, text[len("gitdir:") :].strip()))


def is_blocked(root: str) -> bool:
    """Whether something that git reads in the work tree at ``root`` is a pipe, a socket or a device: it would wait."""
    folder = git_dir(git_top(root))
    within = [os.path.join(folder, name) for name in ("HEAD", "config", "index", "commondir", "packed-refs")]
    hooks = os.path.join(root, ".claude", "hooks")
    beside = [os.path.join(place, ".gitignore") for place in (root, os.path.dirname(hooks), hooks)]
    return bool(folder) and any(map(files.is_endless, (*within, *beside)))


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
    found += [_tree_of(os.path.join(folder, name)) for name in files.names(folder)]
    return tuple(dict.fromkeys(os.path.realpath(tree) for tree in found if tree))


def _tree_of(folder: str) -> str:
    """The linked work tree that git keeps this folder for, "" when it does not say."""
    text = files.read_text(os.path.join(folder, "gitdir"), 4096)
    if not text or "\0" in text:
        return ""
    return os.path.realpath(os.path.join(folder, os.path.dirname(text.strip())))  # it may be relative


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


def main_root(project: Project) -> str:
    """The folder whose state the project has: that of the main work tree."""
    return os.path.dirname(os.path.dirname(os.path.dirname(project.state)))


def tree_name(project: Project) -> str:
    """Git's name of a linked work tree, which a move of it does not change; "" for the main one."""
    return "" if _is_main(project) else os.path.basename(git_dir(project.root))


def tree_path(main: str, name: str) -> str:
    """Where git has the linked work tree of that name, "" when it knows none."""
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        return ""
    return _tree_of(os.path.join(main, ".git", "worktrees", name))


def tree_mark(project: Project) -> str:
    """An id of a linked work tree among those that share the state folder; "" for the main one."""
    return tree_marks(project)[0]


def tree_marks(project: Project) -> tuple[str, str]:
    """The id of a linked work tree, by its name, and the one that earlier versions gave it, by its path."""
    if _is_main(project):
        return "", ""
    from decision_hooks.text.fingerprint import fingerprint

    path = os.path.realpath(project.root)
    name = tree_name(project) or path
    return fingerprint(files.to_bytes(name), 4), fingerprint(files.to_bytes(path), 4)


def _is_main(project: Project) -> bool:
    return project.state == os.path.join(project.root, ".claude", "hooks", ".decision-hooks")
