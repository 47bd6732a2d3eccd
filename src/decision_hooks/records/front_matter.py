"""Front matter and body of files: read loosely, because others write them too; written strictly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_OPEN = re.compile(r"\ufeff?---[ \t]*(?:\r?\n|\Z)")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$\n?", re.MULTILINE)
_SESSION = re.compile(r"""^(["']?)session\1[ \t]*:(?:[ \t\r](.*))?$""", re.MULTILINE)
_KEY = re.compile(r"^([A-Za-z_][\w-]*):(.*)$", re.MULTILINE)

_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029]")

_MOST_FRONT = 64 * 1024  # characters; the parser gets no more, ours is far shorter
_MOST_NODES = 1000  # values of one front matter, aliases counted each time: bounds alias bombs
_MOST_DEPTH = 5
_MOST_OPEN = 100
_WIDE = 1 << 30  # no folding


class DraftFile(NamedTuple):
    """A draft of the folder."""

    name: str
    text: str
    session: str = ""  # of its front matter


class Split(NamedTuple):
    """The two parts of a text: front matter without its marks (None if there is none), and the body."""

    front: str | None
    body: str


class Document(NamedTuple):
    """A text as front matter, of which all scalars are strings, and body."""

    front: dict[str, object]  # str, or lists and maps of str
    body: str
    valid: bool  # False: the front matter is no YAML map, ``front`` is from a scan of its lines

    def text(self, key: str) -> str:
        """The value of a key if it is a scalar, else ""."""
        value = self.front.get(key, "")
        return value if isinstance(value, str) else ""

    def texts(self, key: str) -> tuple[str, ...]:
        """The scalars of a list (or the one scalar) at a key."""
        value = self.front.get(key)
        if isinstance(value, str):
            return (value,) if value else ()
        return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def split(text: str) -> Split:
    """Split front matter from body; unclosed front matter is part of the body."""
    opened = _OPEN.match(text)
    closed = opened and _CLOSE.search(text, opened.end())
    if not (opened and closed):
        return Split(None, text.removeprefix("\ufeff"))
    return Split(text[opened.end() : closed.start()], text[closed.end() :])


def read(text: str) -> Document:
    """Read a file of any origin; never raises. Invalid YAML gives the keys that a scan of its lines finds."""
    front, body = split(text)
    if front is None:
        return Document({}, body, valid=False)
    loaded = _load(front)
    values = _scan(front) if loaded is None else loaded
    return Document(values, body, valid=loaded is not None)


def session_of(head: str) -> str | None:
    """The ``session:`` in the front matter at the beginning of a file; None if the file is no draft."""
    opened = _OPEN.match(head)
    if opened is None:
        return None
    closed = _CLOSE.search(head, opened.end())
    match = _SESSION.search(head, opened.end(), closed.start() if closed else len(head))
    return None if match is None else _unquoted(match[2] or "")


def render(front: Sequence[tuple[str, object]], body: str) -> str:
    """A file: YAML front matter in the given order, one line a string, an empty line, the body.

    Strings that YAML would read as another type are quoted; a ``datetime.date`` is written plain.
    """
    import yaml

    data = {key: _writable(value) for key, value in front}
    written = yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=_WIDE) if data else ""
    return f"---\n{written}---\n\n{clean(body).strip(chr(10))}\n"


def clean(text: str) -> str:
    """The text without lone surrogates and NUL, with newlines as the only line ends."""
    text = _LINE_ENDS.sub("\n", text).replace("\x00", "\ufffd")
    return text.encode("utf-8", "replace").decode("utf-8")


def _writable(value: object) -> object:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, (list, tuple)):
        return [_writable(item) for item in value]
    if isinstance(value, dict):
        return {clean(str(key)): _writable(item) for key, item in value.items()}
    return value


def _load(front: str) -> dict[str, object] | None:
    import yaml

    if len(front) > _MOST_FRONT or _brackets_open(front) > _MOST_OPEN:
        return None
    try:
        # BaseLoader makes strings of all scalars: no dates, numbers or objects
        loaded = yaml.load(front, Loader=yaml.BaseLoader)  # noqa: S506
        plain = _plain({} if loaded is None or loaded == "" else loaded, [_MOST_NODES], 0)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError, TypeError):
        return None
    return plain if isinstance(plain, dict) else None


def _brackets_open(front: str) -> int:
    """The most brackets that are open at once: the time of the parser grows with their square."""
    depth = most = 0
    for match in re.finditer(r"[][{}]", front):
        depth += 1 if match[0] in "[{" else -1
        most = max(most, depth)
    return most


def _plain(value: object, budget: list[int], depth: int) -> object:
    budget[0] -= 1
    if budget[0] < 0 or depth > _MOST_DEPTH:
        raise ValueError
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return [_plain(item, budget, depth + 1) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item, budget, depth + 1) for key, item in value.items()}
    raise ValueError


def _scan(front: str) -> dict[str, object]:
    return {match[1]: _unquoted(match[2]) for match in _KEY.finditer(front)}


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
