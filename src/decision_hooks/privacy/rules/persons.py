"""Finds what identifies a person: e-mail addresses, phone and national numbers; also mentions and directives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from decision_hooks.languages.table import in_any
from decision_hooks.privacy.rules.hits import Hit, Text, anchored, start_of_run

# Endings of files and of systemd units, no top level domains ("icon@2x.png", "getty@tty1.service").
_NO_DOMAIN = frozenset(
    "png jpg jpeg gif svg webp ico js ts tsx jsx mjs cjs json css scss less html txt yml yaml toml lock tgz gz "
    "tar xml php exe dll vue service socket timer mount target".split()
)
_STAMP = r"[23]\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d"  # YYMMDDHHMM
_DOMAIN = r"@((?:[\w-]{1,63}\.)+[^\W\d_]{2,24})(?![^\W_])"
_MENTION = r"@(?<![\w@/.`\\-]@)([A-Za-z](?:[A-Za-z0-9_-]{0,37}[A-Za-z0-9])?)(?![\w/@(`-]|\.\w)"
_NO_PERSON = frozenset(("noreply", "no-reply", "donotreply", "do-not-reply"))
_RESERVED = (".example", ".test", ".invalid", ".localhost", "example.com", "example.org", "example.net")
_LIMITS = frozenset(("2147483647", "2147483648", "4294967295", "4294967296"))  # of 32 bit numbers
_TAGS = frozenset(
    "param returns return type throws deprecated see since todo property override import media charset here "
    "channel everyone all latest next".split()
)


def find_personal(t: Text) -> list[Hit]:
    """E-mail addresses, phone numbers and national numbers; bare numbers that may be phones are advisory."""
    return [*_emails(t), *_international(t), *_numbers(t), *_tax_numbers(t)]


def find_mentions(t: Text) -> Iterator[Hit]:
    """``@name`` outside of code: a record is about roles, not people. Advisory."""
    if "@" not in t.raw:
        return
    offset, fenced = 0, False
    for line in t.raw.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and "@" in line:
            yield from _mentions_of_line(line, offset)
        offset += len(line) + 1


def find_directives(t: Text) -> Iterator[Hit]:
    """Orders to the reader of a quoted text ("ignore all rules"); they are reported, never followed. Advisory."""
    anchors = f"set |{in_any(lambda card: card.ignore)}|{in_any(lambda card: card.skip)}".split("|")
    for match in anchored(t, anchors, _directive):
        yield Hit("embedded_directive", match.start(), match.end(), high=False)


def is_reserved_address(address: str) -> bool:
    """Whether an e-mail address is of a domain that is reserved for examples (RFC 2606): nobody's."""
    domain = "." + address.rpartition("@")[2].lower()
    return any(domain.endswith("." + name.lstrip(".")) for name in _RESERVED)


def _emails(t: Text) -> Iterator[Hit]:
    if "@" not in t.raw:
        return
    for match in re.finditer(_DOMAIN, t.raw):
        start = start_of_run(t.raw, match.start(), re.compile(r"[\w.%+'-]*"), 64)
        while start < match.start() and t.raw[start] in ".%+-'":
            start += 1
        if start < match.start() and _is_address(t.raw, start, match):
            yield Hit("email_address", start, match.end())


def _is_address(text: str, start: int, match: re.Match[str]) -> bool:
    local, domain = text[start : match.start()].lower(), match.group(1).lower()
    after = text[match.end() : match.end() + 1]
    if local in _NO_PERSON or domain == "users.noreply.github.com":
        return False
    if text.endswith("://", 0, start) or (local == "git" and after in (":", "/")):
        return False  # the user of an address of a server
    is_version = re.match(r"v?[0-9]+\.[0-9]", domain) is not None
    return not is_version and after != "(" and domain.rpartition(".")[2] not in _NO_DOMAIN


def _international(t: Text) -> Iterator[Hit]:
    for match in _e164().finditer(t.raw):
        text = match.group()
        digits = re.sub(r"[^0-9]", "", text)
        # A country code of 1 has eleven digits; the rest are time stamps and numbers of a diff's new lines.
        odd = digits.startswith("1") and len(digits) != 11
        date = re.match(r"\+(?:(?:19|20)[0-9]{2}-[01][0-9]-[0-3][0-9]|[0-9]{6}-[0-9]{4}$)", text)
        if not odd and not date and not re.fullmatch(r"\+[0-9]+\.[0-9]+", text):
            yield Hit("phone_number", match.start(), match.end())


@lru_cache(maxsize=1)
def _e164() -> re.Pattern[str]:
    gap = r"(?:[ \u00a0.-]?[()]?[ \u00a0.-]?)"
    return re.compile(
        r"\+(?:(?<![\w+]\+)|(?<=\\[nrt]\+))\(?[1-9](?:" + gap + r"[0-9]){9,14}(?!" + gap + r"[0-9]|-?[^\W\d])"
    )


def _numbers(t: Text) -> Iterator[Hit]:
    found = list(_number_matches(t)) if b"000" in t.kinds else []
    starts, ends = {match.start() for match in found}, {match.end() for match in found}
    for match in found:
        if not _stands_alone(t.raw, match, starts, ends):
            continue
        shape, number = match.lastgroup, match.group()
        if shape == "ssn":
            if not re.match(r"9|000|666|.{3}-00|.{6}-0000", number):  # never assigned
                yield Hit("national_identifier", match.start(), match.end())
        elif shape == "phone":
            yield Hit("phone_number", match.start(), match.end())
        elif number not in _LIMITS and not re.fullmatch(_STAMP, number):
            yield Hit("phone_number", match.start(), match.end(), high=False)


