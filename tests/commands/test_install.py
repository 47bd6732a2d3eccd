"""``install`` and ``uninstall``: what they write, and that nothing of the user's is changed for good."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
from pathlib import Path

import pytest

from decision_hooks.commands import install
from decision_hooks.hosts.entry_line import PROGRAMS
from decision_hooks.hosts.marks import MARK
from decision_hooks.hosts.table import targets
from decision_hooks.install import plan
from decision_hooks.install import write as host_files
from decision_hooks.system.world import World
from support import programs
from support.sandbox import CAPTURE, Sandbox

SETTINGS = Path(__file__).parents[1] / "data" / "settings"
MERGED = sorted((SETTINGS / "merged").glob("*.json"))
REFUSED = sorted((SETTINGS / "refused").glob("*.json"))
IN_CODEX = ("crlf", "empty", "env-of-the-user", "older-scripts")  # its file is built as that of Claude Code
BASE = ("node_modules/", "dist/", "*.secret")
OWN = (
    ".claude/hooks/*.log",
    ".claude/hooks/.normalize-state",
    ".claude/hooks/.normalize.lock",
    ".claude/scheduled_tasks.lock",
)
COVERED = "\n".join((*BASE, *OWN, ""))
CLAUDE, CURSOR, CODEX = ".claude/settings.json", ".cursor/hooks.json", ".codex/hooks.json"


class Person:
    """Somebody at a terminal in a project."""

    def __init__(self, base: Path, *, git: bool = True) -> None:
        self.base = base
        self.root = base / "project"
        self.bin = base / "bin"
        for folder in (self.root, self.bin, base / "home"):
            folder.mkdir(parents=True)
        for program in PROGRAMS:
            self.executable(program)
        self.script = str(self.bin / CAPTURE)
        self.environ = {"PATH": "/usr/bin:/bin", "HOME": str(base / "home")}
        if git:
            subprocess.run(["git", "init", "-q", str(self.root)], check=True)

    def executable(self, name: str) -> None:
        """Put an empty program on the side."""
        (self.bin / name).write_text("#!/bin/sh\n")
        (self.bin / name).chmod(0o755)

    def write(self, name: str, data: bytes | str) -> Path:
        """Write a file of the project."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def read(self, name: str) -> bytes:
        """The bytes of a file of the project."""
        return (self.root / name).read_bytes()

    def says(self, *argv: str) -> tuple[int, list[str]]:
        """Run a subcommand: its exit code and what it printed."""
        lines: list[str] = []
        world = World(
            program=CAPTURE,
            script=self.script,
            environ=self.environ,
            cwd=str(self.root),
            now=lambda: 0.0,
            out=lines.append,
            err=lines.append,
            sleep=lambda seconds: None,
            watched=False,
        )
        return install.run(argv, world), lines

    def tree(self) -> dict[str, tuple[int, bytes]]:
        """Everything in the project but git's own: modes, contents, targets of links."""
        found: dict[str, tuple[int, bytes]] = {}
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name != ".git"]
            for name in folders + names:
                path = Path(folder, name)
                mode = path.lstat().st_mode
                data = os.readlink(path).encode() if stat.S_ISLNK(mode) else b""
                data = path.read_bytes() if stat.S_ISREG(mode) else data
                found[str(path.relative_to(self.root))] = (mode, data)
        return found


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """A person in an empty repository."""
    return Person(tmp_path)


def ours(data: bytes, event: str = "Stop") -> list[str]:
    """The marked commands of a hook file, by the standard library."""
    items = json.loads(data.decode("utf-8-sig"))["hooks"][event]
    entries = [entry for item in items for entry in item.get("hooks", [item])]
    commands = [entry.get("command") for entry in entries]
    return [c for c in commands if isinstance(c, str) and re.search(rf"{MARK}( [a-z]+)?$", c)]


def of_others(data: bytes, event: str = "Stop") -> object:
    """A hook file without marked and older entries, and without containers that are then empty."""
    text = data.decode("utf-8-sig").strip()
    tree = json.loads(text or "{}", parse_float=str, parse_int=str)
    hooks = tree.get("hooks", {})
    groups = hooks.get(event, [])
    for group in groups:
        group["hooks"] = [entry for entry in group["hooks"] if not any(p in str(entry) for p in PROGRAMS)]
    hooks[event] = [group for group in groups if group["hooks"] or len(group) > 1]
    if not hooks[event]:
        del hooks[event]
    tree["hooks"] = hooks
    return tree if hooks else {key: value for key, value in tree.items() if key != "hooks"}


def span_kept(before: bytes, after: bytes) -> int:
    """How many bytes of ``before`` stand at the begin and the end of ``after``."""
    head = _common(before, after)
    return head + _common(before[head:][::-1], after[head:][::-1])


