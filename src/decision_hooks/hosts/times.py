"""Time stamps of the hosts as seconds since the epoch; 0.0 for what is no time."""

from __future__ import annotations

import re
from functools import cache, lru_cache

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def from_iso(text: object) -> float:
    """An ISO 8601 time stamp such as ``2026-11-30T02:40:41.103Z``; without a zone it is UTC."""
    match = _iso().match(text) if isinstance(text, str) else None
    if not match:
        return 0.0
    day, hour, minute, second, fraction, zone = match.groups()
    seconds = int(hour) * 3600 + int(minute) * 60 + int(second)
    return _day(day) + seconds + float(f"0.{fraction or 0}") - _zone(zone) if _day(day) else 0.0


def from_words(text: str) -> float:
    """A time as Cursor writes it: ``Monday, May 4, 2026, 12:39 AM (UTC+5:30)``; without a zone it is UTC."""
    match = _words().search(text)
    if not match:
        return 0.0
    month, day, year, hour, minute, half, zone = match.groups()
    number = month[:3].lower()
    if number not in _MONTHS:
        return 0.0
    date = _day(f"{year}-{_MONTHS.index(number) + 1:02}-{int(day):02}")
    hours = int(hour) % 12 + (12 if half.upper() == "PM" else 0) if half else int(hour)
    return date + hours * 3600 + int(minute) * 60 - _zone(zone) if date else 0.0


@cache
def _iso() -> re.Pattern[str]:
    return re.compile(
        r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}):([0-9]{2}):([0-9]{2})"
        r"(?:\.([0-9]{1,9}))?(Z|[+-][0-9]{2}:?[0-9]{2})?"
    )


@cache
def _words() -> re.Pattern[str]:
    return re.compile(
        r"([A-Z][a-z]{2,8}) ([0-9]{1,2}), ([0-9]{4}),? (?:at )?([0-9]{1,2}):([0-9]{2})(?:\s?([AaPp][Mm]))?"
        r"(?: \((?:UTC|GMT)([+-][0-9]{1,2}(?::?[0-9]{2})?)?\))?"
    )


@lru_cache(maxsize=64)
def _day(date: str) -> float:
    """Seconds from the epoch to the beginning of a day, 0.0 for no date; years begin in March here."""
    year, month, day = int(date[:4]), int(date[5:7]), int(date[8:10])
    if not (year >= 1970 and 1 <= month <= 12 and 1 <= day <= 31):
        return 0.0
    year -= month <= 2
    shifted = (month + 9) % 12
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * shifted + 2) // 5 + day - 1
    return (days - 719468) * 86400.0


def _zone(text: str | None) -> int:
    if not text or text == "Z":
        return 0
    hours, _, minutes = text[1:].partition(":")
    if not minutes and len(hours) > 2:
        hours, minutes = hours[:-2], hours[-2:]
    seconds = int(hours) * 3600 + int(minutes or 0) * 60
    return -seconds if text[0] == "-" else seconds
