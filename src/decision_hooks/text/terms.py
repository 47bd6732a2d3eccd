"""The terms of a text and their counts: stems of its words, its identifiers whole and in parts."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

MOST_CHARACTERS = 200_000  # of a text that are read; the rest says little that is new
_MOST_LETTERS = 40  # of a word
_STEM = 6  # letters of a Cyrillic word that identify it; the rest is mostly inflection
_SHORTEST = 4
_LONGEST_IDENTIFIER = 80
_ENGLISH_ENDINGS = (
    "ations", "ation", "ingly", "ing", "edly", "ies", "ied", "es", "ed", "ly", "s", "er", "ion",
)  # fmt: skip

_WORD = re.compile(r"[^\W_]+(?:['\u2019\u02bc][^\W\d_]+)?")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_QUOTED = re.compile(rf"`([^`\n]{{2,{_LONGEST_IDENTIFIER}}})`")
_RUN = re.compile(r"[\w./@-]+")
_JOINT = re.compile(r"[\w@][./_-]+\w|[a-z][A-Z]")


def terms(text: str) -> dict[str, int]:
    """How often a text has each term; identifiers begin with a backtick. No term has a line end."""
    text = text[:MOST_CHARACTERS]
    return Counter([*_words(text), *_identifiers(text)])


def words(text: str) -> dict[str, int]:
    """The terms of a text that are words, as for a title or a name."""
    return Counter(_words(text[:MOST_CHARACTERS]))


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """A lower case word, roughly without its inflection.

    Cyrillic words are cut to six letters, shorter ones lose two; English words lose a known ending.
    """
    if _CYRILLIC.search(word):
        word = re.sub("['\u2019\u02bc]", "", word).replace("ґ", "г")
        return word[:_STEM] if len(word) > _STEM else word[: max(_SHORTEST, len(word) - 2)]
    if word.isascii() and word.isalpha():
        for ending in _ENGLISH_ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
                return word[: -len(ending)]
    return word


def _words(text: str) -> list[str]:
    found: list[str] = []
    for word in _WORD.findall(text):
        found.append(stem(word[:_MOST_LETTERS].lower()))
        if _HUMP.search(word):
            found.extend(stem(part.lower()) for part in _HUMP.split(word[:_MOST_LETTERS]) if part)
    return found


def _identifiers(text: str) -> list[str]:
    """Backticked spans, and paths, dotted, hyphenated or humped names; of a path its last part as well.

    Both rules find a name in backticks: it counts twice.
    """
    found: list[str] = []
    for span in _QUOTED.findall(text):
        found.extend(_forms(" ".join(span.lower().split())))
    for run in _RUN.findall(text):
        if len(run) <= _LONGEST_IDENTIFIER and _JOINT.search(run):
            found.extend(_forms(run.strip(".-").lower()))
    return found


def _forms(name: str) -> list[str]:
    last = name.rstrip("/").rpartition("/")[2]
    return [f"`{form}" for form in dict.fromkeys((name, last)) if len(form) > 2]