def _common(one: bytes, other: bytes) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


# -- files that can be merged


@pytest.mark.parametrize(
    ("path", "host"),
    [
        *(pytest.param(path, "claude", id=path.stem) for path in MERGED),
        *(pytest.param(path, "codex", id=f"{path.stem}-codex") for path in MERGED if path.stem in IN_CODEX),
    ],
)
def test_install_install_uninstall_leaves_the_file_as_it_was(person: Person, path: Path, host: str) -> None:
    name, before = {"claude": CLAUDE, "codex": CODEX}[host], path.read_bytes()
    person.write(".gitignore", COVERED)
    person.write(name, before).chmod(0o640)
    tree = person.tree()

    assert person.says("install", f"--{host}")[0] == 0
    after = person.read(name)
    commands = ours(after)
    assert [sum(f"command -v {program})" in command for command in commands) for program in PROGRAMS] == [
        1,
        1,
    ]
    assert len(commands) == 2
    assert of_others(after) == of_others(before)
    assert stat.S_IMODE((person.root / name).stat().st_mode) == 0o640

    installed = person.tree()
    assert person.says("install", f"--{host}")[0] == 0
    assert person.tree() == installed
    assert person.says("uninstall")[0] == 0
    assert person.tree() == tree


@pytest.mark.parametrize("path", MERGED, ids=lambda path: path.stem)
def test_all_bytes_of_the_user_stand_on_both_sides_of_what_was_added(person: Person, path: Path) -> None:
    before = path.read_bytes()
    if before.decode("utf-8-sig").strip() == "" or path.stem.startswith("older"):
        before = b"{}"
    person.write(CLAUDE, before)
    person.says("install", "--claude")
    assert span_kept(before, person.read(CLAUDE)) == len(before)


@pytest.mark.parametrize("path", MERGED, ids=lambda path: path.stem)
def test_uninstall_without_its_memory_leaves_what_others_have(person: Person, path: Path) -> None:
    before = path.read_bytes()
    person.write(CLAUDE, before)
    person.says("install", "--claude")
    (person.root / ".claude/hooks/.decision-hooks/install.json").unlink()
    assert person.says("uninstall")[0] == 0
    left = person.read(CLAUDE)
    assert of_others(left) == of_others(before)
    assert MARK.encode() not in left
    if not path.stem.startswith(("empty", "white", "bom-only", "older")):
        assert left == before


@pytest.mark.parametrize("path", MERGED, ids=lambda path: path.stem)
def test_uninstall_after_others_wrote_the_file_keeps_what_they_wrote(person: Person, path: Path) -> None:
    before = path.read_bytes()
    person.write(CLAUDE, before)
    person.says("install", "--claude")
    data = person.read(CLAUDE)
    grown = data[: data.rindex(b"}")] + b', "added": [1, 2]}'
    person.write(CLAUDE, grown)
    assert person.says("install", "--claude")[0] == 0
    assert person.read(CLAUDE) == grown
    assert person.says("uninstall")[0] == 0
    left = person.read(CLAUDE)
    assert MARK.encode() not in left
    expected = of_others(before)
    assert isinstance(expected, dict)
    assert of_others(left) == {**expected, "added": ["1", "2"]}


def test_line_ends_and_indentation_are_those_of_the_file(person: Person) -> None:
    for name, newline, indent in (
        ("crlf", b"\r\n", b"  "),
        ("tabs", b"\n", b"\t"),
        ("four-spaces", b"\n", b"    "),
    ):
        person.write(CLAUDE, (SETTINGS / "merged" / f"{name}.json").read_bytes())
        person.says("install", "--claude")
        after = person.read(CLAUDE)
        assert after.count(b"\n") == after.count(newline)
        line = next(line for line in after.splitlines() if b'"timeout": 600' in line)
        assert line.startswith(indent * 6 + b'"')
        person.says("uninstall")
    person.write(CLAUDE, (SETTINGS / "merged" / "single-line-tight.json").read_bytes())
    person.says("install", "--claude")
    assert b"\n" not in person.read(CLAUDE)


# -- files that are left alone


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_a_file_that_is_no_strict_json_of_the_right_form_is_left_alone(person: Person, path: Path) -> None:
    person.write(CLAUDE, path.read_bytes())
    code, lines = person.says("install", "--claude")
    assert code == 1
    assert person.read(CLAUDE) == path.read_bytes()
    (told,) = (line for line in lines if line.startswith("left alone"))
    assert CLAUDE in told
    shown = "\n".join(lines)
    paste = (
        shown[shown.index("{") :] if "{" not in told else shown[shown.index("{", shown.index("by hand")) :]
    )
    tree, _ = json.JSONDecoder().raw_decode(paste)
    assert len(ours(json.dumps(tree).encode())) == 2
    assert person.says("uninstall")[0] == 0
    assert person.read(CLAUDE) == path.read_bytes()


