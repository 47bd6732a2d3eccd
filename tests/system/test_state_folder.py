"""The state folder is used only when this machine made it, or a person took it over; each refusal says why."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from decision_hooks.errors import StateRefused
from decision_hooks.system import state_folder
from decision_hooks.system.project import Project, project_at
from support.sandbox import Sandbox

STATE = ".claude/hooks/.decision-hooks"


class Place:
    """A project without git, and a home."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root, self.outside = base / "root", base / "outside"
        for folder in (self.root, self.outside, base / "home"):
            folder.mkdir()
        (self.outside / "kept").write_text("kept")
        self.environ = {"HOME": str(base / "home")}

    @property
    def state(self) -> Path:
        """The state folder."""
        return self.root / STATE

    @property
    def project(self) -> Project:
        """The folders of the project."""
        return project_at(str(self.root), "docs/adr")

    def open(self, *, adopt: bool = False) -> bool:
        """Open the state folder."""
        return state_folder.open_state(self.project, self.environ, adopt=adopt)

    def put(self, name: str, text: str = "x") -> Path:
        """Write a file of the state folder by hand."""
        path = self.state / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def modes(folder: Path) -> dict[str, int]:
    """The permission bits of a folder and of all below it."""
    return {str(path): stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}


def test_a_new_folder_is_private_ignored_and_known_again(place: Place) -> None:
    assert not state_folder.check_state(place.project, place.environ)
    assert not place.open()
    assert (place.state / ".gitignore").read_text() == "*\n"
    assert sorted(os.listdir(place.state)) == [".gitignore", ".sealed"]
    assert set(modes(place.state).values()) == {0o700, 0o600}
    place.put("pending/a.json")
    assert state_folder.check_state(place.project, place.environ)
    assert not place.open()


def test_its_mark_for_git_is_made_whole_when_a_kill_tore_it(place: Place) -> None:
    place.open()
    (place.state / ".gitignore").write_text("")
    place.open()
    assert (place.state / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    "left",
    [[], ["pending/"], [".gitignore"], ["log.lock"], [".decision-hooks-12-ab.tmp"], ["runs/", "seen/"]],
)
def test_what_a_kill_leaves_of_a_new_folder_is_taken_up(place: Place, left: list[str]) -> None:
    place.state.mkdir(parents=True)
    for name in left:
        if name.endswith("/"):
            (place.state / name).mkdir(mode=0o755)
        else:
            place.put(name, "*\n" if "lock" not in name else "")
    place.open()
    assert (place.state / ".sealed").exists()


def test_a_moved_project_and_one_at_a_second_path_keep_their_state(place: Place) -> None:
    place.open()
    place.put("pending/a.json")
    place.root.rename(place.base / "moved")
    (place.base / "second").symlink_to("moved")
    for name in ("moved", "second"):
        assert state_folder.check_state(project_at(str(place.base / name), "docs/adr"), place.environ)


def test_runs_that_begin_together_all_use_it(place: Place) -> None:
    code = (
        "import os, sys; from decision_hooks.system.project import project_at\n"
        "from decision_hooks.system.state_folder import open_state\n"
        "project = project_at(sys.argv[1], 'docs/adr')\n"
        "for number in range(3):\n"
        "    open_state(project, os.environ)\n"
        "    os.makedirs(project.state_file('pending'), exist_ok=True)\n"
        "    open(project.state_file('pending', f'{os.getpid()}-{number}'), 'w').write('x')\n"
    )
    command = [sys.executable, "-c", code, str(place.root)]
    running = [
        subprocess.Popen(command, env={**os.environ, **place.environ}, stderr=subprocess.PIPE, text=True)
        for _ in range(10)
    ]
    assert [one.communicate()[1] for one in running] == [""] * 10
    assert len(os.listdir(place.state / "pending")) == 30


# -- what is not used


def as_link_out(place: Place) -> None:
    place.state.parent.mkdir(parents=True)
    place.state.symlink_to(place.outside)


def as_link_within(place: Place) -> None:
    place.state.parent.mkdir(parents=True)
    place.state.symlink_to("../..")


def as_dangling_link(place: Place) -> None:
    place.state.parent.mkdir(parents=True)
    place.state.symlink_to(place.base / "absent")


def as_linked_hooks(place: Place) -> None:
    place.state.parent.parent.mkdir()
    place.state.parent.symlink_to(place.outside)


def as_linked_top(place: Place) -> None:
    (place.root / ".claude").symlink_to(place.outside)


def as_file(place: Place) -> None:
    place.state.parent.mkdir(parents=True)
    place.state.write_text("x")


def as_pipe(place: Place) -> None:
    place.state.parent.parent.mkdir(parents=True)
    os.mkfifo(place.state.parent)


def with_linked_folder(place: Place) -> None:
    place.open()
    (place.state / "positions").symlink_to(place.outside)


