"""Files are written whole or not at all, names are never taken over, and reading never blocks or raises."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.errors import FolderError
from decision_hooks.system import files


@pytest.mark.parametrize("kind", ["missing", "folder", "fifo", "dangling link", "nul"])
def test_what_is_no_regular_file_reads_as_nothing(tmp_path: Path, kind: str) -> None:
    path = str(tmp_path / "x")
    if kind == "folder":
        os.mkdir(path)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "dangling link":
        os.symlink(tmp_path / "nowhere", path)
    elif kind == "nul":
        path = "a\0b"
    assert files.read_bytes(path) is None
    assert files.read_text(path) is None
    assert files.read_json(path) is None


def test_at_most_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abcdef")
    assert files.read_bytes(str(tmp_path / "x"), 4) == b"abcd"


@pytest.mark.parametrize("text", ["", "[]", "1", "null", "{", "{'a': 1}", "[" * 100_000, "\ufeff{"])
def test_what_is_no_json_object_reads_as_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    assert files.read_json(str(tmp_path / "x")) is None


@pytest.mark.parametrize(
    "number", ["1" + "0" * 400, "-1" + "0" * 400, "1e999", "NaN", "Infinity", "-Infinity"]
)
def test_a_file_with_a_number_that_no_clock_can_tell_reads_as_nothing(tmp_path: Path, number: str) -> None:
    (tmp_path / "x").write_text(f'{{"a": [{{"time": {number}}}]}}')
    assert files.read_json(str(tmp_path / "x")) is None


def test_numbers_of_our_own_come_back(tmp_path: Path) -> None:
    (tmp_path / "x").write_text('{"n": [1, -2.5e3, 4294967296, 0]}')
    assert files.read_json(str(tmp_path / "x")) == {"n": [1, -2500.0, 4294967296, 0]}


@given(st.text(st.characters(codec=None), max_size=40))
def test_any_text_becomes_utf_8(text: str) -> None:
    known = "".join(c if not "\ud800" <= c <= "\udfff" else "?" for c in text)
    assert files.to_bytes(text).decode("utf-8") == known
    assert files.json_bytes({"a": text}).decode("utf-8").endswith("}\n")


def test_a_file_is_replaced_whole_and_nothing_lies_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    files.write_atomic(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["x"]


def test_a_mode_is_set_before_the_file_appears(tmp_path: Path) -> None:
    files.write_atomic(str(tmp_path / "x"), b"", mode=0o600)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o600


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("kept")
    (tmp_path / "x").symlink_to(tmp_path / "target")
    files.write_atomic(str(tmp_path / "x"), b"new")
    assert (tmp_path / "target").read_text() == "kept"
    assert not (tmp_path / "x").is_symlink()


def test_a_name_that_is_taken_is_left_alone(tmp_path: Path) -> None:
    assert files.create_exclusive(str(tmp_path / "x"), b"first")
    assert not files.create_exclusive(str(tmp_path / "x"), b"second")
    assert (tmp_path / "x").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("kind", ["folder", "dangling link"])
def test_anything_that_stands_there_takes_a_name(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    path.mkdir() if kind == "folder" else path.symlink_to(tmp_path / "nowhere")
    assert not files.create_exclusive(str(path), b"second")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP, errno.EMLINK])
def test_a_file_system_without_hard_links_serves_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*names: object, **options: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    assert files.create_exclusive(str(tmp_path / "x"), b"first")
    assert not files.create_exclusive(str(tmp_path / "x"), b"second")
    assert (tmp_path / "x").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["x"]


def test_a_write_that_fails_leaves_the_old_file_and_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    path.write_text("old")

    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FolderError, match=r"cannot write .*x: No space left"):
        files.write_atomic(str(path), b"new")
    with pytest.raises(FolderError, match=r"cannot create .*y: No space left"):
        files.create_exclusive(str(tmp_path / "y"), b"new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x"]


def test_a_temporary_file_of_a_killed_run_is_no_hindrance(tmp_path: Path) -> None:
    path = str(tmp_path / "x")
    (tmp_path / os.path.basename(files._beside(path, ""))).write_text("left by a kill")
    files.write_atomic(path, b"new")
    assert os.listdir(tmp_path) == ["x"]


def test_only_leftovers_of_the_label_go(tmp_path: Path) -> None:
    for name in (
        ".decision-hooks-capture-1-ab.tmp",
        ".decision-hooks-run-1-ab.tmp",
        ".decision-hooks-capture-1-ab.md",
        "a.tmp",
    ):
        (tmp_path / name).touch()
    files.remove_leftovers(str(tmp_path), "capture-")
    assert sorted(os.listdir(tmp_path)) == [
        ".decision-hooks-capture-1-ab.md",
        ".decision-hooks-run-1-ab.tmp",
        "a.tmp",
    ]


def test_only_files_whose_names_we_make_are_leftovers(tmp_path: Path) -> None:
    ours = ".decision-hooks-capture-7-0abc.tmp"
    theirs = [
        ".decision-hooks-capture-notes.tmp",
        ".decision-hooks-capture-7-words.tmp",
        ".decision-hooks-capture-7-.tmp",
        ".decision-hooks-capture-x7-ab.tmp",
        ".decision-hooks-.tmp",
    ]
    for name in (ours, *theirs):
        (tmp_path / name).touch()
    (tmp_path / "kept").write_text("kept")
    (tmp_path / ".decision-hooks-capture-8-ab.tmp").symlink_to(tmp_path / "kept")
    (tmp_path / ".decision-hooks-capture-9-ab.tmp").mkdir()
    assert files.leftovers(str(tmp_path), 2e9, 0) == [str(tmp_path / ours)]
    files.remove_leftovers(str(tmp_path), "capture-")
    links = [".decision-hooks-capture-8-ab.tmp", ".decision-hooks-capture-9-ab.tmp"]
    assert sorted(os.listdir(tmp_path)) == sorted([*theirs, *links, "kept"])


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277, 0o777])
def test_what_is_ours_is_private_whatever_the_umask_says(tmp_path: Path, umask: int) -> None:
    folder = tmp_path / "a" / "b"
    folder.parent.mkdir()
    old = os.umask(umask)
    try:
        files.make_folder(str(folder), 0o700)
        files.write_atomic(str(folder / "x"), b"x")
        files.write_new(str(folder / "y"), b"x")
    finally:
        os.umask(old)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "x", folder / "y")}
    assert modes == {"b": 0o700, "x": 0o600, "y": 0o600}


def test_what_was_open_to_others_becomes_private_when_it_is_used(tmp_path: Path) -> None:
    folder, file = tmp_path / "a", tmp_path / "a" / "x"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    file.touch()
    file.chmod(0o666)
    files.make_folder(str(folder), 0o700)
    files.append(str(file), b"x")
    assert (stat.S_IMODE(folder.stat().st_mode), stat.S_IMODE(file.stat().st_mode)) == (0o700, 0o600)


def test_a_link_is_neither_read_nor_removed_nor_entered(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "folder").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to("secret")
    (tmp_path / "way").symlink_to("folder")
    link, way = str(tmp_path / "link"), str(tmp_path / "way")
    assert (files.read_bytes(link), files.read_end(link, 9), files.last_lines(link, 9)) == (None, b"", [])
    assert files.read_bytes(link, follow=True) == b"secret"
    with pytest.raises(FolderError, match="it is no file"):
        files.remove(link)
    with pytest.raises(FolderError, match="is in the way"):
        files.make_folder(way, 0o700)
    assert sorted(os.listdir(tmp_path)) == ["folder", "link", "secret", "way"]


@pytest.mark.parametrize("size", [0, 1, 5, 6, 100])
def test_the_end_of_a_file_is_read_by_whole_lines(tmp_path: Path, size: int) -> None:
    (tmp_path / "x").write_text("one\ntwo\n")
    assert files.read_end(str(tmp_path / "x"), size) == b"one\ntwo\n"[max(0, 8 - size) :]
    assert files.last_lines(str(tmp_path / "x"), size) == (
        ["one", "two"] if size == 100 else ["two"] if size >= 4 else []
    )


def test_removing_what_has_gone_is_fine_and_a_folder_is_told(tmp_path: Path) -> None:
    files.remove(str(tmp_path / "x"))
    with pytest.raises(FolderError, match="cannot remove"):
        files.remove(str(tmp_path))


def test_a_folder_is_made_with_its_parents_or_the_hindrance_is_told(tmp_path: Path) -> None:
    files.make_folder(str(tmp_path / "a" / "b"), 0o700)
    files.make_folder(str(tmp_path / "a" / "b"))
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    for inside in ("file", "file/deeper", "link", "link/deeper"):
        hindrance = re.escape(str(tmp_path / inside.split("/")[0]))
        with pytest.raises(FolderError, match=f"cannot make the folder .*: {hindrance} is in the way"):
            files.make_folder(str(tmp_path / inside))


def test_what_is_appended_comes_after_and_never_through_a_link(tmp_path: Path) -> None:
    files.append(str(tmp_path / "x"), b"a")
    files.append(str(tmp_path / "x"), b"b")
    assert (tmp_path / "x").read_bytes() == b"ab"
    (tmp_path / "link").symlink_to(tmp_path / "x")
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    os.mkfifo(tmp_path / "unread")
    for name in ("link", "fifo", "unread", ".", "nowhere/x"):
        with pytest.raises(FolderError, match="cannot write "):
            files.append(str(tmp_path / name), b"c")
    assert os.read(reader, 10) == b""
    os.close(reader)


def test_the_names_of_what_is_no_folder_are_none(tmp_path: Path) -> None:
    assert files.names(str(tmp_path / "nowhere")) == []
