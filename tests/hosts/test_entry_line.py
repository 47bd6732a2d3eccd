"""The line of sh in every entry, run the way a host runs it: which script it takes, and when it stays silent."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from decision_hooks.hosts import entry_line
from decision_hooks.hosts.claude.entries import plugin_entries
from decision_hooks.hosts.table import targets
from decision_hooks.settings import GUARDS

SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh") if shutil.which(shell, path="/usr/bin:/bin")]
CAPTURE, NORMALIZE = entry_line.PROGRAMS
LINES = {
    "claude": targets()["claude"].hooks.entries[0].command,  # type: ignore[union-attr]
    "cursor": targets()["cursor"].hooks.entries[0].command,  # type: ignore[union-attr]
    "codex": targets()["codex"].hooks.entries[0].command,  # type: ignore[union-attr]
    "plugin": plugin_entries()[0].command,
}
PAYLOAD = '{"session_id": "x", "text": "лапки \' \\" $HOME `id`"}\n\n'.encode()


class Place:
    """A project, a home and scripts that write down how they were called."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "my 'quoted\" project $x"
        self.home = base / "home"
        self.path = base / "on path"
        for folder in (self.root, self.home, self.path):
            folder.mkdir(parents=True)
        (self.root / "docs" / "adr").mkdir(parents=True)

    def script(self, folder: Path, program: str = CAPTURE) -> Path:
        """A fake of one program that writes its name, arguments and stdin beside itself."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / program
        path.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"$0.args"\n/bin/cat >"$0.stdin"\n')
        path.chmod(0o755)
        return path

    def name_in_bin(self, path: Path | str, root: Path | None = None) -> None:
        """Write the file that names the script."""
        file = (root or self.root) / entry_line.BIN
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{path}\n")

    def run(
        self, line: str, *arguments: str, shell: str = "sh", cwd: Path | None = None, **env: str
    ) -> tuple[int, bytes, bytes]:
        """Run a line as a host does: exit code, stdout, stderr."""
        environ = {"PATH": f"{self.path}:/usr/bin:/bin", "HOME": str(self.home), **env}
        command = [shell, "-c", line, *(["name", *arguments] if arguments else [])]
        done = subprocess.run(
            command, input=PAYLOAD, env=environ, cwd=cwd or self.base, capture_output=True, check=False
        )
        return done.returncode, done.stdout, done.stderr


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A fresh place."""
    return Place(tmp_path)


def called(script: Path) -> bool:
    """Whether a fake script was called, with our flag and the whole payload."""
    arguments = Path(f"{script}.args")
    if not arguments.exists():
        return False
    assert arguments.read_text().splitlines()[0] == "--detach"
    assert Path(f"{script}.stdin").read_bytes() == PAYLOAD
    return True


SILENT = (0, b"", b"")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_without_the_package_nothing_happens_and_nothing_is_said(place: Place, line: str, shell: str) -> None:
    for env in ({}, {"CLAUDE_PROJECT_DIR": str(place.root)}, {"CURSOR_PROJECT_DIR": str(place.root)}):
        assert place.run(line, shell=shell, **env) == SILENT


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", ["claude", "cursor", "codex"])
@pytest.mark.parametrize("variable", ["CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR"])
def test_the_named_script_is_taken_whatever_the_working_directory(
    place: Place, shell: str, name: str, variable: str
) -> None:
    other = place.script(place.path)
    script = place.script(place.base / 'ven\'v "2" $(x)')
    place.name_in_bin(script)
    assert place.run(LINES[name], shell=shell, cwd=Path("/"), **{variable: str(place.root)}) == SILENT
    assert called(script)
    assert not called(other)


@pytest.mark.parametrize("variable", GUARDS)
@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_guard_variable_ends_it_before_anything_else(place: Place, line: str, variable: str) -> None:
    script = place.script(place.path)
    place.name_in_bin(script)
    env = {"CLAUDE_PROJECT_DIR": str(place.root), variable: "1"}
    assert place.run(line, **env) == SILENT
    assert not called(script)
    assert place.run(line, **{**env, variable: ""}) == SILENT
    assert called(script)


