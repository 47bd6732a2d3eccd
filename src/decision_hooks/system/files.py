"""Reading and writing files so that a kill at any moment leaves the old bytes or the new ones, never a mix."""

from __future__ import annotations

import errno
import json
import os
import stat

from decision_hooks.errors import FolderError

TEMPORARY = ".decision-hooks-"  # prefix of temporary names, which end in ".tmp"


def read_bytes(path: str, limit: int = 64 * 1024 * 1024) -> bytes | None:
    """The bytes of a regular file, at most ``limit``; None when there is none or it cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        return None
    with os.fdopen(fd, "rb") as stream:
        try:
            return stream.read(limit)
        except OSError:
            return None


def read_text(path: str, limit: int = 64 * 1024 * 1024) -> str | None:
    """The text of a regular file, bad bytes replaced; None when it cannot be read."""
    data = read_bytes(path, limit)
    return None if data is None else data.decode("utf-8", "replace")


def read_json(path: str) -> dict[str, object] | None:
    """The JSON object in a file; None for no file, other content, or a number that fits no float."""
    data = read_bytes(path)
    if data is None:
        return None
    try:
        value = _json(data.decode("utf-8", "replace"))
    except (ValueError, OverflowError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _json(text: str) -> object:
    return json.loads(text, parse_int=_whole, parse_float=_finite, parse_constant=_finite)


def _whole(text: str) -> int:
    number = int(text)
    float(number)
    return number


def _finite(text: str) -> float:
    number = float(text)
    if number - number:  # infinite, or not a number
        raise ValueError(text)
    return number


def to_bytes(text: str) -> bytes:
    """The text as UTF-8; lone surrogates are replaced."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def json_bytes(value: object) -> bytes:
    """A value as JSON with a newline at its end; file names that are not UTF-8 survive."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return f"{text}\n".encode()
    except UnicodeEncodeError:
        return (json.dumps(value, separators=(",", ":")) + "\n").encode()


def write_atomic(path: str, data: bytes, *, mode: int | None = None, label: str = "") -> None:
    """Replace the file at ``path``: write beside it, sync, rename. Raises ``FolderError``."""
    temporary = _beside(path, label)
    try:
        _write_synced(temporary, data, mode)
        os.replace(temporary, path)
        sync_folder(os.path.dirname(path))
    except OSError as error:
        _remove_quietly(temporary)
        raise FolderError(f"cannot write {path}: {error.strerror}") from error


def create_exclusive(path: str, data: bytes, *, mode: int | None = None, label: str = "") -> bool:
    """Create a file, complete or not at all; False when the name is taken. Raises ``FolderError``."""
    temporary = _beside(path, label)
    try:
        _write_synced(temporary, data, mode)
        try:
            _link(temporary, path)
        except FileExistsError:
            return False
        finally:
            _remove_quietly(temporary)
        sync_folder(os.path.dirname(path))
        return True
    except OSError as error:
        _remove_quietly(temporary)
        raise FolderError(f"cannot create {path}: {error.strerror}") from error


def write_new(path: str, data: bytes) -> None:
    """Write and sync a file in a folder that ``publish_folder`` will rename. Raises ``FolderError``."""
    try:
        _write_synced(path, data, None)
    except OSError as error:
        raise FolderError(f"cannot write {path}: {error.strerror}") from error


def publish_folder(path: str, name: str) -> None:
    """Rename a finished temporary folder to its final name and sync: readers see all of it or nothing.

    Raises ``FolderError``.
    """
    try:
        sync_folder(path)
        os.rename(path, name)
        sync_folder(os.path.dirname(name))
    except OSError as error:
        raise FolderError(f"cannot make the folder {name}: {error.strerror}") from error


def remove_folder(path: str) -> None:
    """Remove a folder with its content; errors are ignored."""
    import shutil

    shutil.rmtree(path, ignore_errors=True)


def remove(path: str) -> None:
    """Remove a file if it exists. Raises ``FolderError``."""
    try:
        os.unlink(path)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise FolderError(f"cannot remove {path}: {error.strerror}") from error


def move(path: str, to: str) -> None:
    """Move a file within the state folder. Raises ``FolderError``."""
    try:
        os.rename(path, to)
    except OSError as error:
        raise FolderError(f"cannot move {path}: {error.strerror}") from error


def remove_leftovers(folder: str, label: str) -> None:
    """Remove temporary files that a killed run left; the caller has the lock for writing with ``label``."""
    begin = TEMPORARY + label
    for name in names(folder):
        if name.startswith(begin) and name.endswith(".tmp"):
            _remove_quietly(os.path.join(folder, name))


def names(folder: str) -> list[str]:
    """The names in a folder, unsorted; [] when it cannot be listed."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def oldest(folder: str, ending: str, most: int, now: float) -> list[str]:
    """The names with that ending whose files have not changed for the longest time, at most so many.

    A change in the future is of a clock that was ahead: it comes before all others.
    """
    from heapq import nsmallest

    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(ending) and entry.name[0] != ".":
                    try:
                        changed = entry.stat(follow_symlinks=False).st_mtime
                        found.append((changed if changed <= now else 0.0, entry.name))
                    except OSError:  # it has just gone
                        continue
    except OSError:
        pass
    return [name for _, name in nsmallest(most, found)]


