"""Blocks of private keys, whole or cut off before their end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from decision_hooks.privacy.rules.hits import Hit, Text

_KEY_REACH = (
    20_000  # a key of 16,384 bits has 12,500 characters: an END farther off belongs to something else
)


def find_key_blocks(t: Text) -> Iterator[Hit]:
    """Each block from BEGIN to END; without an END the rest of the text is taken for the key."""
    if "PRIVATE KEY" not in t.raw:
        return
    begin, finish = _key_marks()
    ends = [match.end() for match in finish.finditer(t.raw)][::-1]
    done = 0
    for mark in begin.finditer(t.raw):
        while ends and ends[-1] <= mark.end():
            ends.pop()
        if mark.start() < done:
            continue
        near = bool(ends) and ends[-1] - mark.end() <= _KEY_REACH
        if mark.group("body") is None and not near:
            done = mark.end()  # the words of a key block in a sentence or in code: no key follows them
        else:
            done = ends[-1] if ends else len(t.raw)
        unclosed = done == len(t.raw) and not ends
        yield Hit("private_key_block", mark.start(), done, open=unclosed)


@lru_cache(maxsize=1)
def _key_marks() -> tuple[re.Pattern[str], re.Pattern[str]]:
    name = r" ?(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    body = r"(?P<body>[ \t]{0,8}(?:[\r\n]|\\+[nr]|[A-Za-z0-9+/=]{16}|\Z))?"
    return re.compile("-{4,5} ?BEGIN" + name + body), re.compile("-{4,5} ?END" + name)
