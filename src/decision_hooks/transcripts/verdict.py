"""The verdict of relevance, for capture and for normalisation: whose files a session edited, and which."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from decision_hooks.sessions import relevance
from decision_hooks.sessions.model import Edit
from decision_hooks.system import git
from decision_hooks.system.project import Project, work_trees

OWN, CROSS_PROJECT, TOOLING_ONLY = "own", "cross-project", "tooling-only"


def verdict_of(
    project: Project, environ: Mapping[str, str], earlier: Sequence[str] = ()
) -> Callable[[Sequence[Edit]], str]:
    """The function that judges edits: ``OWN``, ``CROSS_PROJECT`` or ``TOOLING_ONLY``, "" without edits.

    ``earlier``: paths that the project had before. It may be asked of thousands of edits: what does not depend on
    them is looked up once.
    """
    root, adr = os.path.realpath(project.root), os.path.realpath(project.adr)

    @cache
    def trees() -> tuple[str, ...]:
        return (*work_trees(project.root), *map(os.path.realpath, filter(None, earlier)))

    @cache
    def version_only(path: str) -> bool:
        texts = git.before_and_now(root, path, environ)
        return texts is not None and relevance.only_version_changed(*texts)

    def verdict(edits: Sequence[Edit]) -> str:
        paths = relevance.changed_paths(edits, root=root, resolve=os.path.realpath)
        if not paths:
            return ""
        if relevance.is_cross_project(paths, trees()):
            return CROSS_PROJECT
        tooling = relevance.is_tooling_only(paths, root=root, adr_dir=adr, version_only=version_only)
        return TOOLING_ONLY if tooling else OWN

    return verdict
