"""Reading and writing files so that a kill at any moment leaves the old bytes or the new ones, never a mix."""

from __future__ import annotations

import errno
import json
import os
import stat

from decision_hooks.errors import FolderError

TEMPORARY = ".decision-hooks-"  # prefix of temporary names, which end in ".tmp"
PRIVATE = 0o600  # the mode of a file of ours
_PRIVATE_FOLDER = 0o700


def read_bytes(path: str, limit: int = 64 * 1024 * 1024, *, follow: bool = False) -> bytes | None:
    """The bytes of a regular file, at most ``limit``; None when there is none or it cannot be read.

    A link is read only with ``follow``: for files of the user, never for ours.
    """
    fd = _open_regular(path, follow)
    if fd is None:
        return None
    with os.fdopen(fd, "rb") as stream:
        try:
            return stream.read(limit)
        except OSError:
            return None


def read_end(path: str, most: int) -> bytes:
    """The last ``most`` bytes of a regular file, links not followed; none when it cannot be read."""
    fd = _open_regular(path, follow=False)
    if fd is None:
        return b""
    with os.fdopen(fd, "rb") as stream:
        try:
            stream.seek(max(0, os.fstat(fd).st_size - most))
            return stream.read(most)
        except OSError:
            return b""


def _open_regular(path: str, follow: bool) -> int | None:
    """Open a regular file to read; None for anything else, at which opening must not wait."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    try:
        fd = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    return None


def read_text(path: str, limit: int = 64 * 1024 * 1024, *, follow: bool = False) -> str | None:
    """The text of a regular file, bad bytes replaced; None when it cannot be read."""
    data = read_bytes(path, limit, follow=follow)
    return None if data is None else data.decode("utf-8", "replace")


def read_json(path: str, *, follow: bool = False) -> dict[str, object] | None:
    """The JSON object in a file; None for no file, other content, or a number that fits no float."""
    data = read_bytes(path, follow=follow)
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


def write_atomic(path: str, data: bytes, *, mode: int | None = PRIVATE, label: str = "") -> None:
    """Replace the file at ``path``: write beside it, sync, rename; ``mode`` None: as the umask says.

    Raises ``FolderError``.
    """
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
    """Write and sync a private file where only this run writes. Raises ``FolderError``."""
    try:
        _write_synced(path, data, PRIVATE)
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
    """Remove a regular file if it exists; anything else stays. Raises ``FolderError``."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise FolderError(f"cannot remove {path}: it is no file")
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
    for name in names(folder):
        if is_temporary(name, label):
            _remove_quietly(os.path.join(folder, name))


def is_temporary(name: str, label: str = "") -> bool:
    """Whether a temporary file of ours can have this name; no label: with any."""
    begin = TEMPORARY + label
    if not (name.startswith(begin) and name.endswith(".tmp")):
        return False
    process, _, mark = name[len(begin) : -len(".tmp")].rpartition("-")
    process = process if label else process.rpartition("-")[2]
    return process.isdecimal() and 0 < len(mark) <= 8 and all(c in "0123456789abcdef" for c in mark)


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
                plain = entry.name.endswith(ending) and entry.name[0] != "."
                if plain and entry.is_file(follow_symlinks=False):
                    try:
                        changed = entry.stat(follow_symlinks=False).st_mtime
                        found.append((changed if changed <= now else 0.0, entry.name))
                    except OSError:  # it has just gone
                        continue
    except OSError:
        pass
    return [name for _, name in nsmallest(most, found)]


def make_folder(path: str, mode: int = 0o777) -> None:
    """Make a folder and its parents where they are missing. Raises ``FolderError``.

    A private one (0o700) is a folder of ours: it becomes private, and a link in its place is not followed.
    """
    if mode == _PRIVATE_FOLDER:
        _make_private(path)
    elif not os.path.isdir(path):
        try:
            os.makedirs(path, mode=mode, exist_ok=True)
        except OSError as error:
            raise FolderError(f"cannot make the folder {path}: {_hindrance(path, error)}") from error


