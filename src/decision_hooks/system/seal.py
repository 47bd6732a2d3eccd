"""Seals of what this machine wrote: a repository can bring files, but not the key of the user's machine."""

from __future__ import annotations

import os
from collections.abc import Mapping

from decision_hooks.errors import FolderError
from decision_hooks.system import files
from decision_hooks.text.fingerprint import new_hash

_SIZE = 32  # bytes of the key
_WAIT = 5.0  # seconds for a run beside this one to make it


def seal(environ: Mapping[str, str], *parts: str) -> str:
    """The seal of some texts on this machine, 32 hexadecimal digits; ``is_seal`` compares it with a stored one."""
    return _seal(_key(environ), parts)


def is_seal(stored: object, environ: Mapping[str, str], *parts: str) -> bool:
    """Whether a stored value is the seal of these texts; that of a run that could keep no key counts too."""
    if not isinstance(stored, str) or not stored:
        return False
    if stored == _seal(_key(environ), parts):
        return True
    return bool(_machine_id()) and stored == _seal(_of_machine(), parts)


def _seal(key: bytes, parts: tuple[str, ...]) -> str:
    hashed = new_hash(16, key)
    for part in parts:
        data = files.to_bytes(part)
        hashed.update(len(data).to_bytes(8, "big") + data)
    return hashed.hexdigest()


def key_file(environ: Mapping[str, str]) -> str:
    """Where the key lies, below the home folder.

    The place depends on nothing else: an agent from the desktop has not the variables of a shell, and must have
    its key.
    """
    home = environ.get("HOME", "")
    if not os.path.isabs(home):
        import pwd

        try:
            home = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            home = "/"
    return os.path.join(home, ".local", "state", "decision-hooks", "key")


def _key(environ: Mapping[str, str]) -> bytes:
    """The key, made at its first use; where none can be kept, what no repository can know in advance."""
    path = key_file(environ)
    key = files.read_bytes(path, _SIZE) or b""
    if len(key) == _SIZE:
        return key
    try:
        key = _make_key(path)
    except (FolderError, OSError):
        key = b""
    return key if len(key) == _SIZE else _of_machine()


def _make_key(path: str) -> bytes:
    """Make the key, or complete one that a kill has cut; runs beside this one wait and take the same."""
    from time import monotonic, sleep

    from decision_hooks.system import locking

    files.make_folder(os.path.dirname(path), 0o700)
    lock = locking.acquire(path, seconds=_WAIT, now=monotonic, sleep=sleep)
    if lock is None:
        return b""
    try:
        key = os.pread(lock.fd, _SIZE, 0)
        if len(key) < _SIZE:
            key = os.urandom(_SIZE)
            os.pwrite(lock.fd, key, 0)
            os.fsync(lock.fd)
            files.sync_folder(os.path.dirname(path))
        return key
    finally:
        os.close(lock.fd)  # no release: what a lock's file says is of its holder, here it is the key


def _of_machine() -> bytes:
    facts = (
        _machine_id(),
        os.uname().nodename.encode(),
        str(os.getuid()).encode(),
    )
    hashed = new_hash(_SIZE)
    hashed.update(b"\0".join(facts))
    return hashed.digest()


def _machine_id() -> bytes:
    return files.read_bytes("/etc/machine-id", 64, follow=True) or b""
