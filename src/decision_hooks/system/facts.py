"""What stands on the disk, told without changing it, and the few bits that a repair may set."""

from __future__ import annotations

import os
import stat

from decision_hooks.errors import FolderError
from decision_hooks.system import files


def mode_of(path: str) -> int | None:
    """The permission bits of what stands at ``path``, links not followed; None when nothing does."""
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return None


def modified(path: str) -> float | None:
    """When ``path`` was last changed, seconds since the epoch; None when nothing stands there."""
    try:
        return os.lstat(path).st_mtime
    except (OSError, ValueError):
        return None


def may_write(folder: str) -> bool:
    """Whether files can be made in ``folder``, or it can be made where its nearest parent stands."""
    here = os.path.abspath(folder)
    while not os.path.lexists(here) and os.path.dirname(here) != here:
        here = os.path.dirname(here)
    return os.path.isdir(here) and os.access(here, os.W_OK | os.X_OK)


def is_program(path: str) -> bool:
    """Whether ``path`` is a file that can be run."""
    try:
        return os.path.isfile(path) and os.access(path, os.X_OK)
    except ValueError:
        return False


def set_mode(path: str, mode: int) -> None:
    """Set the permission bits of a file or folder of ours. Raises ``FolderError``."""
    try:
        os.chmod(path, mode)
    except OSError as error:
        raise FolderError(f"cannot change the mode of {path}: {error.strerror}") from error


def leftovers(folder: str, now: float, age: float) -> list[str]:
    """Paths of temporary files of ours in ``folder`` that are at least ``age`` seconds old."""
    found = []
    for name in sorted(files.names(folder)):
        path = os.path.join(folder, name)
        if name.startswith(files.TEMPORARY) and name.endswith(".tmp"):
            when = modified(path)
            if when is not None and now - when >= age:
                found.append(path)
    return found


def last_lines(path: str, most: int) -> list[str]:
    """The whole lines within the last ``most`` bytes of a text file, oldest first; [] when there is none."""
    try:
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            stream.seek(max(0, size - most))
            data = stream.read(most)
    except (OSError, ValueError):
        return []
    lines = data.decode("utf-8", "replace").split("\n")
    return [line for line in (lines[1:] if size > most else lines) if line]


def on_path(name: str, path: str) -> str:
    """The absolute path of a program on a search path, "" when it is not there."""
    import shutil

    found = shutil.which(name, path=path)
    return found if found and os.path.isabs(found) else ""
