"""Short hexadecimal hashes of bytes, by which equal texts and unchanged files are known."""

from __future__ import annotations


def fingerprint(data: bytes, size: int) -> str:
    """The BLAKE2b hash of the data as ``2 * size`` hexadecimal digits; stored values depend on the size."""
    from hashlib import blake2b

    return blake2b(data, digest_size=size).hexdigest()
