"""Advisory locks by ``fcntl.flock``; the kernel frees them when the process ends (Linux and macOS)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import NamedTuple

from decision_hooks.errors import FolderError

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_SIGNED = 100  # bytes of a lock's file that say who has it


class Lock(NamedTuple):
    """A lock that we hold; ``supported`` is False where the file system has no locks (NFS): it excludes nobody."""

    path: str
    fd: int
    supported: bool


def acquire(
    path: str,
    *,
    seconds: float = 0.0,
    now: Callable[[], float] | None = None,
    sleep: Callable[[float], None] | None = None,
) -> Lock | None:
    """Take the lock at ``path``, waiting at most ``seconds``; None when another process has it. The file stays."""
    import errno
    import fcntl

    until = now() + seconds if now else 0.0
    while True:
        try:
            fd = os.open(path, _FLAGS, 0o600)
        except OSError as error:
            raise FolderError(f"cannot open the lock {path}: {error.strerror}") from error
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise FolderError(f"cannot open the lock {path}: it is no file")
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES):
                return Lock(path, fd, supported=False)
            os.close(fd)
            if now is None or sleep is None or now() >= until:
                return None
            sleep(0.05)
            continue
        lock = Lock(path, fd, supported=True)
        if still_ours(lock):
            return lock
        os.close(fd)  # the file was replaced between opening and locking


def still_ours(lock: Lock) -> bool:
    """Whether the file at the lock's path is still the one that we hold."""
    if not lock.supported:
        return True
    try:
        at_path, ours = os.stat(lock.path, follow_symlinks=False), os.fstat(lock.fd)
    except OSError:
        return False
    return (at_path.st_dev, at_path.st_ino) == (ours.st_dev, ours.st_ino)


def release(lock: Lock) -> None:
    """Release the lock; its file is never removed, but says of nobody any more that he has it."""
    try:
        os.ftruncate(lock.fd, 0)
        os.close(lock.fd)
    except OSError:
        pass


def sign(lock: Lock) -> None:
    """Write into the file of a lock who has it, since when, and that he was alive just now (see ``holder``)."""
    import time

    now, pid = time.monotonic(), os.getpid()
    try:
        told = os.pread(lock.fd, _SIGNED, 0).split()
        begun = float(told[1]) if len(told) == 3 and told[0] == str(pid).encode() else now
        os.ftruncate(lock.fd, 0)
        os.pwrite(lock.fd, f"{pid} {begun:.1f} {now:.1f}\n".encode(), 0)
    except (OSError, ValueError):  # the lock excludes others all the same
        pass


class Signature(NamedTuple):
    """Who has a lock, as he wrote it himself."""

    pid: int = 0  # 0: he did not write it
    age: float = 0.0  # seconds since he took it
    quiet: float = 0.0  # seconds since he was alive


def signature(path: str) -> Signature | None:
    """Who has the lock at ``path``; None when nobody has it. Changes nothing."""
    import errno
    import fcntl
    import time

    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        pid, begun, alive = (float(word) for word in os.pread(fd, _SIGNED, 0).split())
    except (OSError, ValueError):
        pid = begun = alive = 0.0
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES):
            return None
    finally:
        os.close(fd)
    now = time.monotonic()
    if not 0 < pid < 2**31 or not 0 < begun <= alive <= now:
        return Signature()
    return Signature(int(pid), now - begun, now - alive)