def make_folder(path: str, mode: int = 0o777) -> None:
    """Make a folder and its parents where they are missing. Raises ``FolderError``."""
    if os.path.isdir(path):
        return
    try:
        os.makedirs(path, mode=mode, exist_ok=True)
    except OSError as error:
        raise FolderError(f"cannot make the folder {path}: {_hindrance(path, error)}") from error


def append(path: str, data: bytes) -> None:
    """Append to a regular file in one write call. Raises ``FolderError``."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        fd = os.open(path, flags | os.O_NONBLOCK, 0o644)  # a pipe without a reader would block
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise FolderError(f"cannot write {path}: it is no file")
            os.write(fd, data)
        finally:
            os.close(fd)
    except (OSError, ValueError) as error:
        raise FolderError(f"cannot write {path}: {getattr(error, 'strerror', error)}") from error


def mode_of(path: str) -> int | None:
    """The permission bits of ``path`` itself, links not followed; None when it does not exist."""
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return None


def set_mode(path: str, mode: int) -> None:
    """Set the permission bits of a file or folder of ours. Raises ``FolderError``."""
    try:
        os.chmod(path, mode)
    except OSError as error:
        raise FolderError(f"cannot change the mode of {path}: {error.strerror}") from error


def modified(path: str) -> float | None:
    """When ``path`` was last changed, seconds since the epoch; None when it does not exist."""
    try:
        return os.lstat(path).st_mtime
    except (OSError, ValueError):
        return None


def size(path: str) -> int:
    """The bytes of a file, 0 when it does not exist."""
    try:
        return os.lstat(path).st_size
    except (OSError, ValueError):
        return 0


def is_there(path: str) -> bool:
    """Whether there is a file, links followed."""
    try:
        return os.path.exists(path)
    except ValueError:
        return False


def may_write(folder: str) -> bool:
    """Whether files can be made in ``folder``, or in its nearest parent that exists."""
    here = os.path.abspath(folder)
    while not os.path.lexists(here) and os.path.dirname(here) != here:
        here = os.path.dirname(here)
    return os.path.isdir(here) and os.access(here, os.W_OK | os.X_OK)


def leftovers(folder: str, now: float, age: float) -> list[str]:
    """Paths of temporary files of ours in ``folder`` that are at least ``age`` seconds old."""
    found = []
    ours = [name for name in names(folder) if name.startswith(TEMPORARY) and name.endswith(".tmp")]
    for path in (os.path.join(folder, name) for name in sorted(ours)):
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


def sync_folder(folder: str) -> None:
    """Sync a folder, so that its names survive a crash; errors are ignored."""
    try:
        fd = os.open(folder or ".", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.fsync(fd)
    except OSError:
        pass
    finally:
        os.close(fd)


def _hindrance(path: str, error: OSError) -> str:
    """Why a folder cannot be made; names a file that is in the way."""
    while len(path) > 1:
        if os.path.lexists(path):
            return error.strerror or "" if os.path.isdir(path) else f"{path} is in the way, it is no folder"
        path = os.path.dirname(path)
    return error.strerror or ""


def _beside(path: str, label: str) -> str:
    folder, name = os.path.split(path)
    short = f"{abs(hash(name)):x}"[:8]
    return os.path.join(folder, f"{TEMPORARY}{label}{os.getpid()}-{short}.tmp")


def _write_synced(path: str, data: bytes, mode: int | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        fd = os.open(path, flags, 0o666)
    except FileExistsError:  # left by a killed run with the same process id
        _remove_quietly(path)
        fd = os.open(path, flags, 0o666)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        if mode is not None:
            os.fchmod(fd, mode)
        os.fsync(fd)
    finally:
        os.close(fd)


def _link(temporary: str, path: str) -> None:
    try:
        os.link(temporary, path, follow_symlinks=False)
    except (NotImplementedError, OSError) as error:
        if getattr(error, "errno", None) not in (
            None,
            errno.EPERM,
            errno.ENOTSUP,
            errno.EOPNOTSUPP,
            errno.EMLINK,
        ):
            raise
        if os.path.lexists(path):  # no hard links here: a rename is atomic too
            raise FileExistsError(path) from error
        os.rename(temporary, path)


def _remove_quietly(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
