"""Texts as they may be written or sent: personal data, secrets and the home folder are replaced."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from decision_hooks.privacy.rules.data import find_national_numbers
from decision_hooks.privacy.rules.hits import Hit, Text, read_text
from decision_hooks.privacy.rules.persons import find_mentions, find_personal, is_reserved_address
from decision_hooks.privacy.rules.secrets import find_secrets
from decision_hooks.privacy.rules.urls import find_internal_urls


class Masked(NamedTuple):
    """A text with its findings replaced by ``[category]``, and how many of each category."""

    text: str
    counts: dict[str, int]


def outgoing(text: str, home: str) -> str:
    """The text as it may leave the machine: masked, every mention of the home folder as ``~``."""
    return home_as_tilde(mask(text).text, home)


def outgoing_all(texts: Sequence[str], home: str) -> list[str]:
    """Each text as ``outgoing`` gives it; all are read in one pass, and only those with a finding once more."""
    joined = _BETWEEN.join(texts)
    t = read_text(joined)
    ends = [0]
    for text in texts:
        ends.append(ends[-1] + len(text) + len(_BETWEEN))
    found: set[int] = set()
    for hit in (*find_secrets(t), *find_personal(t)):
        found.update(range(bisect_right(ends, hit.start) - 1, bisect_right(ends, hit.end - 1)))
    return [
        home_as_tilde(mask(text).text if number in found else text, home) for number, text in enumerate(texts)
    ]


_BETWEEN = "\n\0\n"  # no rule reads over it, but one: a key without its end, and that reads all behind it


def mask(text: str, *, every: bool = False) -> Masked:
    """The text as it may be written unattended: personal data and secrets are replaced.

    Masking again changes nothing. Addresses of example domains stay: they are nobody's. ``every`` masks
    advisory findings as well, and what is else looked for on request: URLs, mentions, national numbers.
    """
    counts: dict[str, int] = {}
    while True:
        t = read_text(text)
        hits = [hit for hit in _maskable(t, every) if hit.high or every]
        step = replaced(text, [(hit.start, hit.end, hit.category) for hit in hits])
        if not step.counts:
            return Masked(text, counts)
        # A mask may end a run, so that what follows it is read anew.
        text = step.text
        for category, count in step.counts.items():
            counts[category] = counts.get(category, 0) + count


def home_as_tilde(text: str, home: str) -> str:
    """The text with every mention of the home folder as ``~``."""
    home = home.rstrip("/")
    if len(home) < 2 or home not in text:
        return text
    return re.sub(re.escape(home) + r"(?![\w-])", "~", text)


def _maskable(t: Text, every: bool) -> Iterator[Hit]:
    for hit in standing(t):
        if not hit.bare and not _is_nobodys(t, hit):
            yield hit
    if every:
        for rule in (find_internal_urls, find_mentions, find_national_numbers):
            yield from rule(t)


def _is_nobodys(t: Text, hit: Hit) -> bool:
    return hit.category == "email_address" and is_reserved_address(t.raw[hit.start : hit.end])


def standing(t: Text) -> list[Hit]:
    """The rules that are always on, without hits that are whole within a secret."""
    return _without_covered([*find_secrets(t), *find_personal(t)])


def _without_covered(hits: list[Hit]) -> list[Hit]:
    precise = [hit for hit in hits if hit.core < 0]
    by_value = [hit for hit in hits if hit.core >= 0]
    kept = _outermost(precise)
    covers = [(hit.start, hit.end) for hit in kept if not hit.open]
    starts = [start for start, _ in covers]
    for hit in by_value:
        # "token=ghp_...": the name adds nothing to the token that is known by its shape.
        at = bisect_right(starts, hit.core) - 1
        if at < 0 or covers[at][1] < hit.end:
            kept.append(hit)
    return _outermost(kept)


def _outermost(hits: list[Hit]) -> list[Hit]:
    kept: list[Hit] = []
    reach = -1
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end, hit.category)):
        if hit.end > reach:
            kept.append(hit)
            reach = reach if hit.open else hit.end
    return kept


def replaced(text: str, spans: list[tuple[int, int, str]]) -> Masked:
    """The text with ``[category]`` in place of each span; spans that overlap become one, named after the first."""
    pieces: list[str] = []
    counts: dict[str, int] = {}
    done = 0
    for start, end, category in sorted(spans, key=lambda span: (span[0], -span[1], span[2])):
        if start >= done:
            pieces += (text[done:start], f"[{category}]")
            counts[category] = counts.get(category, 0) + 1
        done = max(done, end)
    pieces.append(text[done:])
    return Masked("".join(pieces), counts)
