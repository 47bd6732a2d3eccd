"""Finds identifiers and numbers in a decision, and those that its session does not contain."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from decision_hooks.languages.table import in_any
from decision_hooks.text import markdown
from decision_hooks.text.cutting import one_line

MOST_ITEMS = 20
MOST_CHARACTERS = 120
_MOST_SPAN = 500  # characters of a span that are looked up

_TICKS = re.compile(r"`+")
_ENDING = re.compile(r"(?:\(\)|:\d+(?:-\d+)?|[,;])$")
_UNITS = (
    "%|‰|°|°C|x|×|k|K|M|px|pt|em|rem|dpi|fps|Hz|kHz|MHz|GHz|W|V|ns|µs|μs|us|ms|s|h|"
    "B|KB|kB|KiB|MB|MiB|GB|GiB|TB|TiB|Kb|Mb|Gb|kbps|Mbps|Gbps|MB/s|GB/s|rps|qps|req/s|tok/s|tps|USD|EUR|UAH|€"
)  # of all languages; the words are on their cards


def claims(text: str) -> tuple[str, ...]:
    """The claims of a text, once each and in order: backticked spans of one line, and numbers with a unit.

    Fenced code is left out; white space is folded; an ending such as ``()``, ``:12`` or a comma is cut.
    """
    lines = (line.text for line in markdown.lines(text) if not line.fenced)
    return tuple(dict.fromkeys(claim for line in lines for claim in _claims_of(line)))


def unverified(wanted: Sequence[str], known: Callable[[str], bool]) -> tuple[str, ...]:
    """The claims that are not known, at most 20 of at most 120 characters.

    ``known`` is asked with the claim as ``normal`` writes it.
    """
    found: list[str] = []
    for claim in wanted:
        if len(found) == MOST_ITEMS:
            break
        if not known(normal(claim)) and claim[:MOST_CHARACTERS] not in found:
            found.append(claim[:MOST_CHARACTERS].strip())
    return tuple(found)


def normal(text: str) -> str:
    """A text for look-up: white space folded, numbers without thousands' marks and with a decimal point."""
    import unicodedata

    text = one_line(unicodedata.normalize("NFC", text))
    text = re.sub(r"(?<=\d)[ ,_](?=\d{3}(?!\d))", "", text)
    return re.sub(r"(?<=\d),(?=\d)", ".", text)


def number_digits(claim: str) -> str:
    """The digits by which a number with a unit is looked up, "" for a claim of another kind."""
    match = _number().fullmatch(normal(claim))
    return (match[1] or match[2]) if match else ""


def _claims_of(line: str) -> Iterator[str]:
    spans, rest = _spans(line)
    for span in spans:
        claim = _cut(one_line(span[:_MOST_SPAN]))
        if re.search(r"\w", claim):
            yield claim
    if re.search(r"\d", rest):
        yield from (match[0] for match in _number().finditer(one_line(rest)))


def _spans(line: str) -> tuple[list[str], str]:
    """The backticked spans of a line, and the line without them."""
    if "`" not in line:
        return [], line
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(line)]
    closing: dict[int, list[int]] = {}  # length of a run -> its places, last first
    for index in range(len(runs) - 1, -1, -1):
        closing.setdefault(runs[index][1] - runs[index][0], []).append(index)
    spans, rest, end, index = [], [], 0, 0
    while index < len(runs):
        begin, after = runs[index]
        same = closing[after - begin]
        while same and same[-1] <= index:
            same.pop()
        if same:
            rest.append(line[end:begin])
            spans.append(line[after : runs[same[-1]][0]])
            end, index = runs[same[-1]][1], same[-1]
        index += 1
    return spans, " ".join([*rest, line[end:]])


def _cut(claim: str) -> str:
    while match := _ENDING.search(claim):
        claim = claim[: match.start()].rstrip()
    return claim


@lru_cache(maxsize=1)
def _number() -> re.Pattern[str]:
    number = r"(\d{1,3}(?:[ ,_\u00a0]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
    units = f"{_UNITS}|{in_any(lambda card: card.units)}"
    return re.compile(
        rf"(?<![\w.,:/#$€-])(?:{number}[ \u00a0-]?(?:{units})(?![\w/])|[$€] ?{number}(?![\w/]))"
    )