def test_the_tables_are_large_enough_to_mean_something() -> None:
    assert len(MERGED) >= 30
    assert len(REFUSED) >= 25


def test_one_file_left_alone_does_not_stop_the_others(person: Person) -> None:
    person.write(CLAUDE, "{,}")
    assert person.says("install", "--claude", "--cursor")[0] == 1
    assert len(ours(person.read(CURSOR), "stop")) == 2
    assert person.says("uninstall")[0] == 0
    assert person.read(CLAUDE) == b"{,}"
    assert not (person.root / ".cursor").exists()


def test_a_read_only_file_is_left_alone(person: Person) -> None:
    person.write(CLAUDE, "{}").chmod(0o444)
    code, lines = person.says("install", "--claude")
    assert code == 1
    assert any("read-only" in line for line in lines)
    assert person.read(CLAUDE) == b"{}"
    assert stat.S_IMODE((person.root / CLAUDE).stat().st_mode) == 0o444


@pytest.mark.parametrize("kind", ["folder", "pipe", "dangling link", "huge"])
def test_what_is_no_ordinary_file_is_left_alone(person: Person, kind: str) -> None:
    path = person.root / CLAUDE
    path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "dangling link":
        path.symlink_to("nowhere.json")
    else:
        path.write_bytes(b"{}" + b" " * (5 << 20))
    before = path.lstat()
    assert person.says("install", "--claude")[0] == 1
    assert (path.lstat().st_ino, path.lstat().st_size) == (before.st_ino, before.st_size)
    assert not (path.parent / "nowhere.json").exists()
    assert person.says("uninstall")[0] in (0, 1)
    assert (path.lstat().st_ino, path.lstat().st_size) == (before.st_ino, before.st_size)


@pytest.mark.parametrize("inside", [True, False])
def test_a_link_stays_a_link_and_its_target_is_written_and_restored(person: Person, inside: bool) -> None:
    target = (person.root if inside else person.base) / "dotfiles" / "claude.json"
    target.parent.mkdir()
    target.write_text('{\n  "model": "opus"\n}\n')
    (person.root / ".claude").mkdir()
    (person.root / CLAUDE).symlink_to(os.path.relpath(target, person.root / ".claude"))
    person.write(".gitignore", COVERED)
    tree = person.tree()
    assert person.says("install", "--claude")[0] == 0
    assert (person.root / CLAUDE).is_symlink()
    assert len(ours(target.read_bytes())) == 2
    assert person.says("install", "--claude")[0] == 0
    assert person.says("uninstall")[0] == 0
    assert target.read_text() == '{\n  "model": "opus"\n}\n'
    assert person.tree() == tree


def test_a_linked_folder_is_written_through(person: Person) -> None:
    (person.root / "shared").mkdir()
    (person.root / ".cursor").symlink_to("shared")
    person.write(".gitignore", COVERED)
    tree = person.tree()
    assert person.says("install", "--cursor")[0] == 0
    assert len(ours(person.read("shared/hooks.json"), "stop")) == 2
    assert person.says("uninstall")[0] == 0
    assert person.tree() == tree


def in_git(person: Person, *names: str) -> None:
    subprocess.run(["git", "add", "-f", *names], cwd=person.root, check=True)


LINKS = {
    "file": (CLAUDE, "../../outside/settings.json", "outside/settings.json"),
    "file inside": (CLAUDE, "../shared.json", "project/shared.json"),
    "folder": (".cursor", "../outside", "outside/hooks.json"),
    "ignore": (".gitignore", "../outside/profile", "outside/profile"),
    "command": (".claude/commands", "../../outside", "outside/n-adr-normalize.md"),
}
BOTH = ("--claude", "--cursor")


def linked(person: Person, kind: str) -> Path:
    """A link in the place of a file or folder of the project; the file that it leads to."""
    name, target, real = LINKS[kind]
    (person.base / "outside").mkdir()
    file = person.base / real
    if kind != "command":
        file.write_text("{}" if file.suffix == ".json" else "x\n")
    (person.root / name).parent.mkdir(exist_ok=True)
    (person.root / name).symlink_to(target)
    return file


def outside(person: Person) -> dict[str, bytes]:
    files = [path for path in (person.base / "outside").rglob("*") if path.is_file()]
    return {str(path): path.read_bytes() for path in [*files, *person.root.glob("shared.json")]}