def with_linked_file(place: Place) -> None:
    place.open()
    (place.state / "swept").symlink_to(place.outside / "kept")


def with_pipe(place: Place) -> None:
    place.open()
    os.mkfifo(place.state / "worker.lock")


def with_content(place: Place) -> None:
    place.put("pending/a.json")


def with_a_seal_from_elsewhere(place: Place) -> None:
    elsewhere = {"HOME": str(place.base / "elsewhere")}
    state_folder.open_state(place.project, elsewhere)
    place.put("runs/20260101T000000Z/journal.json")


def with_foreign_ignore(place: Place) -> None:
    place.put(".gitignore", "!*\n")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (as_link_out, "is a link"),
        (as_link_within, "is a link"),
        (as_dangling_link, "is a link"),
        (as_linked_hooks, "hooks is a link"),
        (as_linked_top, ".claude is a link"),
        (as_file, "is no folder"),
        (as_pipe, "is no folder"),
        (with_linked_folder, "positions is a link"),
        (with_linked_file, "swept is a link"),
        (with_pipe, "worker.lock is neither"),
        (with_content, "was not written on this machine"),
        (with_a_seal_from_elsewhere, "was not written on this machine"),
        (with_foreign_ignore, "was not written on this machine"),
    ],
)
def test_a_folder_that_is_not_ours_is_refused_and_stays_as_it_is(
    place: Place, make: Callable[[Place], None], said: str
) -> None:
    make(place)
    before = {str(path): path.lstat() for path in place.base.rglob("*") if "home" not in path.parts}
    for ask in (place.open, lambda: state_folder.check_state(place.project, place.environ)):
        with pytest.raises(StateRefused, match=said) as refused:
            ask()
        assert refused.value.fix in str(refused.value)
    project, why = state_folder.usable(place.project, place.environ)
    assert why is not None
    assert not os.path.lexists(project.state_file("pending"))
    after = {str(path): path.lstat() for path in place.base.rglob("*") if "home" not in path.parts}
    assert {name: (one.st_mode, one.st_mtime_ns) for name, one in before.items()} == {
        name: (one.st_mode, one.st_mtime_ns) for name, one in after.items()
    }


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("name", [STATE, ".claude/hooks", ".claude"])
def test_a_folder_of_another_user_is_refused(place: Place, name: str) -> None:
    place.open()
    os.chown(place.root / name, 65534, 65534)
    with pytest.raises(StateRefused, match="belongs to another user"):
        place.open()
    with pytest.raises(StateRefused, match="belongs to another user"):
        place.open(adopt=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_the_owner_of_the_project_may_own_the_folders_above(place: Place) -> None:
    (place.root / ".claude" / "hooks").mkdir(parents=True)
    for path in (place.root, place.root / ".claude", place.root / ".claude" / "hooks"):
        os.chown(path, 65534, 65534)
    place.open()
    assert place.state.stat().st_uid == os.geteuid()


# -- what a person takes over


def test_a_person_takes_over_what_is_plain_and_it_becomes_private(place: Place) -> None:
    deep = place.put("runs/20260101T000000Z/before/0")
    place.state.chmod(0o755)
    deep.chmod(0o644)
    (deep.parent / "1").symlink_to(place.outside / "kept")
    (place.outside / "kept").chmod(0o644)
    assert place.open(adopt=True)
    assert not place.open(adopt=True)
    assert not place.open()
    assert stat.S_IMODE((place.outside / "kept").stat().st_mode) == 0o644
    (deep.parent / "1").unlink()
    assert set(modes(place.state).values()) == {0o700, 0o600}


def test_a_folder_of_ours_that_was_opened_to_others_becomes_private(place: Place) -> None:
    place.open()
    place.put("pending/a.json").chmod(0o644)
    for folder in (place.state, place.state / "pending"):
        folder.chmod(0o755)
    place.open()
    assert set(modes(place.state).values()) == {0o700, 0o600}


@pytest.mark.parametrize("make", [as_link_out, as_linked_top, with_linked_folder, with_pipe])
def test_nobody_takes_over_what_leads_elsewhere(place: Place, make: Callable[[Place], None]) -> None:
    make(place)
    with pytest.raises(StateRefused):
        place.open(adopt=True)


def test_several_machines_may_use_one_folder(place: Place) -> None:
    homes = [{"HOME": str(place.base / f"home{number}")} for number in range(25)]
    place.open()
    place.put("pending/a.json")
    for home in homes:
        with pytest.raises(StateRefused):
            state_folder.check_state(place.project, home)
        assert state_folder.open_state(place.project, home, adopt=True)
        assert state_folder.check_state(place.project, home)
    assert len((place.state / ".sealed").read_text().split()) == 20
    for home in homes[-20:]:
        assert state_folder.check_state(place.project, home)


# -- git


def refused(root: Path, environ: dict[str, str]) -> bool:
    """Whether git is said to track the state folder at the root."""
    try:
        state_folder.open_state(project_at(str(root), "docs/adr"), environ)
    except StateRefused as error:
        return "git tracks" in error.what and "rm -r --cached" in error.fix
    return False


@pytest.mark.parametrize("version", ["2", "4", "split"])
@pytest.mark.parametrize("name", ["pending/evil.json", ".gitignore", "bin"])
def test_a_pull_that_brings_a_file_into_our_folder_is_noticed(
    sandbox: Sandbox, version: str, name: str
) -> None:
    change = ["--split-index"] if version == "split" else ["--index-version", version]
    sandbox.git("update-index", *change)
    environ = sandbox.environment()
    assert not refused(sandbox.root, environ)
    os.utime(sandbox.root / ".git" / "index", (1e9, 1e9))
    assert not refused(sandbox.root, environ)
    assert (sandbox.own_state / ".sealed").stat().st_mtime == 1e9
    sandbox.write(f"{STATE}/{name}", "x")
    assert not refused(sandbox.root, environ)
    sandbox.git("add", "-f", f"{STATE}/{name}")
    assert refused(sandbox.root, environ)
    sandbox.git("commit", "-q", "-m", "x")
    assert refused(sandbox.root, environ)
    sandbox.git("rm", "-q", "-r", "--cached", STATE)
    assert not refused(sandbox.root, environ)


def test_a_tracked_folder_is_not_taken_over_either(sandbox: Sandbox) -> None:
    sandbox.write(f"{STATE}/breaker/a.json", "{}")
    sandbox.git("add", "-f", "-A")
    with pytest.raises(StateRefused, match="git tracks"):
        state_folder.open_state(project_at(str(sandbox.root), "docs/adr"), sandbox.environ, adopt=True)


def test_a_project_below_the_top_of_git_is_looked_up_by_its_own_name(sandbox: Sandbox) -> None:
    below, beside = sandbox.root / "packages" / "one", sandbox.root / "packages" / "two"
    for root in (below, beside):
        root.mkdir(parents=True)
        assert not refused(root, sandbox.environ)
    sandbox.git("add", "-f", f"packages/two/{STATE}/.gitignore")
    assert refused(beside, sandbox.environ)
    assert not refused(below, sandbox.environ)


@pytest.mark.parametrize("within", [".claude", ".claude/hooks"])
def test_a_repository_within_the_project_is_asked_as_well(sandbox: Sandbox, within: str) -> None:
    (sandbox.root / within).mkdir(parents=True)
    sandbox.git("init", "-q", cwd=sandbox.root / within)
    assert not refused(sandbox.root, sandbox.environ)
    sandbox.git("add", "-f", str(sandbox.own_state / ".gitignore"), cwd=sandbox.root / within)
    assert refused(sandbox.root, sandbox.environ)
    sandbox.git("rm", "-q", "-r", "--cached", ".", cwd=sandbox.root / within)
    assert not refused(sandbox.root, sandbox.environ)
    (sandbox.root / within / ".git").rename(sandbox.base / "aside")
    sandbox.git("add", "-f", f"{STATE}/.gitignore")
    (sandbox.base / "aside").rename(sandbox.root / within / ".git")
    assert refused(sandbox.root, sandbox.environ)


def test_linked_work_trees_share_the_folder_and_the_look(sandbox: Sandbox) -> None:
    tree = sandbox.worktree("feature")
    assert not refused(tree, sandbox.environ)
    assert sandbox.own_state.is_dir()
    sandbox.git("add", "-f", f"{STATE}/.gitignore")
    assert refused(tree, sandbox.environ)
    assert refused(sandbox.root, sandbox.environ)


def test_a_linked_folder_of_a_work_tree_is_refused_like_that_of_the_main_one(sandbox: Sandbox) -> None:
    tree = sandbox.worktree("feature")
    (sandbox.base / "outside").mkdir()
    (tree / ".claude").symlink_to(sandbox.base / "outside")
    with pytest.raises(StateRefused, match="is a link"):
        state_folder.open_state(project_at(str(tree), "docs/adr"), sandbox.environ)
    (tree / ".claude").unlink()
    shutil.rmtree(sandbox.root / ".claude", ignore_errors=True)
    (sandbox.root / ".claude").symlink_to(sandbox.base / "outside")
    with pytest.raises(StateRefused, match="is a link"):
        state_folder.open_state(project_at(str(tree), "docs/adr"), sandbox.environ)
    assert os.listdir(sandbox.base / "outside") == []


@pytest.mark.parametrize("kind", ["pipe", "folder", "garbage"])
def test_an_index_that_is_none_holds_nobody(sandbox: Sandbox, kind: str) -> None:
    path = sandbox.root / ".git" / "index"
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"DIRC\0\0\0\x04\xff\xff\xff\xff")
    assert not refused(sandbox.root, sandbox.environ)
