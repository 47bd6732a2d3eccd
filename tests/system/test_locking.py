"""A lock excludes other processes, is freed by the death of its holder, and is noticed when it was replaced."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from decision_hooks.errors import FolderError
from decision_hooks.system import locking

HOLD = (
    "import fcntl, sys, time; f = open(sys.argv[1], 'a'); fcntl.flock(f, fcntl.LOCK_EX)\n"
    "print('held', flush=True); time.sleep(600)"
)


def holder(path: Path) -> subprocess.Popen[bytes]:
    """Another process that holds the lock."""
    process = subprocess.Popen([sys.executable, "-S", "-c", HOLD, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def test_a_lock_that_another_process_holds_is_not_given(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    process = holder(path)
    try:
        assert locking.acquire(str(path)) is None
    finally:
        end(process)
    lock = locking.acquire(str(path))
    assert lock is not None
    locking.release(lock)


def test_a_lock_is_waited_for_as_long_as_was_said(tmp_path: Path) -> None:
    path, clock = tmp_path / "lock", [0.0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    process = holder(path)
    try:
        assert locking.acquire(str(path), seconds=3.0, now=lambda: clock[0], sleep=sleep) is None
        assert 3.0 <= clock[0] < 3.2
    finally:
        end(process)


def test_a_lock_that_becomes_free_while_waiting_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    process = holder(path)

    def sleep(seconds: float) -> None:
        end(process)

    assert locking.acquire(str(path), seconds=5.0, now=time.monotonic, sleep=sleep) is not None


def test_the_file_stays_when_the_lock_is_given_back(tmp_path: Path) -> None:
    lock = locking.acquire(str(tmp_path / "lock"))
    assert lock is not None
    locking.release(lock)
    assert (tmp_path / "lock").exists()
    locking.release(lock)  # once more does no harm


def test_a_lock_whose_file_was_replaced_or_removed_is_no_longer_ours(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = locking.acquire(str(path))
    assert lock is not None
    assert locking.still_ours(lock)
    path.unlink()
    assert not locking.still_ours(lock)
    path.touch()
    assert not locking.still_ours(lock)
    locking.release(lock)


def test_a_file_replaced_between_opening_and_locking_is_taken_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real, done = tmp_path / "lock", fcntl.flock, []

    def flock(fd: int, how: int) -> None:
        if not done:
            done.append(1)
            path.unlink()
        real(fd, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    lock = locking.acquire(str(path))
    assert lock is not None
    assert os.fstat(lock.fd).st_ino == path.stat().st_ino
    locking.release(lock)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_system_without_locks_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(fd: int, how: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    lock = locking.acquire(str(tmp_path / "lock"))
    assert lock is not None
    assert not lock.supported
    assert locking.still_ours(lock)
    locking.release(lock)


@pytest.mark.parametrize("kind", ["folder", "link", "no folder"])
def test_a_lock_that_cannot_be_opened_is_told(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "lock"
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(tmp_path / "target")
    else:
        path = tmp_path / "nowhere" / "lock"
    with pytest.raises(FolderError, match="cannot open the lock"):
        locking.acquire(str(path))
    assert not (tmp_path / "target").exists()


# -- who has it


def test_a_lock_says_who_has_it_and_since_when(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, clock = tmp_path / "lock", [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    lock = locking.acquire(str(path))
    assert lock is not None
    assert locking.signature(str(path)) == locking.Signature()  # not signed
    for now in (1000.0, 1060.0):
        clock[0] = now
        locking.sign(lock)
    clock[0] = 1100.0
    assert locking.signature(str(path)) == locking.Signature(os.getpid(), 100.0, 40.0)
    locking.release(lock)
    assert locking.signature(str(path)) is None
    assert path.read_bytes() == b""


@pytest.mark.parametrize(
    "text", ["", "12", "1 2 3 4", "x 1 2", "-5 1 2", "5 9e99 9e99", "5 nan nan", "5 inf 1", "\0" * 200]
)
def test_a_lock_with_another_text_is_of_somebody_unknown(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lock"
    path.write_text(text)
    assert locking.signature(str(path)) is None
    with path.open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert locking.signature(str(path)) == locking.Signature()


def test_no_lock_and_what_is_no_file_have_no_holder(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    for name in ("gone", "folder", "pipe", "link"):
        assert locking.signature(str(tmp_path / name)) is None