def test_a_guarded_entry_costs_a_start_of_sh_and_no_more(place: Place) -> None:
    def least(line: str) -> float:
        times = []
        for _ in range(15):
            begin = time.perf_counter()
            place.run(line, CLAUDE_PROJECT_DIR=str(place.root), ADR_HOOKS_SKIP="1")
            times.append(time.perf_counter() - begin)
        return min(times)

    assert least(LINES["claude"]) < least("exit 0") + 0.005  # seconds


@pytest.mark.parametrize("shell", SHELLS)
def test_the_sister_program_lies_beside_the_named_script(place: Place, shell: str) -> None:
    script = place.script(place.base / "venv", NORMALIZE)
    place.name_in_bin(place.base / "venv" / CAPTURE)
    line = entry_line.line(entry_line.ENTRIES[1])
    assert place.run(line, shell=shell, CLAUDE_PROJECT_DIR=str(place.root)) == SILENT
    assert called(script)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("content", ["{gone}", "", "\n", "relative/capture-decisions", "a\nb", "\0"])
def test_where_the_named_script_is_gone_the_one_on_the_path_is_taken(
    place: Place, shell: str, content: str
) -> None:
    script = place.script(place.path)
    place.name_in_bin(content.format(gone=place.base / "gone" / CAPTURE))
    assert place.run(LINES["claude"], shell=shell, CLAUDE_PROJECT_DIR=str(place.root))[0] == 0
    assert called(script)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_folder_in_the_place_of_a_file_does_no_harm(place: Place, shell: str) -> None:
    script = place.script(place.path)
    (place.root / entry_line.BIN).mkdir(parents=True)
    assert place.run(LINES["claude"], shell=shell, CLAUDE_PROJECT_DIR=str(place.root)) == SILENT
    assert called(script)
    folder = place.base / "venv"
    (folder / CAPTURE).mkdir(parents=True)
    Path(f"{script}.args").unlink()
    (place.root / entry_line.BIN).rmdir()
    place.name_in_bin(folder / CAPTURE)
    assert place.run(LINES["claude"], shell=shell, CLAUDE_PROJECT_DIR=str(place.root)) == SILENT
    assert called(script)


def test_without_a_hosts_variable_the_root_is_that_of_git(place: Place) -> None:
    script = place.script(place.base / "venv")
    place.name_in_bin(script)
    (place.root / "src").mkdir()
    subprocess.run(["git", "init", "-q", str(place.root)], check=True)
    assert place.run(LINES["codex"], cwd=place.root / "src") == SILENT
    assert called(script)


def test_without_a_repository_or_git_the_root_is_the_working_directory(place: Place) -> None:
    script = place.script(place.base / "venv")
    place.name_in_bin(script)
    for env in ({"GIT_CEILING_DIRECTORIES": str(place.base)}, {"PATH": str(place.path)}):
        Path(f"{script}.args").unlink(missing_ok=True)
        assert place.run(LINES["codex"], shell="/bin/sh", cwd=place.root, **env) == SILENT
        assert called(script)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_work_tree_of_claude_finds_the_script_of_the_main_one(place: Place, shell: str) -> None:
    script = place.script(place.base / "venv")
    place.name_in_bin(script)
    tree = place.root / ".claude" / "worktrees" / "one"
    tree.mkdir(parents=True)
    assert place.run(LINES["claude"], shell=shell, CLAUDE_PROJECT_DIR=str(tree)) == SILENT
    assert called(script)


def test_more_flags_can_be_handed_on(place: Place) -> None:
    script = place.script(place.path)
    place.run(LINES["cursor"], "--transcript", "a b", "--session-id", "")
    assert Path(f"{script}.args").read_text().splitlines() == [
        "--detach",
        "--transcript",
        "a b",
        "--session-id",
        "",
    ]


# -- Cursor also runs the hooks of Claude Code


CURSOR_HOOKS = entry_line.whole(
    targets()["cursor"].hooks.entries,  # type: ignore[union-attr]
    entry_line.FLAT,
)


def in_cursor(place: Place) -> dict[str, str]:
    return {
        "CURSOR_VERSION": "2.1",
        "CURSOR_PROJECT_DIR": str(place.root),
        "CLAUDE_PROJECT_DIR": str(place.root),
    }