@pytest.mark.parametrize("kind", LINKS)
def test_a_link_that_git_tracks_is_refused_and_all_else_is_done(person: Person, kind: str) -> None:
    file = linked(person, kind)
    (person.base / "outside" / ".decision-hooks-install-1-a.tmp").write_text("not ours to remove")
    in_git(person, LINKS[kind][0])
    before = outside(person)
    for more in (("--dry-run",), ()):
        code, lines = person.says("install", *BOTH, *more)
        assert code == 1
        assert any("git tracks the link" in line and str(file) in line for line in lines)
        assert outside(person) == before
    others = [name for name in (CLAUDE, CURSOR, ".gitignore") if not name.startswith(LINKS[kind][0])]
    assert len(others) == (3 if kind == "command" else 2)
    assert all(b"decision-hooks" in person.read(name) for name in others)


@pytest.mark.parametrize("kind", LINKS)
def test_nothing_is_taken_back_through_a_link_that_git_tracks(person: Person, kind: str) -> None:
    file = linked(person, kind)
    assert person.says("install", *BOTH)[0] == 0
    assert b"decision-hooks" in file.read_bytes()
    in_git(person, LINKS[kind][0])
    before = outside(person)
    code, lines = person.says("uninstall")
    assert code == 1
    assert any("git tracks the link" in line for line in lines)
    assert outside(person) == before


@pytest.mark.parametrize("kind", LINKS)
def test_the_real_path_is_named_where_the_users_own_link_is_followed(person: Person, kind: str) -> None:
    file = linked(person, kind)
    for more in (("--dry-run",), ()):
        code, lines = person.says("install", *BOTH, *more)
        assert code == 0
        assert any(line.strip() == f"through a link to {file}" for line in lines)
    assert b"decision-hooks" in file.read_bytes()


@pytest.mark.parametrize("tracked", [True, False])
def test_a_script_in_the_project_is_named_where_git_does_not_track_it(person: Person, tracked: bool) -> None:
    folder = person.root / ".venv" / "bin"
    folder.mkdir(parents=True)
    for name in PROGRAMS:
        (person.bin / name).rename(folder / name)
    person.script = str(folder / CAPTURE)
    if tracked:
        in_git(person, ".venv")
    code, lines = person.says("install", "--claude")
    assert code == 0
    named = person.root / ".claude/hooks/.decision-hooks/bin"
    assert named.exists() is not tracked
    assert any("on the search path only" in line for line in lines) is tracked


def test_without_git_a_link_that_leads_out_is_refused(person: Person) -> None:
    subprocess.run(["rm", "-rf", str(person.root / ".git")], check=True)
    file = linked(person, "file")
    code, lines = person.says("install", "--claude")
    assert code == 1
    assert any("leads out of the project" in line for line in lines)
    assert file.read_bytes() == b"{}"
    assert b"decision-hooks" in person.read(".gitignore")


def test_a_file_that_changes_between_look_and_write_is_not_overwritten(person: Person) -> None:
    person.write(CLAUDE, "{}")
    from decision_hooks.errors import FolderError
    from decision_hooks.system.project import project_at

    project = project_at(str(person.root), "docs/adr")
    steps = plan.plan_install(project, [targets()["claude"]], "", person.environ)
    person.write(CLAUDE, '{"new": 1}')
    with pytest.raises(FolderError, match="changed meanwhile"):
        host_files.install(project, steps, "", person.environ)
    assert person.read(CLAUDE) == b'{"new": 1}'
    assert person.says("uninstall")[0] == 0
    assert person.read(CLAUDE) == b'{"new": 1}'


# -- whole installations


@pytest.mark.parametrize("git", [True, False])
def test_a_project_without_anything_is_left_without_anything(tmp_path: Path, git: bool) -> None:
    person = Person(tmp_path, git=git)
    assert person.says("install", "--all", "--backend", "claude")[0] == 0
    assert {name for name, (mode, _) in person.tree().items() if stat.S_ISREG(mode)} == {
        CLAUDE,
        CURSOR,
        CODEX,
        ".claude/commands/n-adr-normalize.md",
        ".cursor/commands/n-adr-normalize.md",
        ".pi/extensions/decision-hooks.ts",
        ".gitignore",
        ".claude/hooks/.decision-hooks/.gitignore",
        ".claude/hooks/.decision-hooks/.sealed",
        ".claude/hooks/.decision-hooks/bin",
        ".claude/hooks/.decision-hooks/install.json",
    }
    installed = person.tree()
    assert person.says("install", "--all", "--backend", "claude")[0] == 0
    assert person.tree() == installed
    assert person.says("uninstall")[0] == 0
    assert person.tree() == {}