def _make_private(path: str) -> None:
    there = _lstat(path)
    try:
        if there is None:
            make_folder(os.path.dirname(path))
            try:
                os.mkdir(path, _PRIVATE_FOLDER)
            except FileExistsError:  # a run beside this one has made it
                pass
            there = os.lstat(path)
            if there.st_mode & 0o700 != 0o700:  # the umask took even our own rights
                os.chmod(path, _PRIVATE_FOLDER)
        if not stat.S_ISDIR(there.st_mode):
            raise FolderError(f"cannot make the folder {path}: {path} is in the way, it is no folder")
        if there.st_mode & 0o077:
            os.chmod(path, _PRIVATE_FOLDER)
    except OSError as error:
        raise FolderError(f"cannot make the folder {path}: {_hindrance(path, error)}") from error


def is_plain_folder(path: str) -> bool:
    """Whether there is a folder of that name; one behind a link is none."""
    there = _lstat(path)
    return there is not None and stat.S_ISDIR(there.st_mode)


def is_free_or_folder(path: str) -> bool:
    """Whether nothing has that name, or a folder that is no link."""
    there = _lstat(path)
    return there is None or stat.S_ISDIR(there.st_mode)


def _lstat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None


def append(path: str, data: bytes, *, mode: int = PRIVATE, sync: bool = False) -> None:
    """Append to a regular file in one write call; a private one becomes private. Raises ``FolderError``.

    ``sync``: it is on the disk before anything that is written later.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NOCTTY
    try:
        fd = os.open(path, flags | os.O_NONBLOCK, mode)  # a pipe without a reader would block
        try:
            there = os.fstat(fd).st_mode
            if not stat.S_ISREG(there):
                raise FolderError(f"cannot write {path}: it is no file")
            if mode == PRIVATE and there & 0o077:
                os.fchmod(fd, mode)
            os.write(fd, data)
            if sync:
                os.fsync(fd)
        finally:
            os.close(fd)
    except (OSError, ValueError) as error:
        raise FolderError(f"cannot write {path}: {getattr(error, 'strerror', error)}") from error


def mode_of(path: str) -> int | None:
    """The permission bits of ``path`` itself, links not followed; None when it does not exist."""
    there = _lstat(path)
    return None if there is None else stat.S_IMODE(there.st_mode)


def is_endless(path: str) -> bool:
    """Whether a program that reads it could wait for ever: a pipe, a socket or a device, through links too."""
    try:
        kind = stat.S_IFMT(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False
    return kind not in (stat.S_IFREG, stat.S_IFDIR)


def size_of(path: str) -> int:
    """The bytes of what has that name, links not followed; 0 when nothing has."""
    there = _lstat(path)
    return there.st_size if there else 0


def modified(path: str) -> float | None:
    """When ``path`` was last changed, seconds since the epoch; None when it does not exist."""
    there = _lstat(path)
    return None if there is None else there.st_mtime


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
    for name in sorted(names(folder)):
        path = os.path.join(folder, name)
        there = _lstat(path) if is_temporary(name) else None
        if there and stat.S_ISREG(there.st_mode) and now - there.st_mtime >= age:
            found.append(path)
    return found


def last_lines(path: str, most: int) -> list[str]:
    """The whole lines within the last ``most`` bytes of a text file, oldest first; [] when there is none."""
    data = read_end(path, most + 1)
    lines = data.decode("utf-8", "replace").split("\n")
    return [line for line in (lines[1:] if len(data) > most else lines) if line]


def sync_folder(folder: str) -> None:
    """Sync a folder, so that its names survive a crash; errors are ignored."""
    try:
        fd = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
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
        remove(path)
    except FolderError:
        pass


def close_to_others(folder: str) -> None:
    """Take from others what they may do with a folder of ours and all below it, nothing behind a link."""
    try:
        os.chmod(folder, _PRIVATE_FOLDER)
        if os.lstat(folder).st_mode & 0o077:  # a file system that keeps no modes
            return
        with os.scandir(folder) as entries:
            below = list(entries)
    except OSError:
        return
    for entry in below:
        try:
            if entry.is_dir(follow_symlinks=False):
                close_to_others(entry.path)
            elif entry.is_file(follow_symlinks=False):
                os.chmod(entry.path, PRIVATE)
        except OSError:  # gone meanwhile
            continue
