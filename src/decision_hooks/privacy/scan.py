"""The scanner of sensitive content: what must not be in a record, and the report of a scan.

Rules: e-mail, phones, national numbers and secrets always; internal URLs, data and own terms on request.
A scan fails closed: what cannot be read whole is an error, never a clean report.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from decision_hooks.privacy.mask import Masked, replaced, standing
from decision_hooks.privacy.rules.data import find_columns, find_national_numbers, find_sample_rows
from decision_hooks.privacy.rules.denylist import find_terms
from decision_hooks.privacy.rules.hits import Hit, ScanRefused, occurrences, read_text
from decision_hooks.privacy.rules.persons import (
    find_directives,
    find_mentions,
)
from decision_hooks.privacy.rules.secrets import CATEGORIES
from decision_hooks.privacy.rules.urls import find_internal_urls

_VERSION = 1  # of the printed report
_REDACTED = CATEGORIES | {"denylist_term", "sample_row"}
MAX_INPUT = 5 * 1024 * 1024  # bytes, all sources together


class Finding(NamedTuple):
    """One place that a rule names; ``line`` and ``column`` count from 1, ``match`` never shows a secret."""

    source: str
    line: int
    column: int  # in characters
    category: str
    confidence: str  # high | warn
    match: str
    length: int  # of the whole match, in characters
    start: int  # offsets in the text, for masking
    end: int


class Modes(NamedTuple):
    """What was asked of a scan; a caller compares it with what it meant to ask."""

    public: bool = False
    data: bool = False
    denylist: bool = False


class Report(NamedTuple):
    """The outcome of one scan: completed with findings, or an error and no finding."""

    modes: Modes
    findings: tuple[Finding, ...] = ()
    denylist_rule_count: int = 0
    error_code: str = ""
    error_message: str = ""

    @property
    def high(self) -> int:
        """Number of findings that block a write."""
        return sum(finding.confidence == "high" for finding in self.findings)

    @property
    def exit_code(self) -> int:
        """0 clean or advisory only, 1 a finding of high confidence, 2 not completed."""
        return 2 if self.error_code else int(self.high > 0)


def scan(
    text: str, source: str = "", *, public: bool = False, data: bool = False, denylist: Sequence[str] = ()
) -> list[Finding]:
    """All findings of a text, sorted by line, column and category; lines of any length are read whole."""
    t = read_text(text)
    hits = standing(t)
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
    return Report(modes, tuple(sorted(findings, key=_order)), len(terms))


def climbs(path: str) -> bool:
    """Whether a path has a ``..`` segment, with either slash: such a source is a ``path_error``."""
    return ".." in path.replace("\\", "/").split("/")


def redact(text: str, findings: Iterable[Finding]) -> Masked:
    """The text with each finding of high confidence replaced by ``[category]``."""
    return replaced(text, [(f.start, f.end, f.category) for f in findings if f.confidence == "high"])


def _findings(text: str, source: str, hits: Iterable[Hit]) -> list[Finding]:
    line_starts = [0]
    line_starts.extend(at + 1 for at in occurrences(text, "\n"))
    findings = []
    for hit in hits:
        line = bisect_right(line_starts, hit.start)
        column = hit.start - line_starts[line - 1] + 1
        shown = _preview(hit.category, text[hit.start : hit.end])
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
    return sorted(findings, key=_order)


def _decode(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ScanRefused("decode_error", f"{name} is not UTF-8") from None


# -- the report


def failed(code: str, message: str, modes: Modes) -> Report:
    """The report of a scan that could not be completed; it holds no findings."""
    return Report(modes, error_code=code, error_message=message)


def as_json(report: Report) -> dict[str, object]:
    """The report as the JSON object that is printed; no secret is in it."""
    body: dict[str, object] = {
        "schema_version": _VERSION,
        "status": "error" if report.error_code else "completed",
    }
    if report.error_code:
        body["error"] = {"code": report.error_code, "message": report.error_message}
    body["modes"] = report.modes._asdict()
    body["denylist_rule_count"] = report.denylist_rule_count
    body["findings"] = [_finding_as_json(finding) for finding in report.findings]
    total = len(report.findings)
    body["summary"] = {"high": report.high, "warn": total - report.high, "total": total}
    return body


def _order(finding: Finding) -> tuple[str, int, int, str]:
    """The key by which findings are sorted."""
    return finding.source, finding.line, finding.column, finding.category


def _preview(category: str, found: str) -> str:
    """What a finding may show of its match: at most the first four and the last two characters."""
    if category in _REDACTED:
        return "[redacted]"
    return found[:1] + "***" if len(found) <= 8 else found[:4] + "***" + found[-2:]


def _finding_as_json(finding: Finding) -> dict[str, object]:
    body: dict[str, object] = {
        "source": finding.source,
        "line": finding.line,
        "column": finding.column,
        "category": finding.category,
        "confidence": finding.confidence,
        "match": finding.match,
    }
    if finding.category in _REDACTED:
        body["length"] = finding.length
    return body