def test_what_is_committed_holds_no_path_and_the_rest_is_ignored(person: Person) -> None:
    person.says("install", "--all")
    listed = subprocess.run(
        ["git", "ls-files", "-o", "--exclude-standard"],
        cwd=person.root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert [name for name in listed if ".decision-hooks" in name] == []
    assert len(listed) == 7
    for name in listed:
        assert str(person.base).encode() not in person.read(name)


def test_the_state_folder_is_private_and_names_the_running_script(person: Person) -> None:
    person.says("install", "--claude")
    state = person.root / ".claude/hooks/.decision-hooks"
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert (state / ".gitignore").read_text() == "*\n"
    assert (state / "bin").read_text() == f"{person.script}\n"


def test_a_new_environment_only_changes_the_name_of_the_script(person: Person) -> None:
    person.says("install", "--claude")
    before = person.read(CLAUDE)
    person.bin = person.base / "other"
    person.bin.mkdir()
    for program in PROGRAMS:
        person.executable(program)
    person.script = str(person.bin / CAPTURE)
    person.says("install", "--claude")
    assert person.read(".claude/hooks/.decision-hooks/bin").decode() == f"{person.script}\n"
    assert person.read(CLAUDE) == before


@pytest.mark.parametrize("script", ["", "/nowhere/capture-decisions", "/usr/bin/env"])
def test_a_script_that_is_not_ours_is_not_named(person: Person, script: str) -> None:
    person.script = script
    code, lines = person.says("install", "--claude")
    assert code == 0
    assert any("search path only" in line for line in lines)
    assert not (person.root / ".claude/hooks/.decision-hooks/bin").exists()


def test_a_backup_of_a_changed_file_is_kept(person: Person) -> None:
    person.write(CLAUDE, '{"model": "opus"}')
    person.says("install", "--claude")
    (backup,) = (person.root / ".claude/hooks/.decision-hooks/backups").iterdir()
    assert backup.read_bytes() == b'{"model": "opus"}'
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600


def test_an_entry_of_an_older_version_is_made_current_and_goes_with_uninstall(person: Person) -> None:
    person.write(".gitignore", COVERED)
    old = [{"hooks": [{"type": "command", "command": f"{p} # decision-hooks"} for p in PROGRAMS]}]
    person.write(CLAUDE, json.dumps({"model": "opus", "hooks": {"Stop": old}}))
    assert person.says("install", "--claude")[0] == 0
    assert all("--detach" in command for command in ours(person.read(CLAUDE)))
    assert person.says("uninstall")[0] == 0
    assert json.loads(person.read(CLAUDE)) == {"model": "opus"}


def test_what_an_older_version_remembered_by_the_program_is_understood(person: Person) -> None:
    path = SETTINGS / "merged" / "older-scripts.json"
    before = json.loads(path.read_bytes())
    person.write(CLAUDE, path.read_bytes())
    person.says("install", "--claude")
    memory = ".claude/hooks/.decision-hooks/install.json"
    for program in PROGRAMS:
        id = program.partition("-")[0]
        person.write(memory, person.read(memory).replace(f'"{id}":'.encode(), f'"{program}":'.encode()))
        person.write(CLAUDE, person.read(CLAUDE).replace(f"{MARK} {id}".encode(), MARK.encode()))
    data = person.read(CLAUDE)
    assert b"capture-decisions.sh" not in data
    person.write(CLAUDE, data[: data.rindex(b"}")] + b', "added": 1}')
    assert person.says("uninstall")[0] == 0
    assert json.loads(person.read(CLAUDE)) == {**before, "added": 1}


def test_uninstall_in_another_clone_takes_our_entries_out(person: Person) -> None:
    person.write(CLAUDE, '{\n  "model": "opus"\n}\n')
    person.says("install", "--all")
    subprocess.run(["rm", "-rf", str(person.root / ".claude/hooks")], check=True)
    assert person.says("uninstall")[0] == 0
    assert person.read(CLAUDE) == b'{\n  "model": "opus"\n}\n'
    assert not (person.root / ".pi/extensions/decision-hooks.ts").exists()
    assert not (person.root / ".claude/commands/n-adr-normalize.md").exists()
    assert person.read(".gitignore") == b""


def test_uninstall_where_nothing_was_installed_changes_nothing(person: Person) -> None:
    person.write(CLAUDE, '{"hooks": {"Stop": []}}')
    person.write(".gitignore", "dist/\n")
    tree = person.tree()
    code, lines = person.says("uninstall")
    assert (code, person.tree()) == (0, tree)
    assert "nothing of ours" in lines[-1]


def test_uninstall_of_one_host_leaves_the_others_and_what_they_share(person: Person) -> None:
    person.says("install", "--claude", "--cursor")
    before = person.read(CURSOR)
    assert person.says("uninstall", "--claude")[0] == 0
    assert not (person.root / CLAUDE).exists()
    assert person.read(CURSOR) == before
    assert (person.root / ".claude/hooks/.decision-hooks/bin").exists()
    assert b"decision-hooks" in person.read(".gitignore")
    assert person.says("uninstall", "--cursor")[0] == 0
    assert person.tree() == {}


def test_what_runs_have_left_in_the_state_is_kept_and_told_of(person: Person) -> None:
    person.says("install", "--claude")
    person.write(".claude/hooks/.decision-hooks/runs/1/plan.json", "{}")
    code, lines = person.says("uninstall")
    assert code == 0
    assert lines[-1].startswith("kept")
    left = {name for name, (mode, _) in person.tree().items() if stat.S_ISREG(mode)}
    assert left == {
        ".claude/hooks/.decision-hooks/.gitignore",
        ".claude/hooks/.decision-hooks/.sealed",
        ".claude/hooks/.decision-hooks/runs/1/plan.json",
    }


@pytest.mark.parametrize("argv", [("install", "--all", "--backend", "pi"), ("uninstall",)])
def test_a_dry_run_shows_the_changes_and_writes_nothing(person: Person, argv: tuple[str, ...]) -> None:
    person.write(CLAUDE, '{\n  "model": "opus"\n}\n')
    if argv[0] == "uninstall":
        person.says("install", "--all", "--backend", "pi")
    tree = person.tree()
    code, lines = person.says(*argv, "--dry-run")
    assert (code, person.tree()) == (0, tree)
    shown = "\n".join(lines)
    sign = "+" if argv[0] == "install" else "-"
    assert f'\n{sign}            "timeout": 600' in shown
    assert f"\n{sign}{OWN[0]}" in shown
    assert "would be" in shown


def test_our_own_files_that_the_user_changed_stay(person: Person) -> None:
    person.says("install", "--claude", "--pi")
    for name in (".claude/commands/n-adr-normalize.md", ".pi/extensions/decision-hooks.ts"):
        person.write(name, person.read(name) + b"mine\n")
        mine = person.read(name)
        code, lines = person.says("install", "--claude", "--pi")
        assert code == 1
        assert any(line.startswith(f"left alone   {name}") for line in lines)
        assert person.says("uninstall")[0] == 1
        assert person.read(name) == mine
        (person.root / name).unlink()
        person.says("install", "--claude", "--pi")


def test_a_foreign_file_of_the_same_name_stays(person: Person) -> None:
    for name in (".claude/commands/n-adr-normalize.md", ".pi/extensions/decision-hooks.ts"):
        person.write(name, "mine\n")
    assert person.says("install", "--claude", "--pi")[0] == 1
    assert person.says("uninstall")[0] == 0
    assert person.read(".claude/commands/n-adr-normalize.md") == b"mine\n"
    assert person.read(".pi/extensions/decision-hooks.ts") == b"mine\n"


def test_a_linked_work_tree_shares_the_state_of_the_main_one(person: Person) -> None:
    git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.invalid"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], cwd=person.root, check=True)
    subprocess.run([*git, "worktree", "add", "-q", "../tree"], cwd=person.root, check=True)
    main, person.root = person.root, person.base / "tree"
    person.says("install", "--claude")
    assert (main / ".claude/hooks/.decision-hooks/bin").exists()
    assert not (person.root / ".claude/hooks").exists()
    assert len(ours(person.read(CLAUDE))) == 2
    assert person.says("uninstall")[0] == 0
    assert not (main / ".claude").exists()
    assert not (person.root / ".claude").exists()


# -- killed on the way


@pytest.mark.parametrize(
    ("call", "number"), [*(("rename", n) for n in range(1, 8)), ("fsync", 3), ("mkdir", 3)]
)
def test_a_killed_installation_spoils_nothing_and_can_be_repeated_and_taken_back(
    sandbox: Sandbox, call: str, number: int
) -> None:
    sandbox.write(CLAUDE, '{\n  "model": "opus"\n}\n')
    sandbox.write(".gitignore", "dist/")
    before = sandbox.snapshot(without=(".git",))
    assert sandbox.run(CAPTURE, None, "install", "--claude", "--pi", kill_at=(call, number)).was_killed
    assert json.loads(sandbox.read(CLAUDE))["model"] == "opus"
    assert sandbox.run(CAPTURE, None, "install", "--claude", "--pi").rc == 0
    assert len(ours((sandbox.root / CLAUDE).read_bytes())) == 2
    assert sandbox.run(CAPTURE, None, "uninstall").rc == 0
    assert sandbox.snapshot(without=(".git",)) == before


@pytest.mark.parametrize(("call", "number"), [("rename", 1), ("rename", 2), ("unlink", 2), ("unlink", 4)])
def test_a_killed_taking_back_can_be_repeated(sandbox: Sandbox, call: str, number: int) -> None:
    sandbox.write(CLAUDE, '{\n  "model": "opus"\n}\n')
    sandbox.write(".gitignore", "dist/")
    before = sandbox.snapshot(without=(".git",))
    assert sandbox.run(CAPTURE, None, "install", "--claude", "--pi").rc == 0
    assert sandbox.run(CAPTURE, None, "uninstall", kill_at=(call, number)).was_killed
    assert sandbox.run(CAPTURE, None, "uninstall").rc == 0
    assert sandbox.snapshot(without=(".git",)) == before


# -- which hosts


@pytest.mark.parametrize(
    ("there", "on_path", "expected"),
    [
        ((), (), {"Claude Code"}),
        ((".cursor/rules/a.mdc",), (), {"Cursor"}),
        ((".claude/agents/a.md", ".codex/config.toml"), (), {"Claude Code", "Codex"}),
        ((), ("codex", "pi"), {"Codex", "pi"}),
        ((".claude/commands/x.md",), ("cursor-agent",), {"Claude Code", "Cursor"}),
        ((".claude/hooks/capture-decisions.log",), ("pi",), {"pi"}),
    ],
)
def test_without_a_name_the_hosts_of_the_project_and_the_path_are_chosen_and_chosen_again(
    person: Person, there: tuple[str, ...], on_path: tuple[str, ...], expected: set[str]
) -> None:
    for name in there:
        person.write(name, "")
    for name in on_path:
        person.executable(name)
    person.environ["PATH"] = f"{person.bin}:/usr/bin:/bin"
    for _ in range(2):
        _, lines = person.says("install")
        assert set(lines[0].split(": ", 1)[1].split(", ")) == expected


def test_a_wrong_flag_is_usage(person: Person, capsys: pytest.CaptureFixture[str]) -> None:
    for argv in (
        ("install", "--vim"),
        ("install", "--backend", "gpt"),
        ("uninstall", "--backend", "pi"),
        ("install", "x"),
    ):
        with pytest.raises(SystemExit) as error:
            person.says(*argv)
        assert error.value.code == 2
    assert person.tree() == {}
    capsys.readouterr()


# -- .gitignore


def lines_of(person: Person) -> list[str]:
    return [
        line for line in person.read(".gitignore").decode().split("\n") if line and not line.startswith("#")
    ]


def test_all_lines_are_added_where_none_is_there(person: Person) -> None:
    person.says("install", "--claude")
    assert lines_of(person) == [*BASE, *OWN]


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("*.log\n", [OWN[0]]),
        (".claude/hooks/*\n", [OWN[0], OWN[1], OWN[2]]),
        (".claude/\n", list(OWN)),
        ("/.claude/hooks/.normalize*\n", [OWN[1], OWN[2]]),
        ("node_modules\n/dist\n**/*.secret\n", list(BASE)),
        ("*.lock\n", [OWN[2], OWN[3]]),
        ("# *.log\n", []),
        ("*.log\n!.claude/hooks/*.log\n", []),
    ],
)
def test_a_form_that_covers_a_line_counts(person: Person, text: str, absent: list[str]) -> None:
    person.write(".gitignore", text)
    person.says("install", "--claude")
    block = person.read(".gitignore").decode().removeprefix(text)
    assert [line for line in (*BASE, *OWN) if line not in block.split("\n")] == absent


