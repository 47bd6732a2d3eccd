"""Names of files in the folder: slugs, times, and which names a record can have. All are safe file names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

MOST_CHARACTERS = 60  # of a slug
_MOST_NAME_BYTES = 255  # what file systems take
_MOST_SLUG_BYTES = 220  # leaves room for the time, a number and the suffix
_SUFFIX = ".md"

_TIME = re.compile(r"(?:([0-9]{2})([0-9]{2})([0-9]{2})-([0-9]{2})([0-9]{2})|"
                   r"([0-9]{4})([0-9]{2})([0-9]{2})-([0-9]{2})([0-9]{2})([0-9]{2}))-")  # fmt: skip
_NOT_PLAIN = re.compile(r"[/\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


# -- making names


def slug(title: str, limit: int = MOST_CHARACTERS) -> str:
    """The title as part of a name: lower case words of any script, joined by hyphens; "" without any word.

    In-word apostrophes go, marks stay with their letters, and the cut falls between words where it can.
    """
    import unicodedata

    from slugify import slugify

    text = title[: 20 * limit].encode("utf-8", "replace").decode("utf-8")
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text).lower())
    marks = {char for char in text if unicodedata.category(char)[0] == "M" and not _selects_style(char)}
    text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    # A class of these marks alone: python-slugify's own pattern would split words at them.
    word = rf"[^\W_{''.join(re.escape(mark) for mark in sorted(marks))}]" if marks else r"[^\W_]"
    kept = "".join(re.escape(mark) for mark in sorted(marks))
    text = re.sub(rf"(?<=[\w{kept}])['\u2019\u02bc](?=[\w{kept}])", "", text).replace("\u02bc", " ")
    text = slugify(text, allow_unicode=True, regex_pattern=rf"[^\w{kept}]+|_+")
    if marks:  # a mark without its letter is no word
        text = re.sub(rf"(?:(?<=-)|^)[{kept}]+", "", text)
    text = unicodedata.normalize("NFC", re.sub(r"-{2,}", "-", text).strip("-"))
    return _cut(text, limit) if re.search(word, text) else ""


def draft_stem(when: datetime, title: str, session_id: str) -> str:
    """The name of a draft without suffix: ``YYMMDD-HHMM-<slug>``; without a title, the session id shortened."""
    return f"{when:%y%m%d-%H%M}-{slug(title) or slug(session_id[:8]) or 'session'}"


def numbered(stem: str, number: int) -> str:
    """The stem with ``-2``, ``-3`` for the second and third file of this name."""
    ending = "" if number < 2 else f"-{number}"
    room = _MOST_NAME_BYTES - len(_SUFFIX) - len(ending)
    return stem.encode("utf-8", "replace")[:room].decode("utf-8", "ignore").rstrip("-") + ending


def _selects_style(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _cut(text: str, limit: int) -> str:
    import unicodedata

    end = min(len(text), limit)
    while len(text[:end].encode("utf-8")) > _MOST_SLUG_BYTES:
        end -= 1
    if end == len(text):
        return text
    if text[end] != "-" and "-" in text[:end]:
        end = text.rindex("-", 0, end)
    elif text[end] != "-":  # one long word: never a letter without its marks
        while end > 1 and unicodedata.category(text[end])[0] == "M":
            end -= 1
    return text[:end].strip("-")


# -- reading names


def time_prefix(name: str) -> str:
    """The ``YYMMDD-HHMM-`` or ``YYYYMMDD-HHMMSS-`` that a name begins with, if it is a real time; else ""."""
    match = _TIME.match(name)
    return match[0] if match and _parts(name) else ""


def order_key(name: str) -> tuple[int, str, str]:
    """Sorts names by the time in them, whatever its form; names without a time come last."""
    parts = _parts(name)
    return (0, "".join(parts), name) if parts else (1, "", name)


def day_of(name: str) -> str | None:
    """The day in a name, ``YYYY-MM-DD``."""
    parts = _parts(name)
    return "-".join(parts[:3]) if parts else None


def is_plain_name(name: str) -> bool:
    """Whether a name is a visible Markdown file's: no path, no control character, no line separator."""
    return (
        name.endswith(_SUFFIX)
        and name != _SUFFIX
        and name[0] not in "._"
        and not _NOT_PLAIN.search(name)
        and len(name.encode("utf-8", "surrogatepass")) <= _MOST_NAME_BYTES
    )


def is_record_name(name: str) -> bool:
    """Whether a plain name can be a record's: not a readme, an index or a template.

    Our programs made a name that begins with a time: its title may mention templates.
    """
    return _is_no_guide(name) and ("template" not in name.lower() or bool(time_prefix(name)))


def is_target_name(name: str) -> bool:
    """Whether a file may be a merge target by its exact name: also a record about templates."""
    words = re.split(r"[^\w]+", name.lower().removesuffix(_SUFFIX))
    return _is_no_guide(name) and (
        is_record_name(name) or not {words[0], words[-1]} & {"template", "templates"}
    )


def _is_no_guide(name: str) -> bool:
    return is_plain_name(name) and name.lower().split(".")[0] not in ("readme", "index")


def _parts(name: str) -> list[str]:
    """Year, month, day, hour, minute, second as digits; empty when the name begins with no real time."""
    match = _TIME.match(name)
    if match is None:
        return []
    groups = [group for group in match.groups() if group is not None]
    if len(groups) == 5:
        groups = ["20" + groups[0], *groups[1:], "00"]
    year, month, day, hour, minute, second = (int(group) for group in groups)
    if not (1 <= month <= 12 and 1 <= day <= _DAYS[month - 1] and hour < 24 and minute < 60 and second < 60):
        return []
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return [] if year == 0 or (month == 2 and day == 29 and not leap) else groups
