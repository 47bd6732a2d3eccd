"""Files and folders for the time of one call; made without ``tempfile``, which costs 8 ms to import."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from decision_hooks.system import files


def unnamed_file(environ: Mapping[str, str]) -> IO[bytes]:
    """A file without a name, to write and read; raises ``OSError`` when there is no room for one."""
    flag = getattr(os, "O_TMPFILE", 0)  # of Linux
    if flag:
        try:
            return os.fdopen(os.open(_folder(environ), os.O_RDWR | os.O_CLOEXEC | flag, 0o600), "w+b")
        except OSError:  # a file system that has none
            pass
    import tempfile

    return tempfile.TemporaryFile()


@contextmanager
def empty_folder(environ: Mapping[str, str]) -> Iterator[str]:
    """A new private folder, which is removed in the end; raises ``OSError`` when none can be made."""
    path = os.path.join(_folder(environ), f"decision-hooks-{os.urandom(8).hex()}")
    try:
        os.mkdir(path, 0o700)
    except OSError:
        import tempfile

        path = tempfile.mkdtemp(prefix="decision-hooks-")
    try:
        yield path
    finally:
        try:
            os.rmdir(path)
        except OSError:
            files.remove_folder(path)


def _folder(environ: Mapping[str, str]) -> str:
    given = environ.get("TMPDIR", "")
    return given if os.path.isabs(given) else "/tmp"  # noqa: S108 - the default of POSIX systems
