"""Advisory locks by ``fcntl.flock``; the kernel frees them when the process ends (Linux and macOS)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import NamedTuple

from decision_hooks.errors import FolderError

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


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
    """Release the lock; its file is never removed."""
    try:
        os.close(lock.fd)
    except OSError:
        pass
