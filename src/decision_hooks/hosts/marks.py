"""How we recognise what is ours: the mark of an entry, and the seal of a file that is wholly ours."""

from __future__ import annotations

from decision_hooks.text.fingerprint import fingerprint

MARK = "# decision-hooks"  # with the entry's id after it, the end of every command line of ours
_WORDS = "decision-hooks wrote this file: "


def marked_id(command: str) -> str | None:
    """The id in the mark that ends a command of ours: "" in the form of older versions, None without a mark."""
    _, mark, end = command.rstrip().rpartition(MARK)
    if not mark or not end:
        return "" if mark else None
    id = end[1:]
    return id if end[0] == " " and id.replace("-", "").isalnum() else None


def sealed(text: str, comment: str) -> str:
    """The text, which ends in a newline, with a seal as its last line; ``comment`` has ``{}`` for the words."""
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
    return fingerprint(text.encode("utf-8"), 6)
