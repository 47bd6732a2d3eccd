"""Where a stored part or outbox belongs now: since it was stored, its project or work tree may have moved."""

from __future__ import annotations

import os
from typing import NamedTuple

from decision_hooks.state.values import Outbox, Pending
from decision_hooks.system.project import (
    Project,
    main_root,
    state_folder,
    tree_name,
    tree_path,
    work_trees,
)

HERE = "here"  # it belongs to this project: in the root that was found
AWAY = "away"  # it belongs to a work tree that only the other place sees from which this project is used
FOREIGN = "foreign"  # it belongs to another project: the state folder is a copy


class Found(NamedTuple):
    """What became of the root of a stored part or outbox."""

    kind: str  # HERE | AWAY | FOREIGN
    root: str = ""
    moved: bool = False  # the project was stored under another path than it has now
    gone: bool = False  # its work tree is gone, so that the root is that of the main one


def find_root(project: Project, stored: Pending | Outbox) -> Found:
    """Where a stored part or outbox belongs."""
    root, main, tree = stored.root, stored.main, stored.tree
    if root == project.root:
        return Found(HERE, root)
    here = main_root(project)
    moved = os.path.realpath(main or root) != os.path.realpath(here)
    if os.path.isdir(root) and os.path.realpath(root) in work_trees(project.root):
        return Found(HERE, root)
    if _is_of_another(main or root, here, stored.key):
        return Found(FOREIGN, root)
    if not tree:  # the main work tree; or an earlier version did not store which, and it is gone
        return Found(HERE, here, moved=moved, gone=not main)
    path = project.root if tree == tree_name(project) else tree_path(here, tree)
    if path and os.path.isdir(path):
        return Found(HERE, path, moved=moved)
    return Found(AWAY) if path and moved else Found(HERE, here, moved=moved, gone=True)


def _is_of_another(root: str, here: str, key: str) -> bool:
    """Whether the folder that was the root is there, and is a project whose own state has the session, too."""
    state = state_folder(root) if root and os.path.isdir(root) else ""
    if not state or not os.path.isdir(state) or os.path.samefile(state, state_folder(here)):
        return False
    kinds = ("pending", "outbox", "positions")
    return any(os.path.exists(os.path.join(state, kind, f"{key}.json")) for kind in kinds)
