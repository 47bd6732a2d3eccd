"""Terms of the user's own that may not stand in a record: literal, without regard to case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from decision_hooks.privacy.rules.hits import Hit, ScanRefused, occurrences

MAX_DENYLIST = 64 * 1024  # bytes
MAX_TERMS = 1000
MIN_TERM = 3  # characters


def parse_denylist(data: bytes) -> tuple[str, ...]:
    """The terms of a denylist, one a line, unique without regard to case; raises ``ScanRefused``."""
    if len(data) > MAX_DENYLIST:
        raise ScanRefused("denylist_too_large", f"the denylist has more than {MAX_DENYLIST} bytes")
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ScanRefused("denylist_unreadable", "the denylist is not UTF-8") from None
    terms = list({line.strip().casefold(): line.strip() for line in lines if line.strip()}.values())
    if not terms:
        raise ScanRefused("denylist_empty", "the denylist holds no term")
    if any(len(term) < MIN_TERM for term in terms):
        raise ScanRefused(
            "denylist_term_too_short", f"a term of the denylist has less than {MIN_TERM} characters"
        )
    if len(terms) > MAX_TERMS:
        raise ScanRefused("denylist_too_large", f"the denylist has more than {MAX_TERMS} terms")
    return tuple(terms)


def find_terms(text: str, denylist: Sequence[str]) -> Iterator[Hit]:
    """Every place of every term, also within a word; ``ß`` and ``ss`` are the same."""
    folded = text.casefold()
    places = range(len(text) + 1) if len(folded) == len(text) else _places(text)
    for term in {term.casefold() for term in denylist}:
        done = 0
        for at in occurrences(folded, term):
            if at >= done:
                done = at + len(term)
                last = places[done - 1]
                yield Hit("denylist_term", places[at], last + 1)


def _places(text: str) -> list[int]:
    """For each character of the case-folded text, which character of the text it comes from."""
    return [at for at, char in enumerate(text) for _ in char.casefold()]
