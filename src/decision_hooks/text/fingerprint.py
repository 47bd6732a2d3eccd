"""Short hexadecimal hashes of bytes, by which equal texts and unchanged files are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b


def fingerprint(data: bytes, size: int) -> str:
    """The BLAKE2b hash of the data as ``2 * size`` hexadecimal digits; stored values depend on the size."""
    hashed = new_hash(size)
    hashed.update(data)
    return hashed.hexdigest()


def new_hash(size: int, key: bytes = b"") -> blake2b:
    """A BLAKE2b hash of so many bytes, to be fed; loaded without ``hashlib``, which loads OpenSSL in 5 ms."""
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(digest_size=size, key=key)