@pytest.mark.parametrize(
    ("has_own", "runs"), [(True, ["cursor"]), (False, ["claude"])], ids=["own entry", "no own entry"]
)
def test_in_cursor_one_of_both_entries_runs(place: Place, has_own: bool, runs: list[str]) -> None:
    script = place.script(place.path)
    if has_own:
        (place.root / ".cursor").mkdir()
        (place.root / ".cursor" / "hooks.json").write_text(CURSOR_HOOKS)
    ran = []
    for name in ("claude", "cursor") if has_own else ("claude",):
        Path(f"{script}.args").unlink(missing_ok=True)
        assert place.run(LINES[name], **in_cursor(place)) == SILENT
        ran += [name] * called(script)
    assert ran == runs


def test_claude_started_from_cursor_runs_its_own_entry(place: Place) -> None:
    script = place.script(place.path)
    (place.root / ".cursor").mkdir()
    (place.root / ".cursor" / "hooks.json").write_text(CURSOR_HOOKS)
    assert place.run(LINES["claude"], CLAUDECODE="1", **in_cursor(place)) == SILENT
    assert called(script)


# -- the plugin


@pytest.fixture
def run_plugin(place: Place) -> Callable[[], bool]:
    """Run the plugin's line in the project; whether the program was called."""
    script = place.script(place.path)

    def run() -> bool:
        assert place.run(LINES["plugin"], CLAUDE_PROJECT_DIR=str(place.root)) == SILENT
        return called(script)

    return run


def test_the_plugin_acts_where_there_are_records(run_plugin: Callable[[], bool]) -> None:
    assert run_plugin()


def test_the_plugin_stays_out_of_projects_without_records(
    place: Place, run_plugin: Callable[[], bool]
) -> None:
    os.rmdir(place.root / "docs" / "adr")
    assert not run_plugin()


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_the_plugin_leaves_the_work_to_an_entry_of_the_project(
    place: Place, run_plugin: Callable[[], bool], name: str
) -> None:
    (place.root / ".claude").mkdir()
    (place.root / ".claude" / name).write_text(CURSOR_HOOKS)
    assert not run_plugin()


def test_that_the_plugin_is_enabled_in_the_settings_is_no_entry(
    place: Place, run_plugin: Callable[[], bool]
) -> None:
    (place.root / ".claude").mkdir()
    (place.root / ".claude" / "settings.json").write_text('{"enabledPlugins": {"decision-hooks@x": true}}')
    assert run_plugin()


def test_the_plugin_trusts_no_script_that_a_foreign_project_names(place: Place) -> None:
    script = place.script(place.root / "evil")
    place.name_in_bin(script)
    assert place.run(LINES["plugin"], CLAUDE_PROJECT_DIR=str(place.root)) == SILENT
    assert not called(script)


def test_the_plugin_finds_the_programs_of_a_user_installation_under_a_short_path(place: Place) -> None:
    script = place.script(place.home / ".local" / "bin")
    assert place.run(LINES["plugin"], CLAUDE_PROJECT_DIR=str(place.root), PATH="/usr/bin:/bin") == SILENT
    assert called(script)


# -- what the repository brought is not run


