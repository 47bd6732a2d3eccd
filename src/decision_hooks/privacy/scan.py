"""The scanner of sensitive content: what may not stand in a record, and the texts with it masked.

Rules: e-mail, phones, national numbers and secrets always; internal URLs, data and own terms on request.
A scan fails closed: what cannot be read whole is an error, never a clean report.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from decision_hooks.privacy.hits import Hit, Text, occurrences, read_text
from decision_hooks.privacy.report import Finding, Modes, Report, ScanRefused, as_json, failed, order, preview
from decision_hooks.privacy.rules.data import find_columns, find_national_numbers, find_sample_rows
from decision_hooks.privacy.rules.denylist import find_terms, parse_denylist
from decision_hooks.privacy.rules.hosts import find_internal_urls
from decision_hooks.privacy.rules.persons import (
    find_directives,
    find_mentions,
    find_personal,
    is_reserved_address,
)
from decision_hooks.privacy.rules.secrets import find_secrets

__all__ = [
    "Finding",
    "Masked",
    "Modes",
    "Report",
    "ScanRefused",
    "as_json",
    "climbs",
    "failed",
    "mask",
    "parse_denylist",
    "redact",
    "scan",
    "scan_sources",
]

MAX_INPUT = 5 * 1024 * 1024  # bytes, all sources together


class Masked(NamedTuple):
    """A text with its findings replaced by ``[category]``, and how many of each category."""

    text: str
    counts: dict[str, int]


def scan(
    text: str, source: str = "", *, public: bool = False, data: bool = False, denylist: Sequence[str] = ()
) -> list[Finding]:
    """All findings of a text, sorted by line, column and category; lines of any length are read whole."""
    t = read_text(text)
    hits = _standing(t)
    hits.extend(find_mentions(t))
    hits.extend(find_directives(t))
    if public:
        hits.extend(find_internal_urls(t))
    if data:
        for rule in (find_columns, find_sample_rows, find_national_numbers):
            hits.extend(rule(t))
    if denylist:
        hits.extend(find_terms(text, denylist))
    return _findings(text, source, hits)


def scan_sources(
    sources: Sequence[tuple[str, bytes]],
    *,
    public: bool = False,
    data: bool = False,
    denylist: Sequence[str] | None = None,
) -> Report:
    """Scan named contents as one run: each must be UTF-8, all together at most 5 MiB, else an error."""
    modes = Modes(public, data, denylist is not None)
    terms = tuple(denylist or ())
    try:
        if modes.denylist and not terms:
            raise ScanRefused("denylist_empty", "the denylist holds no term")
        if sum(len(content) for _, content in sources) > MAX_INPUT:
            raise ScanRefused("input_too_large", f"more than {MAX_INPUT} bytes to scan")
        texts = [(name, _decode(name, content)) for name, content in sources]
    except ScanRefused as refusal:
        return failed(refusal.code, str(refusal), modes)
    findings = [
        finding
        for name, text in texts
        for finding in scan(text, name, public=public, data=data, denylist=terms)
    ]
    return Report(modes, tuple(sorted(findings, key=order)), len(terms))


def climbs(path: str) -> bool:
    """Whether a path has a ``..`` segment, with either slash: such a source is a ``path_error``."""
    return ".." in path.replace("\\", "/").split("/")


def redact(text: str, findings: Iterable[Finding]) -> Masked:
    """The text with each finding of high confidence replaced by ``[category]``."""
    return _replace(text, [(f.start, f.end, f.category) for f in findings if f.confidence == "high"])


def mask(text: str, *, every: bool = False) -> Masked:
    """The text as it may be written unattended: personal data and secrets are replaced.

    Masking again changes nothing. Addresses of example domains stay: they are nobody's. ``every`` masks
    advisory findings as well, and what is else looked for on request: URLs, mentions, national numbers.
    """
    counts: dict[str, int] = {}
    while True:
        t = read_text(text)
        hits = [hit for hit in _maskable(t, every) if hit.high or every]
        step = _replace(text, [(hit.start, hit.end, hit.category) for hit in hits])
        if not step.counts:
            return Masked(text, counts)
        # A mask may end a run, so that what follows it is read anew.
        text = step.text
        for category, count in step.counts.items():
            counts[category] = counts.get(category, 0) + count


def _maskable(t: Text, every: bool) -> Iterator[Hit]:
    for hit in _standing(t):
        if hit.category != "email_address" or not is_reserved_address(t.raw[hit.start : hit.end]):
            yield hit
    if every:
        for rule in (find_internal_urls, find_mentions, find_national_numbers):
            yield from rule(t)


def _standing(t: Text) -> list[Hit]:
    """The rules that are always on, without what stands whole within a secret."""
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


def _findings(text: str, source: str, hits: Iterable[Hit]) -> list[Finding]:
    line_starts = [0]
    line_starts.extend(at + 1 for at in occurrences(text, "\n"))
    findings = []
    for hit in hits:
        line = bisect_right(line_starts, hit.start)
        column = hit.start - line_starts[line - 1] + 1
        shown = preview(hit.category, text[hit.start : hit.end])
        confidence = "high" if hit.high else "warn"
        findings.append(
            Finding(
                source,
                line,
                column,
                hit.category,
                confidence,
                shown,
                hit.end - hit.start,
                hit.start,
                hit.end,
            )
        )
    return sorted(findings, key=order)


def _replace(text: str, spans: list[tuple[int, int, str]]) -> Masked:
    """Spans that overlap become one, named after the first of them."""
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


def _decode(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ScanRefused("decode_error", f"{name} is not UTF-8") from None
