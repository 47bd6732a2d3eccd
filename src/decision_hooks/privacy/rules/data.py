"""What shows that a record holds data: columns, sample rows, national numbers. On request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from decision_hooks.privacy.rules.hits import Hit, Text

_HIGH = frozenset(
    "ssn social_security national_id passport tax_id drivers_license credit_card card_number cvv "
    "account_number routing_number".split()
)
_ADVISORY = frozenset(
    "dob date_of_birth birth_date email phone address postal zip patient_id member_id mrn full_name first_name "
    "last_name salary compensation".split()
)
_SAMPLE_REACH = 50  # lines after the heading


def find_columns(t: Text) -> Iterator[Hit]:
    """Names of columns that hold personal data, in definitions and lists, once for each place."""
    offset = 0
    for line in t.raw.split("\n"):
        for start, end in sorted(set(_column_names(line))) if line.strip() else ():
            high = unify(line[start:end])
            if high in _HIGH or high in _ADVISORY:
                yield Hit("sensitive_column_name", offset + start, offset + end, high in _HIGH)
        offset += len(line) + 1


def find_sample_rows(t: Text) -> Iterator[Hit]:
    """Rows of a table or of JSON below a heading "Sample rows", up to a heading, a fence or a blank line."""
    offset, left, rows = 0, 0, 0
    heading, row, alignment = _row_patterns()
    for line in t.raw.split("\n"):
        stripped = line.strip()
        if stripped.startswith(("#", "```", "~~~")):
            left, rows = (_SAMPLE_REACH + 1 if heading.match(stripped) else 0), 0
        elif not stripped and rows:
            left = 0
        elif left and row.match(stripped) and not alignment.fullmatch(stripped):
            rows += 1
            start = offset + len(line) - len(line.lstrip())
            yield Hit("sample_row", start, start + len(stripped), high=False)
        left = max(0, left - 1)
        offset += len(line) + 1


def find_national_numbers(t: Text) -> Iterator[Hit]:
    """British national insurance and Canadian social insurance numbers. Advisory: their shapes are common."""
    for category, pattern in _national_numbers():
        for match in pattern.finditer(t.raw):
            yield Hit(category, match.start(), match.end(), high=False)


def unify(name: str) -> str:
    """One spelling for camelCase, kebab-case and snake_case."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).replace("-", "_").lower()


def _column_names(line: str) -> Iterator[tuple[int, int]]:
    for pattern in _column_patterns():
        for match in pattern.finditer(line):
            yield match.span("name")
    for listed in _column_list().finditer(line):
        for item in _list_item().finditer(line, listed.start(1), listed.end(1)):
            yield item.span("name")


@lru_cache(maxsize=1)
def _column_patterns() -> tuple[re.Pattern[str], ...]:
    name = r"(?P<name>[A-Za-z][A-Za-z0-9_-]{0,63})"
    quote = r"[\"'`]?"
    types = (
        r"(?:string|str|text|n?varchar2?|n?char|tinyint|smallint|bigint|integer|int\d{0,2}|number|numeric|decimal"
        r"|float\d{0,2}|double|real|money|bool(?:ean)?|bytes|blob|date|datetime|time|timestamp(?:tz)?|uuid|jsonb?"
        r"|object|array|null|any)"
    )
    suffix = r"(?:\([0-9, ]{0,12}\)|\[\]|\?)?"
    value = rf"(?:|\"[^\"]*\"|'[^']*'|-?[0-9]+(?:\.[0-9]+)?|{types}{suffix})"
    closes = (
        r"\s{0,4}(?:$|[(,);]|(?:not|null|primary|default|unique|references|check|constraint|collate)\b|--)"
    )
    return (
        re.compile(
            rf"(?<![\w-])(?:name|field|column){quote}\s{{0,4}}:\s{{0,4}}{quote}{name}{quote}\s{{0,4}}(?:$|[,}}\]#])",
            re.IGNORECASE,
        ),
        re.compile(
            rf"^\s*(?:[-*]\s{{1,4}})?{quote}{name}{quote}\s{{0,4}}:\s{{0,4}}{value}\s{{0,4}},?\s*(?:#.*)?$",
            re.IGNORECASE,
        ),
        re.compile(
            rf"(?:^\s*(?:[-*]\s{{1,4}})?|(?<=[(,])\s{{0,4}})[\[\"`]?{name}[\]\"`]?\s{{1,40}}{types}{suffix}(?!\w){closes}",
            re.IGNORECASE,
        ),
    )


@lru_cache(maxsize=1)
def _column_list() -> re.Pattern[str]:
    return re.compile(r"(?<![\w-])(?:columns|fields)[\"'`]?\s{0,4}[:=]\s{0,4}\[([^\]]*)", re.IGNORECASE)


@lru_cache(maxsize=1)
def _list_item() -> re.Pattern[str]:
    return re.compile(r"(?<![\w-])(?P<name>[A-Za-z][A-Za-z0-9_-]{0,63})(?![\w-])")


@lru_cache(maxsize=1)
def _row_patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    heading = re.compile(r"#{1,6}\s.*\b(?:sample|example|preview)\s{1,4}rows?\b", re.IGNORECASE)
    row = re.compile(r"\|.*\|?$|\[.*\],?$|\{.*\},?$")
    return heading, row, re.compile(r"[\s|:-]+")


@lru_cache(maxsize=1)
def _national_numbers() -> tuple[tuple[str, re.Pattern[str]], ...]:
    nino = r"(?<![A-Za-z0-9])[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D](?![A-Za-z0-9])"
    sin = r"(?<![\w.-])(?<![0-9] )[0-9]{3}([ -])[0-9]{3}\1[0-9]{3}(?![\w-])(?! [0-9])"
    return (("uk_national_insurance", re.compile(nino)), ("canadian_sin", re.compile(sin)))