def _number_matches(t: Text) -> Iterator[re.Match[str]]:
    """The shapes of numbers where digits begin, with three in a row near by: far cheaper than to read all digits."""
    kinds, done, shapes = t.kinds, 0, _number_shapes()
    places = [at + 1 for before in (b" 000", b"_000") for at in _all(kinds, before)]
    if kinds.startswith(b"000"):
        places.append(0)
    if "\\" in t.raw:
        places += [match.end() for match in _escaped().finditer(t.raw)]
    places.sort()
    for at in places:
        behind = kinds[at + 3 : at + 4]
        mark = behind in (b" ", b"_") and b"0" in kinds[at + 4 : at + 6]
        if at >= done and (mark or kinds[at : at + 9] == b"0" * 9):
            for begin in range(max(0, done, at - 4), at + 1):
                # A code of a country or of long distance before the group: 8 (913), 1-425.
                match = shapes.match(t.raw, begin) if begin == at or t.raw[begin] in "178" else None
                if match:
                    yield match
                    done = match.end()
                    break


@lru_cache(maxsize=1)
def _escaped() -> re.Pattern[str]:
    return re.compile(r"\\[nrt](?=[0-9]{3})")


def _all(kinds: bytes, needle: bytes) -> Iterator[int]:
    at = kinds.find(needle)
    while at >= 0:
        yield at
        at = kinds.find(needle, at + 1)


def _stands_alone(text: str, match: re.Match[str], starts: set[int], ends: set[int]) -> bool:
    """Whether no other digits are beside a number, or only such that are a number themselves: a list of numbers."""
    start = match.start()
    if start > 1 and text[start - 1] == " " and text[start - 2].isdigit() and start - 1 not in ends:
        return False
    end = match.end()
    after = match.lastgroup == "phone" and text[end : end + 1] == " " and text[end + 1 : end + 2].isdigit()
    return not after or end + 1 in starts


@lru_cache(maxsize=1)
def _number_shapes() -> re.Pattern[str]:
    begins = r"[0-9](?:(?<![\w+-][0-9])(?<![0-9][.,][0-9])|(?<=\\[nrt][0-9]))"
    # The first digit is read by then: it is looked back at, since a rule that begins with a class is found fast.
    d = "[0-9]"
    nanp = rf"(?:(?<=1)[ .-]\(?[2-9]|(?<=[2-9])){d}{d}(?:\)[ .-]?|[ .-])[2-9]{d}{d}[ .-]{d}{{4}}(?!\.{d})"
    ua = rf"(?<=0)[3-9]{d}(?:\)[ -]?|[ -]){d}{{3}}[ -]{d}{d}[ -]{d}{d}"
    ru = rf"(?:(?<=8)(?:[ -]\(?|\()|(?<=7) ?\(){d}{{3}}\)?[ -]?{d}{{3}}[ -]{d}{d}[ -]{d}{d}"
    ssn = rf"{d}{d}-{d}{d}-{d}{{4}}"
    bare = rf"(?:(?<=[78]){d}{{10}}|(?<=3)80{d}{{9}}|(?<=0)[3-9]{d}{{8}}|(?<=[2-9]){d}{d}[2-9]{d}{{6}})(?![.,]{d})"
    ends = r"(?![\w-])"
    return re.compile(rf"{begins}(?:(?P<phone>{nanp}|{ua}|{ru})|(?P<ssn>{ssn})|(?P<bare>{bare})){ends}")


def _tax_numbers(t: Text) -> Iterator[Hit]:
    done = 0
    for at in _all(t.kinds, b"0" * 10):
        if at >= done:
            for match in _tax_number().finditer(t.raw, max(done, at - _TAX_REACH), at + 13):
                yield Hit("national_identifier", match.start(1), match.end(1))
            done = at + 10


_TAX_REACH = 80  # characters of the name of a number and of the words behind it


@lru_cache(maxsize=1)
def _tax_number() -> re.Pattern[str]:
    gap = rf"(?:[ \t:=№#.,(\"'-]|{in_any(lambda card: card.number_words)}){{0,6}}"
    names = in_any(lambda card: card.tax_numbers)
    return re.compile(rf"(?<!\w)(?:{names}){gap}([0-9]{{10}}(?:[0-9]{{2}})?)(?![\w-])", re.IGNORECASE)


def _mentions_of_line(line: str, offset: int) -> Iterator[Hit]:
    ticks, seen = 0, 0
    for match in re.finditer(_MENTION, line):
        ticks += line.count("`", seen, match.start())
        seen = match.start()
        in_code = ticks % 2 == 1
        if not in_code and match.group(1).lower() not in _TAGS:
            yield Hit("person_mention", offset + match.start(), offset + match.end(), high=False)


@lru_cache(maxsize=1)
def _directive() -> re.Pattern[str]:
    ignore, previous = in_any(lambda card: card.ignore), in_any(lambda card: card.previous)
    instructions = in_any(lambda card: card.instructions)
    skip, articles = in_any(lambda card: card.skip), in_any(lambda card: card.articles)
    confirmation = in_any(lambda card: card.confirmation)
    return re.compile(
        rf"(?:{ignore})\s{{1,4}}(?:(?:{previous})\s{{1,4}}){{1,5}}(?:{instructions})"
        r"|set\s{1,4}(?:the\s{1,4})?autonomy(?:\s{1,4}(?:tier|level|mode))?\s{1,4}to\s{1,4}[\"'`]?full"
        rf"|(?:{skip})\s{{1,4}}(?:(?:{articles})\s{{1,4}}){{0,3}}(?:{confirmation})",
        re.IGNORECASE,
    )
