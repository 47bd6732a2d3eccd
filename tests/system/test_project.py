"""Where a project's folders lie, through links and linked work trees."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from decision_hooks.errors import SettingError
from decision_hooks.system import project
from support.sandbox import Sandbox

MakeSandbox = Callable[..., Sandbox]


def test_the_first_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    wanted = ["", str(tmp_path / "gone"), str(tmp_path / "file"), "a\0b", str(tmp_path), "/"]
    assert project.first_folder(wanted) == str(tmp_path)
    assert project.first_folder(["", str(tmp_path / "gone")]) == ""


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_the_top_of_a_work_tree_has_a_git_folder_or_file(tmp_path: Path, kind: str) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / ".git").mkdir() if kind == "folder" else (tmp_path / ".git").write_text("gitdir: x")
    assert project.git_top(str(inner)) == os.path.realpath(tmp_path)
    assert project.git_top(str(tmp_path / "gone")) == ""


def test_git_finds_the_same_top_and_folder(sandbox: Sandbox) -> None:
    tree = sandbox.worktree("feature")
    (tree / "src").mkdir()
    for folder in (sandbox.root, tree, tree / "src"):
        assert project.git_top(str(folder)) == sandbox.git("rev-parse", "--show-toplevel", cwd=folder).strip()
    for folder in (sandbox.root, tree):
        told = sandbox.git("rev-parse", "--absolute-git-dir", cwd=folder).strip()
        assert project.git_dir(str(folder)) == told


def test_the_main_work_tree_of_a_linked_one_and_all_trees(sandbox: Sandbox) -> None:
    first, second = sandbox.worktree("first"), sandbox.worktree("second")
    everyone = {str(sandbox.root), str(first), str(second)}
    for tree in (sandbox.root, first, second):
        assert project.main_tree(str(tree)) == str(sandbox.root)
        assert set(project.work_trees(str(tree))) == everyone
        assert project.work_trees(str(tree))[0] == str(tree)


def test_work_trees_that_git_links_by_relative_paths_are_known(sandbox: Sandbox) -> None:
    tree = sandbox.worktree("first")
    inner = sandbox.root / ".git" / "worktrees" / "first"
    (inner / "gitdir").write_text(os.path.relpath(tree / ".git", inner) + "\n")
    (tree / ".git").write_text(f"gitdir: {os.path.relpath(inner, tree)}\n")
    for here in (sandbox.root, tree):
        assert project.main_tree(str(here)) == str(sandbox.root)
        assert set(project.work_trees(str(here))) == {str(sandbox.root), str(tree)}
    (inner / "gitdir").write_text("a\0b")
    assert project.work_trees(str(sandbox.root)) == (str(sandbox.root),)


def test_a_submodule_is_its_own_main_tree(make_sandbox: MakeSandbox) -> None:
    outer, inner = make_sandbox("outer"), make_sandbox("inner")
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "sub")
    assert project.main_tree(str(outer.root / "sub")) == str(outer.root / "sub")


@pytest.mark.parametrize("text", ["", "gitdir: /nowhere", "nonsense", "gitdir:\0", "\xff" * 100])
def test_a_git_file_that_leads_nowhere_is_no_linked_tree(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text, encoding="utf-8")
    assert project.main_tree(str(tmp_path)) == str(tmp_path)
    assert project.work_trees(str(tmp_path)) == (os.path.realpath(tmp_path),)


def test_the_folders_of_a_project(tmp_path: Path) -> None:
    made = project.project_at(str(tmp_path), "docs/adr")
    assert made.adr == f"{tmp_path}/docs/adr"
    assert made.hooks == f"{tmp_path}/.claude/hooks"
    assert made.state == f"{tmp_path}/.claude/hooks/.decision-hooks"
    assert made.state_file("a", "b") == f"{made.state}/a/b"
    assert os.listdir(tmp_path) == []


def test_records_that_a_link_leads_out_of_the_root_are_refused(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "docs").symlink_to(outside)
    with pytest.raises(SettingError, match="leads out"):
        project.project_at(str(root), "docs/adr")
    (tmp_path / "rooted").symlink_to(root)
    assert project.project_at(str(tmp_path / "rooted"), "adr").adr == f"{tmp_path}/rooted/adr"


@pytest.mark.parametrize(
    ("link", "target", "says"),
    [
        ("docs/adr", "../.claude/commands", "into .claude"),
        ("docs", ".CURSOR", "into .CURSOR"),
        ("docs", ".git/hooks", "into .git"),
        ("docs/adr", "../sub/.codex/prompts", "into .codex"),
        ("docs/adr", "../.github/workflows", "into .github"),
        ("docs/adr", "..", "above itself"),
        ("docs/adr", ".", "above itself"),
        ("docs", ".", ""),
        ("docs", "../other", "out of the project"),
        ("docs/adr", "../decisions", ""),
        ("docs/adr", "2026/now", ""),
    ],
)
def test_a_link_leads_records_only_to_a_plain_folder_of_the_project(
    tmp_path: Path, link: str, target: str, says: str
) -> None:
    root = tmp_path / "root"
    place = root / link
    place.parent.mkdir(parents=True)
    (place.parent / target).mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)
    if says:
        with pytest.raises(SettingError, match=says):
            project.project_at(str(root), "docs/adr")
    else:
        assert project.project_at(str(root), "docs/adr").adr == f"{root}/docs/adr"


@pytest.mark.parametrize("folder", [".cursor/adr", "sub/.pi", ".Codex", "sub/.git/x"])
def test_records_never_lie_among_the_files_of_agents_and_git(tmp_path: Path, folder: str) -> None:
    with pytest.raises(SettingError, match="leads into"):
        project.project_at(str(tmp_path), folder)
    assert project.project_at(str(tmp_path), ".adr/now").adr == f"{tmp_path}/.adr/now"
