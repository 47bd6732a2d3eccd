"""The folder of drafts and records: what is a draft, what is a record, what is never looked at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from decision_hooks.system import adr_folder
from support.adr_texts import draft, record


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("260304-0501-a.md", draft(), "draft"),
        ("notes.md", "---\nsession: x\n---\n", "draft"),
        ("260304-0501-a.md", "\ufeff---\r\nsession: x\r\n---\r\n", "draft"),
        ("260304-0501-a.md", "---\n'session': x\n---\n", "draft"),
        ("260304-0501-a.md", record(), "record"),
        ("260304-0501-a.md", "---\ntype: ADR\n---\n\nsession: x\n", "record"),
        ("260304-0501-a.md", "---\nsessions: x\n---\n", "record"),
        ("260304-0501-a.md", "", "record"),
        ("README.md", "# Records\n", "neither"),
        ("index.md", "# Records\n", "neither"),
        ("adr-template.md", "# Title\n", "neither"),
        ("_draft.md", draft(), "neither"),
        (".hidden.md", draft(), "neither"),
        ("a.txt", draft(), "neither"),
    ],
)
def test_front_matter_and_name_tell_what_a_file_is(tmp_path: Path, name: str, text: str, kind: str) -> None:
    (tmp_path / name).write_bytes(text.encode())
    found = adr_folder.Snapshot(str(tmp_path))
    assert (name in found.drafts, name in found.records) == (kind == "draft", kind == "record")
    assert adr_folder.has_at_least(str(tmp_path), 1) == (kind == "draft", int(kind == "draft"))
    assert name in found.names


def test_links_folders_and_pipes_are_passed_over(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(draft())
    folder = tmp_path / "adr"
    (folder / "260304-0502-folder.md").mkdir(parents=True)
    (folder / "260304-0501-link.md").symlink_to(outside)
    os.mkfifo(folder / "260304-0503-pipe.md")
    found = adr_folder.Snapshot(str(folder))
    assert (found.drafts, found.records) == ((), ())
    for name in found.names:
        assert adr_folder.read(str(folder), name) is None


def test_a_name_that_is_no_utf_8_is_a_name(tmp_path: Path) -> None:
    name = os.fsdecode(b"260304-0501-\xff.md")
    try:
        (tmp_path / name).write_text(draft())
    except OSError:  # a file system of Unicode names alone
        return
    assert adr_folder.Snapshot(str(tmp_path)).drafts == (name,)


def test_counting_stops_as_soon_as_there_are_enough(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"260304-05{number:02d}-d.md").write_text(draft())
    assert adr_folder.has_at_least(str(tmp_path), 3) == (True, 3)
    assert adr_folder.has_at_least(str(tmp_path), 10) == (False, 9)


@pytest.mark.parametrize("folder", ["absent", "file"])
def test_a_folder_that_is_none_is_empty(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").write_text("x")
    assert adr_folder.has_at_least(str(tmp_path / folder), 1) == (False, 0)
    found = adr_folder.Snapshot(str(tmp_path / folder))
    assert (found.names, found.drafts, found.records) == (frozenset(), (), ())


def test_a_file_too_large_to_be_put_back_is_left_alone(tmp_path: Path) -> None:
    with (tmp_path / "260304-0501-a.md").open("wb") as stream:
        stream.truncate(17 * 1024 * 1024)
    assert adr_folder.read(str(tmp_path), "260304-0501-a.md") is None


def test_a_snapshot_shows_files_as_they_were_and_tells_what_has_changed(tmp_path: Path) -> None:
    for name in ("same.md", "other.md", "gone.md"):
        (tmp_path / name).write_text("before")
    files = adr_folder.Snapshot(str(tmp_path))
    names = ["same.md", "other.md", "gone.md", "new.md"]
    assert [files.text(name) for name in names] == ["before", "before", "before", None]
    (tmp_path / "other.md").write_bytes(b"\xff\xff")
    (tmp_path / "gone.md").unlink()
    (tmp_path / "new.md").write_text("")
    (tmp_path / "same.md").chmod(0o600)
    assert files.text("other.md") == "before"
    assert files.changed(names) == {"other.md", "gone.md", "new.md"}
    stored = files.stored("same.md")
    assert stored is not None
    assert stored.mode == 0o600


def test_bytes_that_are_no_utf_8_are_told_apart_though_their_text_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xff")
    files = adr_folder.Snapshot(str(tmp_path))
    before = files.text("a.md")
    (tmp_path / "a.md").write_bytes(b"\xfe")
    assert adr_folder.Snapshot(str(tmp_path)).text("a.md") == before
    assert files.changed(["a.md"]) == {"a.md"}


def test_the_count_of_drafts_reads_no_further_than_the_threshold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(200):
        (tmp_path / f"260304-0506-{number}.md").write_text("---\nsession: s\n---\n")
    opened: list[str] = []
    real = os.open

    def note(path: str, *rest: Any, **named: Any) -> int:
        opened.append(path)
        return real(path, *rest, **named)

    monkeypatch.setattr(os, "open", note)
    for threshold in (1, 7, 30):
        opened.clear()
        assert adr_folder.has_at_least(str(tmp_path), threshold) == (True, threshold)
        assert len(opened) == threshold + 1  # and the folder