def init(place: Place, *tracked: str) -> None:
    """Make the project a repository that tracks these paths, or no more than an empty file."""
    (place.root / "README").touch()
    git = ["git", "-C", str(place.root)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-f", *(tracked or ("README",))], check=True)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("host", ["claude", "codex"])
@pytest.mark.parametrize("where", ["inside", "outside", "through the process", "relative"])
def test_a_script_that_a_committed_file_names_is_not_run(
    place: Place, shell: str, host: str, where: str
) -> None:
    script = place.script((place.base if where == "outside" else place.root) / "tools")
    named = {"through the process": f"/proc/self/cwd/tools/{CAPTURE}", "relative": f"tools/{CAPTURE}"}
    place.name_in_bin(named.get(where, script))
    init(place, ".")
    env = {"CLAUDE_PROJECT_DIR": str(place.root)} if host == "claude" else {}
    assert place.run(LINES[host], shell=shell, cwd=place.root, **env) == SILENT
    assert not called(script)
    other = place.script(place.path)
    assert place.run(LINES[host], shell=shell, cwd=place.root, **env) == SILENT
    assert called(other)


def committed_program(place: Place) -> Path:
    script = place.script(place.root / ".venv" / "bin")
    place.name_in_bin(script)
    init(place, ".venv")
    return script


def before_git(place: Place) -> Path:
    script = place.script(place.root / "tools")
    place.name_in_bin(script)
    return script


def linked_pointer(place: Place) -> Path:
    script = place.script(place.base / "tools")
    place.name_in_bin(script)
    (place.root / entry_line.BIN).rename(place.root / "named")
    (place.root / entry_line.BIN).symlink_to("../../../named")
    init(place)
    return script


def linked_state(place: Place) -> Path:
    script = place.script(place.base / "tools")
    place.name_in_bin(script)
    (place.root / ".claude").rename(place.root / "agents")
    (place.root / ".claude").symlink_to("agents")
    init(place, ".")
    return script


def other_letter_case(place: Place) -> Path:
    script = place.script(place.root / ".venv" / "bin")
    place.name_in_bin(script)
    place.script(place.root / ".Venv" / "bin")
    init(place, ".Venv")
    return script


def committed_on_path(place: Place) -> Path:
    script = place.script(place.root / "node_modules" / ".bin")
    init(place, ".")
    return script


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "make",
    [committed_program, before_git, linked_pointer, linked_state, other_letter_case, committed_on_path],
    ids=lambda make: str(make.__name__),
)
def test_a_program_that_came_with_the_repository_is_not_run(
    place: Place, shell: str, make: Callable[[Place], Path]
) -> None:
    script = make(place)
    path = f".:node_modules/.bin:{place.root}/node_modules/.bin:/usr/bin:/bin"
    for name in ("claude", "cursor", "codex", "plugin"):
        assert place.run(LINES[name], shell=shell, cwd=place.root, PATH=path) == SILENT
    assert not called(script)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_users_own_installation_in_the_project_is_run(place: Place, shell: str) -> None:
    script = place.script(place.root / ".venv" / "bin")
    place.name_in_bin(script)
    init(place)
    env = {"CLAUDE_PROJECT_DIR": str(place.root), "PATH": f"{script.parent}:/usr/bin:/bin"}
    for name in ("claude", "plugin"):
        Path(f"{script}.args").unlink(missing_ok=True)
        assert place.run(LINES[name], shell=shell, cwd=place.root, **env) == SILENT
        assert called(script)


@pytest.mark.parametrize("shell", SHELLS)
def test_in_the_home_folder_the_users_programs_are_run(place: Place, shell: str) -> None:
    script = place.script(place.home / ".local" / "bin")
    path = f"{script.parent}:/usr/bin:/bin"
    assert place.run(LINES["codex"], shell=shell, cwd=place.home, PATH=path) == SILENT
    assert called(script)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("first", [".", "", "{root}", "node_modules/.bin"])
def test_the_line_runs_no_other_program_of_the_project(place: Place, shell: str, first: str) -> None:
    place.name_in_bin(place.script(place.base / "venv"))
    owned = place.base / "owned"
    for name in ("git", "grep", "sh", "pwd", CAPTURE):
        for folder in (place.root, place.root / "node_modules" / ".bin"):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"#!/bin/sh\n: >'{owned}'\n")
            (folder / name).chmod(0o755)
    init(place, "git", CAPTURE, "node_modules")
    path = f"{first.format(root=place.root)}:/usr/bin:/bin"
    program = shutil.which(shell, path="/usr/bin:/bin") or shell
    for name, line in LINES.items():
        for env in ({}, in_cursor(place)):
            assert place.run(line, shell=program, cwd=place.root, **{**env, "PATH": path})[0] == 0, name
    assert not owned.exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_the_repositorys_configuration_runs_nothing(place: Place, shell: str) -> None:
    script = place.script(place.root / ".venv" / "bin")
    place.name_in_bin(script)
    init(place)
    owned = place.base / "owned"
    evil = place.script(place.base / "evil", "fsmonitor")
    evil.write_text(f"#!/bin/sh\n: >'{owned}'\n")
    with (place.root / ".git" / "config").open("a", encoding="utf-8") as stream:
        stream.write(f'[core]\n\tfsmonitor = "{evil}"\n\tworktree = "{place.base}"\n\tpager = "{evil}"\n')
    assert place.run(LINES["claude"], shell=shell, CLAUDE_PROJECT_DIR=str(place.root)) == SILENT
    assert called(script)
    assert not owned.exists()


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_closed_stderr_does_no_harm(place: Place, line: str) -> None:
    script = place.script(place.path)
    assert place.run(f"exec 2>&-; {line}", CLAUDE_PROJECT_DIR=str(place.root))[0] == 0
    assert called(script)