def test_a_form_in_a_folder_below_counts(person: Person) -> None:
    person.write(".claude/.gitignore", "hooks/*.log\n")
    person.says("install", "--claude")
    assert OWN[0] not in lines_of(person)


def test_what_only_this_person_ignores_does_not_count(person: Person) -> None:
    home = Path(person.environ["HOME"])
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("*.log\nnode_modules\n")
    person.says("install", "--claude")
    assert lines_of(person) == [*BASE, *OWN]


@pytest.mark.parametrize("path", ["dist/app.js", "web/dist/app.js", "a.secret", "x/node_modules/y"])
def test_a_base_line_stays_away_where_git_tracks_something_under_it(person: Person, path: str) -> None:
    person.write(path, "x")
    subprocess.run(["git", "add", "-f", path], cwd=person.root, check=True)
    person.says("install", "--claude")
    missing = [line for line in BASE if line not in lines_of(person)]
    assert missing == [line for line in BASE if line.strip("*/") in path]


@pytest.mark.parametrize(("text", "asked"), [("", ["check-ignore", "ls-files"]), (COVERED, [])])
def test_git_is_asked_each_question_once(person: Person, text: str, asked: list[str]) -> None:
    log = person.base / "git.log"
    words = f'for word; do case $word in *-ignore|ls-*) echo "$word"; esac; done >>"{log}"'
    (person.bin / "git").write_text(f'#!/bin/sh\n{words}\nexec /usr/bin/git "$@"\n')
    (person.bin / "git").chmod(0o755)
    person.environ["PATH"] = f"{person.bin}:/usr/bin:/bin"
    person.write(".gitignore", text)
    person.says("install", "--claude")
    assert (log.read_text().split() if log.exists() else []) == asked


