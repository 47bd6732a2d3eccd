"""What the rules of the scanner share: a hit, a text with its lower-case twin, word starts, placeholders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from decision_hooks.errors import DecisionHooksError


class Hit(NamedTuple):
    """One place where a rule applies: ``start`` and ``end`` are offsets in characters."""

    category: str
    start: int
    end: int
    high: bool = True
    core: int = -1  # where the value begins, for a hit that starts with the name of the value
    open: bool = False  # runs to the end of the text because its closing mark is missing
    bare: bool = False  # has the words of a secret, none in them: a scan reports it, a mask leaves it


class ScanRefused(DecisionHooksError):
    """A source or a denylist cannot be scanned; ``code`` is the error code of the report."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Text(NamedTuple):
    """A text and its twins of the same length, so that an offset means the same in all."""

    raw: str
    lowered: str
    kinds: bytes  # ``0`` a digit, ``a`` and ``A`` letters of ASCII, ``_`` one of "_-+/", else a blank


# A token may follow an escape of a JSON string ("\nghp_..."): its letter is no part of the token.
WORD_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"

# One run without blanks, quotes or angle brackets; the escapes of a JSON string end it as well.
RUN = r"(?:[^\s\"'<>`\\]|\\(?![nrtu\"'\\]))"


def read_text(text: str) -> Text:
    """The text with its twins; U+0130 is the one letter that grows in lower case."""
    lowered = text.replace("\u0130", "I").lower()
    return Text(text, lowered, text.encode("latin-1", "replace").translate(_KINDS))


_KINDS = bytes(
    ord("0" if char in "0123456789" else "_" if char in "_-+/" else "a" if char.islower() else "A")
    if char.isascii() and (char.isalnum() or char in "_-+/")
    else ord(" ")
    for char in map(chr, range(256))
)


def occurrences(haystack: str, needle: str) -> Iterator[int]:
    """Offsets of a literal, in order; far cheaper than a regex that begins with a choice of letters."""
    at = haystack.find(needle)
    while at >= 0:
        yield at
        at = haystack.find(needle, at + 1)


def anchored(
    t: Text, needles: Iterable[str], pattern: Callable[[], re.Pattern[str]]
) -> Iterator[re.Match[str]]:
    """Matches of a pattern at the places of its lower-case anchor words, in order, none within another.

    The pattern is compiled at the first place.
    """
    places = sorted({at for needle in needles for at in occurrences(t.lowered, needle)})
    done = 0
    for at in places:
        if at >= done:
            match = pattern().match(t.raw, at)
            if match:
                yield match
                done = match.end()


def start_of_run(text: str, end: int, pattern: re.Pattern[str], limit: int) -> int:
    """Where the run of characters that stops before ``end`` begins, at most ``limit`` characters back."""
    before = text[max(0, end - limit) : end]
    match = pattern.match(before[::-1])
    start = end - (match.end() if match else 0)
    if not 0 < start < end or text[start - 1] not in "\\%":
        return start
    escape = 2 if text[start - 1] == "%" else {"u": 5, "x": 3}.get(text[start], int(text[start] in "nrtbfv"))
    return min(start + escape, end)


def trim_punctuation(text: str, start: int, end: int) -> int:
    """The end of a run without the punctuation of the sentence around it."""
    while end > start + 1 and text[end - 1] in ".,;:!?)]}*|":
        end -= 1
    return end


def is_placeholder(value: str) -> bool:
    """Whether a value is only a placeholder for a secret: ``xxx``, ``your_key``, ``${NAME}``, ``***``."""
    return _placeholder().search(value) is not None


def is_sample_token(value: str) -> bool:
    """Like a placeholder, for tokens of a fixed shape: a random token may hold ``xxx`` by chance."""
    return _sample_token().search(value) is not None


@lru_cache(maxsize=1)
def _placeholder() -> re.Pattern[str]:
    return re.compile(
        r"xxx|your[_-]|your(?:api|secret|token|password)|change[_-]?(?:me|this)|example|redacted|placeholder"
        r"|replace[_-]?(?:me|with)|\*{3}|\.{3}|^(?:\$|%[sv(]|%\w+%$|\{|<|\[)",
        re.IGNORECASE,
    )


@lru_cache(maxsize=1)
def _sample_token() -> re.Pattern[str]:
    return re.compile(r"x{6}|your[_-]|example|redacted|placeholder", re.IGNORECASE)
