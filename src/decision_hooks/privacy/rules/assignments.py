"""The secret that is known by its name only: ``api_key = "..."``, ``TOKEN=...``, ``--password ...``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from decision_hooks.privacy.rules.hits import (
    Hit,
    Text,
    is_placeholder,
    occurrences,
    start_of_run,
    trim_punctuation,
)

_ANCHORS = (
    "api_key",
    "api-key",
    "apikey",
    "secret",
    "passw",
    "passphrase",
    "token",
    "access_key",
    "access-key",
    "accesskey",
    "private_key",
    "private-key",
    "privatekey",
    "account_key",
    "accountkey",
    "_auth",
)
_FEW_DIGITS = 4  # names of files and members carry a version or a year, random values carry more


def find_assignments(t: Text) -> Iterator[Hit]:
    """Values of 16 characters or more that are given to a name of a secret, none within another."""
    done = 0
    for at in sorted({at for anchor in _ANCHORS for at in occurrences(t.lowered, anchor)}):
        if at >= done:
            match = _assignment().match(t.raw, at)
            if match and _is_secret(t.raw, match):
                hit = _hit(t.raw, match)
                yield hit
                done = hit.end


def looks_like_name(value: str) -> bool:
    """Whether a value is a path or a dotted name rather than a random string."""
    if "/" not in value and "." not in value:
        return False
    parts = [part for part in re.split(r"[/.]", value) if not part.isdigit()]
    digits = sum(char.isdigit() for part in parts for char in part)
    return digits <= _FEW_DIGITS and all(_name_part().fullmatch(part) for part in parts)


def _hit(text: str, match: re.Match[str]) -> Hit:
    start = start_of_run(text, match.start(), _name_tail(), 64)
    while text[start] == "-":
        start += 1
    tail = _tail().match(text, match.end())
    end = trim_punctuation(text, match.end(), tail.end() if tail else match.end())
    quote = match.group("quote")
    name_is_quoted = start > 0 and text[start - 1] in "\"'`"
    if quote and not name_is_quoted and text.startswith(quote, end):
        end += len(quote)
    return Hit("generic_secret_assignment", start, end, core=match.start("value"))


def _is_secret(text: str, match: re.Match[str]) -> bool:
    value = match.group("value")
    if match.group("sep") is None and not _is_flag(text, match.start()):
        return False
    if not (re.search("[0-9]", value) and re.search("[A-Za-z]", value)):
        return False
    is_call = text.startswith(("(", "["), match.end())
    return not is_call and not is_placeholder(value) and not looks_like_name(value)


def _is_flag(text: str, at: int) -> bool:
    return text.startswith("--", start_of_run(text, at, _name_tail(), 64))


@lru_cache(maxsize=1)
def _assignment() -> re.Pattern[str]:
    name = (
        r"(?i:api[_-]?key|secret(?:[_-]?(?:access[_-]?)?(?:key|token))?|passw(?:or)?d|passphrase|token"
        r"|(?:access|private|account)[_-]?key|_auth)"
    )
    closing = r"(?:\\{0,3}[\"'`]\]?)?"
    typed = r"(?:[ \t]{0,4}:[ \t]{0,4}(?:str|[Ss]tring)(?=[ \t]{0,4}=))?"
    sep = r"(?P<sep>[ \t]{0,4}(?::=|=>|={1,3}|:|>)[ \t]{0,4})"
    quote = r"(?P<quote>\\{0,3}[\"'`])?"
    value = r"(?P<value>[A-Za-z0-9/+_=-][A-Za-z0-9/+_=.-]{15,255})"
    return re.compile(name + closing + typed + "(?:" + sep + r"|[ \t]{1,4})" + quote + value)


@lru_cache(maxsize=1)
def _tail() -> re.Pattern[str]:
    # What else a password may hold: nothing of it may stay behind.
    return re.compile(r"[^\s\"'`\\<>,;(){}\[\]&]*")


@lru_cache(maxsize=1)
def _name_tail() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9_-]*")


@lru_cache(maxsize=1)
def _name_part() -> re.Pattern[str]:
    # Lower case, capitals, or camel case: never letters of both cases at random.
    camel = r"(?:[A-Z]?[a-z]+)(?:[A-Z][a-z]+)*[0-9]{0,3}"
    return re.compile(r"[a-z0-9_~-]*|[A-Z0-9_-]+|" + camel)