def test_a_path_beyond_a_link_does_not_hide_what_git_ignores_elsewhere(person: Person) -> None:
    (person.root / "real").mkdir()
    (person.root / "node_modules").symlink_to("real")
    person.write(".gitignore", "*.log\n")
    person.says("install", "--claude")
    assert OWN[0] not in lines_of(person)
    assert BASE[0] in lines_of(person)


@pytest.mark.parametrize("text", ["a\n", "a", "a\r\nb\r\n", "\ufeffa\n", "\n\n", "a\n\n# end", ""])
def test_gitignore_comes_back_byte_for_byte(person: Person, text: str) -> None:
    person.write(".gitignore", text)
    tree = person.tree()
    person.says("install", "--claude")
    assert person.read(".gitignore").startswith(text.encode())
    assert person.says("uninstall")[0] == 0
    assert person.tree() == tree


def test_a_gitignore_that_is_no_text_is_left_alone(person: Person) -> None:
    data = "dist/\n".encode("utf-16")
    person.write(".gitignore", data)
    assert person.says("install", "--claude")[0] == 1
    assert person.read(".gitignore") == data


# -- the last line


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ((), "Captures with pi, model x/tiny."),
        (("--backend", "claude"), "Captures with claude CLI, model opus."),
    ],
)
def test_the_last_line_is_about_the_environment_that_the_hooks_will_have(
    person: Person, argv: tuple[str, ...], expected: str
) -> None:
    for name in ("pi", "claude"):
        person.executable(name)
    person.environ["PATH"] = f"{person.bin}:/usr/bin:/bin"
    person.write(CLAUDE, '{"env": {"N_LOCAL_MIN_MODEL": "x/tiny", "CAPTURE_DECISIONS_CLAUDE_MODEL": "opus"}}')
    _, lines = person.says("install", "--claude", *argv)
    assert lines[-1] == expected


