"""The report of a scan: values, error codes, and the JSON that is printed."""

from __future__ import annotations

from typing import NamedTuple

from decision_hooks.errors import DecisionHooksError
from decision_hooks.privacy.rules.secrets import CATEGORIES as SECRET_CATEGORIES

SCHEMA_VERSION = 1
_REDACTED = SECRET_CATEGORIES | {"denylist_term", "sample_row"}


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


class ScanRefused(DecisionHooksError):
    """A source or a denylist cannot be scanned; ``code`` is the error code of the report."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def failed(code: str, message: str, modes: Modes) -> Report:
    """The report of a scan that could not be completed; it holds no findings."""
    return Report(modes, error_code=code, error_message=message)


def as_json(report: Report) -> dict[str, object]:
    """The report as the JSON object that is printed; no secret is in it."""
    body: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
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


def order(finding: Finding) -> tuple[str, int, int, str]:
    """The key by which findings are sorted."""
    return finding.source, finding.line, finding.column, finding.category


def preview(category: str, found: str) -> str:
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
