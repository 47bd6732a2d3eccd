"""The journal: durable before the first change, finished forward by hashes, undone whole."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from decision_hooks.errors import FolderError
from decision_hooks.state import journal
from decision_hooks.state.runs import Change, Run, begin, forget_old, known_runs
from decision_hooks.system import adr_folder
from decision_hooks.system.project import Project, project_at
from decision_hooks.system.state_folder import open_state

NOW = 1_800_000_000.0


class Ground:
    """A folder of records with a draft, a record, and a run that changes both and makes a third."""

    def __init__(self, root: Path) -> None:
        self.project: Project = project_at(str(root), "docs/adr")
        self.adr = Path(self.project.adr)
        self.adr.mkdir(parents=True)
        open_state(self.project, os.environ)
        (self.adr / "draft.md").write_bytes(b"draft \xff")
        (self.adr / "draft.md").chmod(0o600)
        (self.adr / "record.md").write_bytes(b"record")
        (self.adr / "record.md").chmod(0o640)

    def begun(self) -> Run:
        """The journal of the run; nothing is changed yet."""
        stored = adr_folder.Snapshot(self.project.adr)
        changes = [
            Change("draft.md", stored.stored("draft.md"), None, ("new.md", "record.md")),
            Change("record.md", stored.stored("record.md"), b"record, more"),
            Change("new.md", None, b"new"),
        ]
        return begin(self.project, NOW, changes, "a run", os.environ)

    def now(self) -> dict[str, tuple[bytes, int]]:
        """Bytes and mode of each file."""
        paths = (self.adr / name for name in sorted(os.listdir(self.adr)))
        return {path.name: (path.read_bytes(), path.stat().st_mode & 0o777) for path in paths}

    @property
    def run(self) -> Run:
        """The newest run, as it is read."""
        return known_runs(self.project)[0]


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


def test_a_run_is_read_as_it_was_begun(ground: Ground) -> None:
    begun = ground.begun()
    assert ground.run == begun
    assert (begun.id, begun.state, begun.title) == ("20270115T080000Z", "open", "a run")


def test_nothing_is_changed_before_the_journal_stands(ground: Ground) -> None:
    before = ground.now()
    ground.begun()
    assert ground.now() == before


def test_a_run_writes_keeps_modes_and_removes(ground: Ground) -> None:
    assert journal.apply(ground.begun()) == []
    assert ground.now()["record.md"] == (b"record, more", 0o640)
    assert ground.now()["new.md"][0] == b"new"
    assert "draft.md" not in ground.now()
    assert ground.run.state == "done"


def test_undo_gives_back_bytes_and_modes(ground: Ground) -> None:
    before = ground.now()
    journal.apply(ground.begun())
    assert sorted(journal.undo(ground.run, os.environ)) == ["draft.md", "new.md", "record.md"]
    assert ground.now() == before
    assert ground.run.state == "undone"
    with pytest.raises(journal.JournalError, match="undone"):
        journal.undo(ground.run, os.environ)


@pytest.mark.parametrize("name", ["draft.md", "record.md", "new.md"])
def test_what_was_changed_before_its_step_is_left_and_so_is_what_needs_it(ground: Ground, name: str) -> None:
    run = ground.begun()
    (ground.adr / name).write_bytes(b"mine")
    left = journal.apply(run)
    assert set(left) == {name, "draft.md"}
    assert ground.now()[name][0] == b"mine"
    assert "draft.md" in ground.now()


def test_what_a_run_has_left_is_no_matter_of_its_undo(ground: Ground) -> None:
    run = ground.begun()
    (ground.adr / "record.md").write_bytes(b"mine")
    journal.apply(run)
    journal.undo(ground.run, os.environ)
    assert ground.now()["record.md"][0] == b"mine"
    assert "new.md" not in ground.now()


@pytest.mark.parametrize("name", ["record.md", "new.md", "draft.md"])
def test_undo_refuses_as_a_whole_where_a_file_was_changed_since(ground: Ground, name: str) -> None:
    journal.apply(ground.begun())
    (ground.adr / name).write_bytes(b"mine")
    before = ground.now()
    with pytest.raises(journal.JournalError, match=name):
        journal.undo(ground.run, os.environ)
    assert ground.now() == before
    assert ground.run.state == "done"


def test_undo_takes_what_the_person_put_back_already(ground: Ground) -> None:
    before = ground.now()
    journal.apply(ground.begun())
    (ground.adr / "new.md").unlink()
    (ground.adr / "record.md").write_bytes(b"record")
    journal.undo(ground.run, os.environ)
    assert ground.now() == before


def test_undo_makes_the_folder_anew(ground: Ground) -> None:
    stored = adr_folder.Snapshot(ground.project.adr)
    names = ("draft.md", "record.md")
    journal.apply(
        begin(ground.project, NOW, [Change(n, stored.stored(n), None) for n in names], "all", os.environ)
    )
    ground.adr.rmdir()
    journal.undo(ground.run, os.environ)
    assert set(ground.now()) == set(names)


def test_a_link_in_the_place_of_a_file_is_never_followed(ground: Ground, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"record")
    run = ground.begun()
    (ground.adr / "record.md").unlink()
    (ground.adr / "record.md").symlink_to(outside)
    (ground.adr / "new.md").symlink_to(tmp_path / "nowhere")
    assert set(journal.apply(run)) == {"record.md", "new.md", "draft.md"}
    assert outside.read_bytes() == b"record"
    assert not (tmp_path / "nowhere").exists()


def test_a_run_that_lies_open_is_finished_and_a_finished_one_is_not_touched(ground: Ground) -> None:
    ground.begun()
    assert journal.recover(ground.project, os.environ) == ["20270115T080000Z"]
    after = ground.now()
    assert "draft.md" not in after
    (ground.adr / "record.md").write_bytes(b"record")
    assert journal.recover(ground.project, os.environ) == []
    assert ground.now()["record.md"][0] == b"record"


def test_recovery_of_half_done_steps_does_the_rest_only(ground: Ground) -> None:
    ground.begun()
    (ground.adr / "new.md").write_bytes(b"new")
    (ground.adr / ".decision-hooks-normalize-1-2.tmp").write_bytes(b"torn")
    journal.recover(ground.project, os.environ)
    assert set(ground.now()) == {"new.md", "record.md"}


@pytest.mark.parametrize("kind", ["gone", "torn"])
def test_an_image_that_is_gone_or_torn_never_becomes_a_file_nor_blocks_the_next_run(
    ground: Ground, kind: str
) -> None:
    run = ground.begun()
    image = Path(run.folder) / "after" / "1"
    image.unlink() if kind == "gone" else image.write_bytes(b"rec")
    assert journal.recover(ground.project, os.environ) == [run.id]
    assert ground.now()["record.md"][0] == b"record"
    assert ground.now()["draft.md"][0] == b"draft \xff"
    assert journal.recover(ground.project, os.environ) == []


def test_undo_refuses_before_the_first_change_when_an_image_is_gone(ground: Ground) -> None:
    journal.apply(ground.begun())
    before = ground.now()
    (Path(ground.run.folder) / "before" / "0").unlink()
    with pytest.raises(FolderError, match="damaged"):
        journal.undo(ground.run, os.environ)
    assert ground.now() == before


STEP = ["record.md", None, None, []]


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "[]",
        "{}",
        '{"steps": 5}',
        '{"steps": [5]}',
        '{"steps": [["../../evil.md", null, ["0", null], []]]}',
        '{"steps": [["/etc/evil.md", null, ["0", null], []]]}',
        '{"steps": [["record.md", 5, null, []]]}',
        '{"steps": [["record.md", ["0", "x"], null, []]]}',
        '{"steps": [["record.md", ["0", 99999], null, []]]}',
        '{"steps": [["record.md", null, null, 5]]}',
        "[" * 50_000,
    ],
)
def test_a_journal_that_was_tampered_with_is_damaged_and_changes_nothing(ground: Ground, stored: str) -> None:
    run = ground.begun()
    before = ground.now()
    value = json.loads((Path(run.folder) / "journal.json").read_text())
    if stored.startswith('{"steps"'):
        stored = json.dumps(value | json.loads(stored))
    (Path(run.folder) / "journal.json").write_text(stored)
    assert journal.recover(ground.project, os.environ) == []
    assert ground.now() == before
    assert [one.state for one in known_runs(ground.project)] == ["damaged"]
    with pytest.raises(journal.JournalError):
        journal.undo(ground.run, os.environ)


def test_another_folder_of_records_is_not_touched(ground: Ground, tmp_path: Path) -> None:
    ground.begun()
    other = project_at(str(tmp_path), "docs/other")
    Path(other.adr).mkdir()
    assert known_runs(other) == []
    assert journal.recover(other, os.environ) == []


def test_a_project_that_was_moved_keeps_its_runs(ground: Ground, tmp_path: Path) -> None:
    journal.apply(ground.begun())
    moved = tmp_path.parent / f"{tmp_path.name}-moved"
    tmp_path.rename(moved)
    project = project_at(str(moved), "docs/adr")
    journal.undo(known_runs(project)[0], os.environ)
    assert (moved / "docs/adr/draft.md").read_bytes() == b"draft \xff"


def test_work_trees_share_the_state_and_none_touches_the_runs_of_another(
    ground: Ground, tmp_path: Path
) -> None:
    linked = ground.project._replace(root=str(tmp_path / "linked"), adr=str(tmp_path / "linked/docs/adr"))
    Path(linked.adr).mkdir(parents=True)
    run = ground.begun()
    assert journal.recover(linked, os.environ) == []
    assert known_runs(linked) == []
    theirs = begin(linked, NOW, [Change("new.md", None, b"theirs")], "theirs", os.environ)
    assert theirs.id != run.id
    assert journal.recover(ground.project, os.environ) == [run.id]
    assert os.listdir(linked.adr) == []


def test_runs_of_one_second_are_told_apart_and_sorted(ground: Ground) -> None:
    ids = [begin(ground.project, NOW, [], "x", os.environ).id for _ in range(11)]
    assert ids[0] == "20270115T080000Z"
    assert ids[-1] == "20270115T080000Z-11"
    assert [run.id for run in known_runs(ground.project)] == ids[::-1]


@pytest.mark.parametrize("jumps", [(0, -5, 9, -9), (86400, 0), (10**9, 0, 5, -(10**9))])
def test_ids_have_the_order_of_the_runs_whatever_the_clock_says(
    ground: Ground, jumps: tuple[int, ...]
) -> None:
    ids = [begin(ground.project, NOW + jump, [], "x", os.environ).id for jump in jumps]
    assert [run.id for run in known_runs(ground.project)] == ids[::-1]


def test_the_newest_runs_are_kept_and_those_that_lie_open(ground: Ground) -> None:
    first = begin(ground.project, NOW - 5, [], "open", os.environ)
    for number in range(25):
        journal.apply(begin(ground.project, NOW + number, [], "x", os.environ))
    forget_old(ground.project)
    known = known_runs(ground.project)
    assert len(known) == 21
    assert known[-1].id == first.id
    assert known[0].id == "20270115T080024Z"
    assert len(os.listdir(Path(ground.project.state) / "runs")) == 21


def test_what_a_kill_left_of_a_run_that_was_made_is_removed(ground: Ground) -> None:
    half = Path(ground.project.state) / "runs" / ".making-20270115T080000Z" / "before"
    half.mkdir(parents=True)
    theirs = Path(ground.project.state) / "runs" / ".making0a0b0c0d-20270115T080000Z"
    theirs.mkdir()
    assert known_runs(ground.project) == []
    journal.recover(ground.project, os.environ)
    assert os.listdir(Path(ground.project.state) / "runs") == [theirs.name]


def test_names_that_are_no_utf_8_come_back_as_they_are(ground: Ground) -> None:
    name = os.fsdecode(b"260304-0501-\xff.md")
    try:
        (ground.adr / name).write_bytes(b"odd")
    except OSError:  # a file system of Unicode names alone
        return
    stored = adr_folder.read(ground.project.adr, name)
    begin(ground.project, NOW, [Change(name, stored, None)], "x", os.environ)
    journal.recover(ground.project, os.environ)
    assert name not in os.listdir(ground.adr)
    journal.undo(ground.run, os.environ)
    assert (ground.adr / name).read_bytes() == b"odd"