@pytest.mark.parametrize(
    ("on_path", "environ", "argv", "words"),
    [
        ((), {}, (), "No backend captures yet (pi not found)"),
        (("pi",), {}, (), "No backend captures yet (no local policy model configured)"),
        (("pi",), {"N_LOCAL_MIN_MODEL": "x/tiny"}, (), "Captures with pi, model x/tiny."),
        (("claude",), {}, ("--backend", "claude"), "Captures with claude CLI, model sonnet."),
        (("claude",), {}, ("--backend", "auto"), "Captures with claude CLI, model sonnet."),
        (
            (),
            {},
            ("--backend", "auto"),
            "No backend captures yet (pi not found, claude CLI not found, cursor",
        ),
        ((), {}, ("--backend", "choices"), "Captures with choices"),
        ((), {"CAPTURE_DECISIONS_BACKEND": "gpt"}, (), "unknown CAPTURE_DECISIONS_BACKEND=gpt"),
        (
            (),
            {"CAPTURE_DECISIONS_TIMEOUT": "soon"},
            (),
            "Nothing captures: bad value of CAPTURE_DECISIONS_TIMEOUT",
        ),
    ],
)
def test_the_last_line_names_backend_and_model_or_what_is_missing(
    person: Person, on_path: tuple[str, ...], environ: dict[str, str], argv: tuple[str, ...], words: str
) -> None:
    for name in on_path:
        person.executable(name)
    person.environ |= {"PATH": f"{person.bin}:/usr/bin:/bin", **environ}
    _, lines = person.says("install", "--claude", *argv)
    assert words in lines[-1]


def test_hosts_without_a_place_for_the_backend_are_named(person: Person) -> None:
    _, lines = person.says("install", "--all", "--backend", "choices")
    assert any(line.startswith("Cursor, Codex, pi: set CAPTURE_DECISIONS_BACKEND=choices") for line in lines)


# -- the installed script


def test_one_command_sets_a_project_up_and_its_entry_runs_the_program(sandbox: Sandbox) -> None:
    done = sandbox.run(CAPTURE, None, "install", "--claude", "--backend", "choices")
    assert (done.rc, done.stderr) == (0, "")
    tree = json.loads(sandbox.read(CLAUDE))
    environ = sandbox.environment({"CLAUDE_PROJECT_DIR": str(sandbox.root), **tree["env"]})
    command = ["/bin/sh", "-c", tree["hooks"]["Stop"][0]["hooks"][0]["command"]]
    process = programs.start(command, environ=environ, cwd=sandbox.home)
    rc, out, err, _ = programs.finish(process, {"session_id": "s", "transcript_path": "/gone"}, 20)
    sandbox.settle()
    assert (rc, out, err) == (0, "", "")
    assert "no transcript path" in sandbox.log(CAPTURE)
    assert sandbox.run(CAPTURE, None, "uninstall").rc == 0
    assert "install" not in "".join(os.listdir(sandbox.hooks))
