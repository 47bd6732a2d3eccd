"""The log: one event a line with its time, halved at 1 MiB, and never a reason to fail."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.system.runlog import RunLog, iso_time, one_line

NOW = 1_800_000_000.0


@pytest.fixture
def _zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()


@pytest.mark.usefixtures("_zone")
@pytest.mark.parametrize(
    ("_zone", "shown"),
    [
        ("UTC", "2027-01-15T08:00:00+00:00"),
        ("EET-2", "2027-01-15T10:00:00+02:00"),
        ("NST3:30", "2027-01-15T04:30:00-03:30"),
    ],
    indirect=["_zone"],
)
def test_a_time_has_its_zone(shown: str) -> None:
    assert iso_time(NOW) == shown


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1e30, 1e30, 0.0])
def test_any_number_is_some_time(seconds: float) -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", iso_time(seconds))


@given(st.text(st.characters(codec=None), max_size=40))
def test_any_text_is_one_line_of_utf_8(text: str) -> None:
    shown = one_line(text)
    assert len(shown.splitlines()) <= 1
    assert shown.isprintable()
    shown.encode("utf-8")


def test_letters_of_any_script_stay(tmp_path: Path) -> None:
    assert one_line("Рішення — 決定 🐘") == "Рішення — 決定 🐘"
    assert one_line("a\nb\x1b[31m\u2028c") == "a\\nb\\x1b[31m\\u2028c"


def test_a_skip_ends_with_its_reason_which_the_terminal_does_not_show(tmp_path: Path) -> None:
    log = RunLog(str(tmp_path / "x.log"), lambda: NOW)
    log.skip("threshold", "2 drafts\nthreshold 30")
    assert (tmp_path / "x.log").read_text() == f"{iso_time(NOW)} 2 drafts\\nthreshold 30 [threshold]\n"
    assert log.last == "2 drafts\\nthreshold 30"


def test_events_stand_below_each_other_in_a_folder_that_is_made(tmp_path: Path) -> None:
    log = RunLog(str(tmp_path / "a" / "b" / "x.log"), lambda: NOW)
    log.write("first\nevent")
    log.write("fault: x", "Traceback\n  line\n")
    assert log.last == "fault: x"
    stamp = iso_time(NOW)
    text = (tmp_path / "a" / "b" / "x.log").read_text()
    assert text == f"{stamp} first\\nevent\n{stamp} fault: x\nTraceback\n  line\n"


@pytest.mark.parametrize("kind", ["folder", "link", "file above"])
def test_a_log_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.log"
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(tmp_path / "target")
    else:
        (tmp_path / "above").touch()
        path = tmp_path / "above" / "x.log"
    log = RunLog(str(path), lambda: NOW)
    log.write("event")
    assert log.last == "event"
    assert not (tmp_path / "target").exists()


def test_at_1_mib_the_older_half_goes_at_a_line(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"".join(b"line %06d\n" % number for number in range(90_000)))
    (tmp_path / ".sealed").touch()
    RunLog(str(path), lambda: NOW, str(tmp_path / "lock")).write("newest")
    lines = path.read_text().splitlines()
    assert re.fullmatch(r"line \d{6}", lines[0])
    assert lines[-1].endswith(" newest")
    assert 44_000 < len(lines) < 46_000
    assert lines[-2] == "line 089999"


def test_a_log_below_1_mib_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"x" * (1024 * 1024 - 2) + b"\n")
    RunLog(str(path), lambda: NOW, str(tmp_path / "lock")).write("newest")
    assert path.stat().st_size > 1024 * 1024


def test_a_log_whose_lock_is_held_grows_on(tmp_path: Path) -> None:
    from decision_hooks.system import locking

    path = tmp_path / "x.log"
    path.write_bytes(b"x\n" * 600_000)
    (tmp_path / ".sealed").touch()
    lock = locking.acquire(str(tmp_path / "lock"))
    assert lock is not None
    RunLog(str(path), lambda: NOW, str(tmp_path / "lock")).write("newest")
    locking.release(lock)
    assert path.stat().st_size > 1_200_000


def test_no_lock_is_made_in_a_folder_that_is_not_ours(tmp_path: Path) -> None:
    path, theirs = tmp_path / "x.log", tmp_path / "theirs"
    theirs.mkdir()
    path.write_bytes(b"x\n" * 600_000)
    RunLog(str(path), lambda: NOW, str(theirs / "lock")).write("newest")
    assert os.listdir(theirs) == []
    assert path.read_bytes().endswith(b"newest\n")


@pytest.mark.parametrize("above", ["hooks", ".claude/hooks"])
def test_nothing_is_written_through_a_linked_folder(tmp_path: Path, above: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (outside / "hooks").mkdir(parents=True)
    link = root / ".claude" / "hooks" if above == "hooks" else root / ".claude"
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    log = RunLog(str(root / ".claude" / "hooks" / "x.log"), lambda: NOW)
    log.write("event")
    assert log.last == "event"
    assert [path for path in outside.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("kind", ["fifo", "folder", "link", "file as its folder"])
def test_a_log_that_cannot_be_written_holds_nobody(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "hooks" / "x.log"
    if kind == "file as its folder":
        path.parent.touch()
    else:
        path.parent.mkdir()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(tmp_path / "other")
    log = RunLog(str(path), lambda: NOW)
    log.write("event")
    assert log.last == "event"
    assert not (tmp_path / "other").exists()


def test_a_log_that_cannot_be_halved_grows_on(tmp_path: Path) -> None:
    path, lock = tmp_path / "x.log", tmp_path / "lock"
    path.write_bytes(b"old line\n" * 200_000)
    lock.mkdir()
    RunLog(str(path), lambda: NOW, str(lock)).write("event")
    assert path.read_bytes().endswith(b" event\n")
    assert path.stat().st_size > 1024 * 1024
