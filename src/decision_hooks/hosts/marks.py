"""A last line in files that are wholly ours: it tells whether they still are as we wrote them."""

from __future__ import annotations

_WORDS = "decision-hooks wrote this file: "


def sealed(text: str, comment: str) -> str:
    """The text, which ends in a newline, with the line; ``comment`` has ``{}`` where the words go."""
    return f"{text}{comment.format(_WORDS + _hash(text))}\n"


def is_sealed(data: bytes) -> bool:
    """Whether a file is ours, of any version, and unchanged since (line ends do not count)."""
    try:
        text = data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return False
    body, newline, last = text.rstrip("\n").rpartition("\n")
    _, found, rest = last.partition(_WORDS)
    return bool(found) and rest.startswith(_hash(body + newline))


def _hash(text: str) -> str:
    from hashlib import blake2b

    return blake2b(text.encode("utf-8"), digest_size=6).hexdigest()
