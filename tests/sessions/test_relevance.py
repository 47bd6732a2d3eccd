"""Which sessions are about another project, and which touched tooling only."""

from __future__ import annotations

import pytest

from decision_hooks.sessions.model import Edit
from decision_hooks.sessions.relevance import (
    changed_paths,
    is_cross_project,
    is_tooling_only,
    only_version_changed,
)

ROOT = "/repo"


def same(path: str) -> str:
    return path


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        (Edit("/repo/a.py", "/elsewhere"), "/repo/a.py"),
        (Edit("a.py", "/repo/src"), "/repo/src/a.py"),
        (Edit("a.py", ""), "/repo/a.py"),
        (Edit("a.py", "src"), "/repo/src/a.py"),
    ],
)
def test_paths_are_absolute(edit: Edit, path: str) -> None:
    assert changed_paths([edit], root=ROOT, resolve=same) == (path,)


def test_paths_are_resolved_and_told_once() -> None:
    edits = [Edit("/link/a", ""), Edit("/real/a", ""), Edit("bad\0", ""), Edit("bad", "\0")]
    assert changed_paths(edits, root=ROOT, resolve=lambda p: p.replace("/link", "/real")) == ("/real/a",)


def test_the_plan_file_of_plan_mode_is_no_work_in_another_project() -> None:
    edits = [Edit("/home/dev/.claude/plans/x.md", ROOT), Edit("/repo/.claude/plans/y.md", ROOT)]
    assert changed_paths(edits, root=ROOT, resolve=same) == ("/repo/.claude/plans/y.md",)


@pytest.mark.parametrize(
    ("paths", "cross"),
    [
        ([], False),
        (["/repo/a"], False),
        (["/other/a"], True),
        (["/other/a", "/repo/b"], False),
        (["/repository/a"], True),
        (["/trees/feature/a"], False),
        (["/REPO/a"], False),
        (["/repo"], False),
    ],
)
def test_a_session_is_of_another_project_when_no_file_is_ours(paths: list[str], cross: bool) -> None:
    assert is_cross_project(paths, [ROOT, "/trees/feature/"]) is cross


@pytest.mark.parametrize(
    ("paths", "tooling"),
    [
        ([], False),
        (["/repo/.cspell.json"], True),
        (["/repo/packages/x/.cspell.json"], False),
        (["/repo/docs/adr/one.md"], True),
        (["/repo/docs/adr/sub/one.md"], True),
        (["/repo/docs/adr/one.png"], False),
        (["/repo/docs/other.md"], False),
        (["/repo/CHANGELOG.md", "/repo/packages/x/CHANGELOG.md"], True),
        (["/repo/AGENTS.md", "/repo/CLAUDE.md"], True),
        (["/repo/src/CLAUDE.md"], False),
        (["/repo/sub/AGENTS.md"], False),
        (["/repo/README.md"], False),
        (["/repo/docs/adr/x.txt"], False),
        (["/repo/.cspell.json", "/repo/src/a.py"], False),
        (["/repo/.cspell.json", "/elsewhere/a.py"], False),
        (["/repo/package.json"], True),
        (["/repo/packages/x/package.json"], True),
        (["/repo/changed/package.json"], False),
        (["/repo/CHANGELOG.md", "/repo/src/a.py"], False),
    ],
)
def test_tooling_is_a_narrow_list(paths: list[str], tooling: bool) -> None:
    found = is_tooling_only(
        paths, root=ROOT, adr_dir="/repo/docs/adr", version_only=lambda path: "changed" not in path
    )
    assert found is tooling


BEFORE = """{
  "name": "x",
  "version": "1.0.0",
  "private": true
}
"""
NOW = BEFORE.replace("1.0.0", "1.0.1")


@pytest.mark.parametrize(
    ("before", "now", "only"),
    [
        (BEFORE, NOW, True),
        (BEFORE, NOW.replace('  "private": true\n', ""), False),
        (BEFORE, NOW.replace('"1.0.1",', '"1.0.1", "main": "x"'), False),
        (BEFORE, NOW.replace('  "private"', '--- an added line\n  "private"'), False),
        (BEFORE.replace('  "private"', '+++ a removed line\n  "private"'), NOW, False),
        (BEFORE.replace("version", "engine"), NOW.replace("version", "engine"), False),
        (BEFORE * 2, NOW * 2, True),
        (BEFORE, NOW.replace("\n", "\r\n"), True),
        (BEFORE.replace("\n", "\r\n"), NOW, True),
        (BEFORE, NOW.rstrip("\n"), False),
        (BEFORE, BEFORE, False),
        (BEFORE, BEFORE.replace("\n", "\r\n"), False),
        ("", "", False),
        ("", NOW, False),
        ("\0\1", "\0\2", False),
        ('{"version": "1.0.0", "name": "x"}', '{"version": "1.0.1", "name": "x"}', False),
    ],
)
def test_only_the_version_line_may_have_changed(before: str, now: str, only: bool) -> None:
    assert only_version_changed(before, now) is only
