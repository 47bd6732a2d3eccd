"""What a repository, an archive or another user puts in the place of our state is not used."""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from pathlib import Path

import pytest

from decision_hooks.state import runs
from decision_hooks.system import adr_folder
from decision_hooks.system.project import project_at
from decision_hooks.text.fingerprint import fingerprint
from support.capture_runs import decision, ready, session
from support.inbox import CLEAN, NOW, ONE, all_three, fill
from support.sandbox import CAPTURE, NORMALIZE, Sandbox

STATE = ".claude/hooks/.decision-hooks"
OLD = time.time() - 100 * 86400
FOLDERS = (
    "positions",
    "pending",
    "given-up",
    "outbox",
    "seen",
    "plans",
    "runs",
    "ledger",
    "breaker",
    "backups",
)
COMMANDS = (
    (CAPTURE, "status"), (CAPTURE, "doctor"), (CAPTURE, "doctor", "--fix"), (CAPTURE, "backfill"),
    (NORMALIZE, "plan"), (NORMALIZE, "run"), (NORMALIZE, "undo"), (NORMALIZE, "undo", "--list"),
    (CAPTURE, "uninstall"),
)  # fmt: skip


class Clone:
    """A cloned project, with drafts and a session, beside files of the user that are old enough to be swept."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.outside = sandbox.base / "outside"
        self.outside.mkdir()
        names = (
            "thesis.txt",
            "a.json",
            "0",
            "f",
            "20200101T000000Z.json",
            ".decision-hooks-12-ab.tmp",
            ".gitignore",
        )
        for name in names:
            (self.outside / name).write_text("mine")
            os.utime(self.outside / name, (OLD, OLD))
        folder = self.outside / "20200101T000000Z"
        for name in (".making-20200101T000000Z", folder.name):
            (self.outside / name).mkdir()
        for name in ("journal.json", "done"):
            (folder / name).write_text("{}")
        self.outside.chmod(0o755)
        ready(sandbox).always(decision())
        sandbox.fake("claude").always(all_three())
        fill(sandbox)

    def seen(self) -> dict[str, tuple[int, int, bytes]]:
        """All that lies outside, with modes and times."""
        found = {}
        for path in (self.outside, *self.outside.rglob("*")):
            there = path.lstat()
            data = path.read_bytes() if path.is_file() else b""
            found[str(path)] = (there.st_mode, there.st_mtime_ns, data)
        return found

    def run_all(self) -> str:
        """A stop of each program, and each command; what they logged and said."""
        said = []
        payload = session(self.sandbox).payload()
        for program in (CAPTURE, NORMALIZE):
            done = self.sandbox.run(program, payload, env=NOW)
            assert (done.rc, done.stdout) == (0, "")
            assert "fault" not in done.log
            said += [done.log, done.stderr]
        for program, *words in COMMANDS:
            done = self.sandbox.run(program, None, *words, env=NOW)
            assert "Traceback" not in done.stderr, (words, done.stderr)
            said += [done.stdout, done.stderr]
        return "\n".join(said)


@pytest.fixture
def clone(sandbox: Sandbox) -> Clone:
    return Clone(sandbox)


@pytest.mark.parametrize(
    "place",
    [
        "link as state", "link as hooks", "link as .claude", "all folders are links", "folders and marks are links",
        "links within ours",
    ],
)  # fmt: skip
def test_links_lead_nowhere(clone: Clone, place: str) -> None:
    state = clone.sandbox.own_state
    if place.startswith("link as"):
        path = {"state": state, "hooks": state.parent, ".claude": state.parent.parent}[place.split()[-1]]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(clone.outside)
    else:
        if place == "links within ours":
            clone.sandbox.open_state()
        for name in FOLDERS:
            state.mkdir(parents=True, exist_ok=True)
            (state / name).symlink_to(clone.outside)
        if place == "folders and marks are links":
            for name in ("swept", ".gitignore", ".sealed", "worker.lock", "bin", "install.json"):
                (state / name).symlink_to(clone.outside / "thesis.txt")
    before = clone.seen()
    said = clone.run_all()
    assert clone.seen() == before
    assert "is a link" in said


def test_links_within_folders_of_ours_are_neither_followed_nor_removed(clone: Clone) -> None:
    state = clone.sandbox.open_state()
    names = ("a.json", "0", "20200101T000000Z", "20200101T000000Z.json", f"{time.strftime('%Y-%m')}.jsonl")
    links = [state / kind / name for kind in FOLDERS for name in (*names, ".making-20200101T000000Z")]
    for link in links:
        link.parent.mkdir(exist_ok=True)
        target = clone.outside / link.name
        link.symlink_to(target if target.exists() else clone.outside / "thesis.txt")
    for kind in FOLDERS:
        (state / kind / "notes.txt").write_text("unknown")
        os.utime(state / kind / "notes.txt", (OLD, OLD))
    before = clone.seen()
    clone.run_all()
    assert clone.seen() == before
    assert [link for link in links if not link.is_symlink()] == []


def test_a_refused_folder_is_named_once_by_each_stop_and_by_status_and_doctor(clone: Clone) -> None:
    clone.sandbox.write(f"{STATE}/pending/a.json", "{}")
    for program in (CAPTURE, NORMALIZE):
        lines = clone.sandbox.run(program, session(clone.sandbox).payload(), env=NOW).messages
        assert len(lines) == 1
        assert "was not written on this machine" in lines[0]
        assert "doctor --fix" in lines[0]
    shown = json.loads(clone.sandbox.capture(None, "status", "--json").stdout)
    assert "doctor --fix" in shown["state_refused"]
    assert shown["capture"]["skips"] == {"state not used": 1}
    assert STATE in clone.sandbox.capture(None, "status").stdout
    checks = json.loads(clone.sandbox.capture(None, "doctor", "--json").stdout)["checks"]
    [folders] = [check for check in checks if check["name"] == "folders"]
    assert folders["state"] == "fail"
    assert STATE in folders["reason"]
    assert os.listdir(clone.sandbox.own_state) == ["pending"]


@pytest.mark.parametrize("words", [("doctor", "--fix"), ("install", "--claude")])
def test_a_person_takes_a_folder_over_and_the_next_stop_uses_it(clone: Clone, words: tuple[str, ...]) -> None:
    file = clone.sandbox.write(f"{STATE}/pending/a.json", "{}")
    file.chmod(0o644)
    done = clone.sandbox.capture(None, *words)
    assert "was not written on this machine" in done.stdout
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "wrote:" in clone.sandbox.capture(session(clone.sandbox).payload()).log
    assert "was not written" not in clone.sandbox.capture(None, *words).stdout


def without_seals(sandbox: Sandbox) -> None:
    """Leave the state folder as an earlier version did."""
    (sandbox.own_state / ".sealed").unlink()
    for path in (sandbox.own_state, *sandbox.own_state.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def test_a_folder_of_an_earlier_version_is_known_by_its_positions_and_goes_on(clone: Clone) -> None:
    sandbox = clone.sandbox
    made = session(sandbox)
    assert "wrote:" in sandbox.capture(made.payload()).log
    without_seals(sandbox)
    assert sandbox.capture(made.payload()).messages[0] == "took over the state of an earlier version"
    assert "nothing new" in sandbox.capture(made.payload()).log
    modes = {stat.S_IMODE(path.stat().st_mode) for path in sandbox.own_state.rglob("*")}
    assert modes <= {0o700, 0o600}


@pytest.mark.parametrize(
    "what", ["another hash", "no hash", "a file of the project", "a file beside sessions"]
)
def test_positions_that_a_repository_can_write_prove_nothing(clone: Clone, what: str) -> None:
    sandbox = clone.sandbox
    sandbox.capture(session(sandbox).payload())
    without_seals(sandbox)
    [path] = (sandbox.own_state / "positions").glob("*.json")
    value = json.loads(path.read_text())
    if what == "another hash":
        value["check"] = "0" * 32
    elif what == "no hash":
        value |= {"check": "", "offset": 0}
    else:
        known = b"known to all" * 100
        file = sandbox.root / "a.jsonl" if "project" in what else sandbox.home / ".claude/plugins/a.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(known)
        value |= {"path": str(file), "offset": len(known), "check": fingerprint(known, 16)}
    path.write_text(json.dumps(value))
    [line] = sandbox.capture(session(sandbox, 2).payload()).messages
    assert "was not written on this machine" in line


def test_a_pull_that_brings_a_part_stops_the_use_until_it_is_taken_out(clone: Clone) -> None:
    sandbox = clone.sandbox
    sandbox.capture(session(sandbox, 1).payload())
    sandbox.write(f"{STATE}/pending/evil.json", "{}")
    sandbox.git("add", "-f", f"{STATE}/pending/evil.json")
    [line] = sandbox.capture(session(sandbox, 2).payload()).messages
    assert "git tracks files in" in line
    assert "not mended: git tracks" in sandbox.capture(None, "doctor", "--fix").stdout.replace(
        str(sandbox.own_state), "..."
    )
    sandbox.git("rm", "-r", "-q", "--cached", STATE)
    assert "wrote:" in sandbox.capture(session(sandbox, 2).payload()).log


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_the_folder_of_another_user_stays_as_it_is(clone: Clone) -> None:
    clone.sandbox.open_state()
    clone.sandbox.write(f"{STATE}/pending/a.json", "{}")
    for path in (clone.sandbox.own_state, *clone.sandbox.own_state.rglob("*")):
        os.chown(path, 65534, 65534)
        path.chmod(0o777)
    before = clone.sandbox.snapshot(of=clone.sandbox.own_state, without=())
    assert "belongs to another user" in clone.run_all()
    assert clone.sandbox.snapshot(of=clone.sandbox.own_state, without=()) == before


# -- runs of normalisation that were not begun here


def foreign_run(sandbox: Sandbox, *, home: Path, marks: tuple[str, ...] = (), seal: bool = True) -> Path:
    """A run that another machine has begun: it would turn a record into a script that anybody may start."""
    project = project_at(str(sandbox.root), "docs/adr")
    before = adr_folder.Stored((sandbox.adr / CLEAN).read_bytes(), 0o644)
    change = runs.Change(CLEAN, before, b"#!/bin/sh\nid\n")
    run = runs.begin(project, time.time() - 1000, [change], "theirs", {"HOME": str(home)})
    journal = Path(run.folder, "journal.json")
    value = json.loads(journal.read_text())
    value["steps"][0][1][1] = 0o6777
    if not seal:
        del value["seal"]
    journal.write_text(json.dumps(value))
    for name in marks:
        Path(run.folder, name).touch()
    return Path(run.folder)


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize("marks", [(), ("done", "undoing")])
@pytest.mark.parametrize("command", [(), ("run",), ("undo", "--list")])
def test_an_unfinished_run_of_elsewhere_is_put_aside(
    clone: Clone, sealed: bool, marks: tuple[str, ...], command: tuple[str, ...]
) -> None:
    sandbox = clone.sandbox
    sandbox.open_state()
    folder = foreign_run(sandbox, home=sandbox.base / "elsewhere", marks=marks, seal=sealed)
    text = sandbox.read(f"docs/adr/{CLEAN}")
    env = {**NOW, "ADR_NORMALIZE_THRESHOLD": "99"} if command != ("run",) else NOW
    done = sandbox.normalize(None, *command, env=env)
    assert f"put aside the unfinished run {folder.name}: it was not begun on this machine" in done.messages
    assert not folder.exists()
    assert (folder.parent / f".aside-{folder.name}" / "journal.json").exists()
    assert sandbox.read(f"docs/adr/{CLEAN}").startswith(text.rstrip())
    assert "put aside" not in sandbox.normalize(None, "undo", "--list").log


@pytest.mark.parametrize("sealed", [True, False])
def test_undo_refuses_a_run_of_elsewhere(clone: Clone, sealed: bool) -> None:
    sandbox = clone.sandbox
    sandbox.open_state()
    folder = foreign_run(sandbox, home=sandbox.base / "elsewhere", marks=("done",), seal=sealed)
    (sandbox.adr / CLEAN).write_bytes(b"#!/bin/sh\nid\n")
    done = sandbox.normalize(None, "undo")
    assert done.rc == 1
    assert (
        f"run {folder.name} was not made on this machine, or by an earlier version: nothing was undone"
        in done.stderr
    )
    assert (sandbox.adr / CLEAN).read_bytes() == b"#!/bin/sh\nid\n"


def test_a_finished_run_of_a_folder_that_a_person_took_over_is_undone_without_special_modes(
    clone: Clone,
) -> None:
    sandbox = clone.sandbox
    text = (sandbox.adr / CLEAN).read_bytes()
    sandbox.open_state()
    foreign_run(sandbox, home=sandbox.base / "elsewhere", marks=("done",), seal=False)
    open_run = foreign_run(sandbox, home=sandbox.base / "elsewhere", seal=False)
    (sandbox.own_state / ".sealed").unlink()
    (sandbox.adr / CLEAN).write_bytes(b"#!/bin/sh\nid\n")
    assert "took over" in sandbox.capture(None, "doctor", "--fix").stdout
    done = sandbox.normalize(None, "undo")
    assert (done.rc, done.stdout) == (0, f"restored: {CLEAN}\n")
    assert (sandbox.adr / CLEAN).read_bytes() == text
    assert stat.S_IMODE((sandbox.adr / CLEAN).stat().st_mode) == 0o777
    assert not open_run.exists()


def test_our_own_run_is_finished_and_undone_after_the_project_was_moved(clone: Clone) -> None:
    sandbox = clone.sandbox
    assert sandbox.normalize(None, "run", env=NOW).rc == 0
    moved = sandbox.base / "moved"
    shutil.move(sandbox.root, moved)
    sandbox.root = moved
    assert "restored" in sandbox.normalize(None, "undo").stdout
    assert ONE in sandbox.drafts()


def test_what_stored_state_names_as_a_folder_of_ours_is_removed_only_below_the_project(clone: Clone) -> None:
    sandbox = clone.sandbox
    empty = clone.outside / "empty"
    empty.mkdir()
    assert sandbox.capture(None, "install", "--claude").rc == 0
    memory = sandbox.own_state / "install.json"
    value = json.loads(memory.read_text())
    value["folders"] += [str(empty), f"{sandbox.root}/../outside/empty", "/"]
    memory.write_text(json.dumps(value))
    assert sandbox.capture(None, "uninstall").rc == 0
    assert empty.is_dir()
    assert not (sandbox.root / ".claude").exists()
