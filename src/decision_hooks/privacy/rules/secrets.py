"""Secrets: tokens of known shape, credentials in URIs, key blocks. Always on, all of high confidence.

Every rule starts at a literal, and every repetition in it is bounded or consumed once, so that the time
stays proportional to the length of any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from decision_hooks.privacy.rules.hits import (
    WORD_START,
    Hit,
    Text,
    anchored,
    is_placeholder,
    is_sample_token,
    occurrences,
    start_of_run,
    trim_punctuation,
)
from decision_hooks.privacy.rules.urls import find_connections, find_jdbc, find_signed_urls, find_uris

CATEGORIES = frozenset(
    (
        "connection_string",
        "jdbc_odbc_uri",
        "db_uri_with_credentials",
        "storage_key",
        "bearer_token",
        "sas_token",
        "private_key_block",
        "cloud_access_key_id",
        "source_control_token",
        "chat_webhook_token",
        "web_token",
        "generic_secret_assignment",
    )
)

_TOKEN_HEAD = 256  # characters of a token that may show it to be a sample
_KEY_REACH = 20_000  # characters; a key of 16,384 bits has 12,500: a farther END belongs to something else
# Words in the name of a secret.
_NAMES = (
    "api_key", "api-key", "apikey", "secret", "passw", "passphrase", "token", "access_key", "access-key",
    "accesskey", "private_key", "private-key", "privatekey", "account_key", "accountkey", "_auth",
)  # fmt: skip
_FEW_DIGITS = 4  # names of files and members carry a version or a year, random values carry more

# category, the literals that a token begins with, what follows them
_TOKENS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "cloud_access_key_id",
        ("AKIA", "ASIA", "AGPA", "AIDA", "AROA", "ANPA", "ANVA"),
        r"[A-Z0-9]{16}(?![A-Za-z0-9])",
    ),
    ("cloud_access_key_id", ("AIza",), r"[A-Za-z0-9_-]{35,}"),
    ("cloud_access_key_id", ("hf_",), r"[A-Za-z0-9]{30,}"),
    ("cloud_access_key_id", ("sk_live_", "rk_live_", "sk_test_", "rk_test_"), r"[A-Za-z0-9]{16,}"),
    ("cloud_access_key_id", ("sk-",), r"(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{20,}"),
    (
        "cloud_access_key_id",
        ("sk-ant-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-"),
        r"[A-Za-z0-9_-]{16,}",
    ),
    ("source_control_token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"[A-Za-z0-9]{36,}"),
    ("source_control_token", ("github_pat_",), r"[A-Za-z0-9_]{22,}"),
    ("source_control_token", ("glpat-",), r"[A-Za-z0-9_-]{20,}"),
    ("source_control_token", ("npm_",), r"[A-Za-z0-9]{36,}"),
    ("source_control_token", ("pypi-",), r"(?=[a-z0-9_-]{0,200}[A-Z])[A-Za-z0-9_-]{30,}"),
    ("chat_webhook_token", ("xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "xapp-"), r"[A-Za-z0-9-]{10,}"),
    ("chat_webhook_token", ("hooks.slack.com/services/",), r"[A-Za-z0-9/_-]{20,}"),
    ("chat_webhook_token", ("discord.com/api/webhooks/",), r"[0-9]{10,}/[A-Za-z0-9_-]{20,}"),
)


def find_secrets(t: Text) -> list[Hit]:
    """All secrets of a text, in no order; hits of different rules may overlap."""
    hits: list[Hit] = []
    for rule in (
        _tokens,
        _web_tokens,
        _bearer_tokens,
        _storage_keys,
        _key_blocks,
        find_uris,
        find_jdbc,
        find_signed_urls,
        find_connections,
        _assignments,
    ):
        hits.extend(rule(t))
    return hits


def _tokens(t: Text) -> Iterator[Hit]:
    for number, (category, literals, _) in enumerate(_TOKENS):
        for literal in literals:
            done = 0
            for at in occurrences(t.raw, literal):
                match = _token(number).match(t.raw, at) if at >= done else None
                if match:
                    done = match.end()
                    if not is_sample_token(t.raw[at : min(done, at + _TOKEN_HEAD)]):
                        yield Hit(category, at, done)


@cache
def _token(number: int) -> re.Pattern[str]:
    _, literals, rest = _TOKENS[number]
    return re.compile(WORD_START + "(?:" + "|".join(map(re.escape, literals)) + ")" + rest)


def _web_tokens(t: Text) -> Iterator[Hit]:
    done = 0
    for at in occurrences(t.raw, "eyJ"):
        if at >= done:
            match = _web_token().match(t.raw, at)
            if match:
                yield Hit("web_token", at, match.end())
                done = match.end()


@lru_cache(maxsize=1)
def _web_token() -> re.Pattern[str]:
    # Only at the start of a run, else a run of many "eyJ" would be read again from each of them.
    start = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
    return re.compile(start + r"eyJ[A-Za-z0-9_-]{7,}\.eyJ[A-Za-z0-9_-]{7,}\.[A-Za-z0-9_-]+")


def _bearer_tokens(t: Text) -> Iterator[Hit]:
    for match in anchored(t, ("authorization", "bearer "), _bearer()):
        value = match.group("header") or match.group("bare")
        bare_word = match.group("bare") and not re.search(r"[0-9]", value)
        if not bare_word and not is_placeholder(value):
            yield Hit("bearer_token", match.start(), match.end())


@lru_cache(maxsize=1)
def _bearer() -> re.Pattern[str]:
    return re.compile(
        r"authorization[\\\"'`]{0,4}\s{0,4}[:=,]\s{0,4}[\\\"'`]{0,4}(?:bearer|basic|token)\s{1,4}"
        r"(?P<header>[A-Za-z0-9._~+/=-]{12,})|bearer\s{1,4}(?P<bare>[A-Za-z0-9._~+/=-]{20,})",
        re.IGNORECASE,
    )


def _storage_keys(t: Text) -> Iterator[Hit]:
    for match in anchored(t, ("accountkey", "sharedaccesskey"), _storage_key()):
        if not is_placeholder(match.group(1)):
            yield Hit("storage_key", match.start(), match.end())


@lru_cache(maxsize=1)
def _storage_key() -> re.Pattern[str]:
    return re.compile(
        r"(?:account|sharedaccess)key\s{0,4}=\s{0,4}([a-z0-9+/]{20,}={0,2})",
        re.IGNORECASE,
    )


# -- blocks of private keys, whole or cut off before their end


def _key_blocks(t: Text) -> Iterator[Hit]:
    """Each block from BEGIN to END; without an END the rest of the text is taken for the key."""
    if "PRIVATE KEY" not in t.raw:
        return
    begin, finish = _key_marks()
    ends = [match.end() for match in finish.finditer(t.raw)][::-1]
    done = 0
    for mark in begin.finditer(t.raw):
        while ends and ends[-1] <= mark.end():
            ends.pop()
        if mark.start() < done:
            continue
        near = bool(ends) and ends[-1] - mark.end() <= _KEY_REACH
        if mark.group("body") is None and not near:
            done = mark.end()  # the words of a key block in a sentence or in code: no key follows them
        else:
            done = ends[-1] if ends else len(t.raw)
        unclosed = done == len(t.raw) and not ends
        yield Hit("private_key_block", mark.start(), done, open=unclosed)


@lru_cache(maxsize=1)
def _key_marks() -> tuple[re.Pattern[str], re.Pattern[str]]:
    name = r" ?(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    body = r"(?P<body>[ \t]{0,8}(?:[\r\n]|\\+[nr]|[A-Za-z0-9+/=]{16}|\Z))?"
    return re.compile("-{4,5} ?BEGIN" + name + body), re.compile("-{4,5} ?END" + name)


# -- secrets known by their name only: ``api_key = "..."``, ``TOKEN=...``, ``--password ...``


def _assignments(t: Text) -> Iterator[Hit]:
    """Values of 16 characters or more that are given to a name of a secret, none within another."""
    done = 0
    for at in sorted({at for anchor in _NAMES for at in occurrences(t.lowered, anchor)}):
        if at >= done:
            match = _assignment().match(t.raw, at)
            if match and _is_secret(t.raw, match):
                hit = _assigned(t.raw, match)
                yield hit
                done = hit.end


def _looks_like_name(value: str) -> bool:
    """Whether a value is a path or a dotted name rather than a random string."""
    if "/" not in value and "." not in value:
        return False
    parts = [part for part in re.split(r"[/.]", value) if not part.isdigit()]
    digits = sum(char.isdigit() for part in parts for char in part)
    return digits <= _FEW_DIGITS and all(_name_part().fullmatch(part) for part in parts)


def _assigned(text: str, match: re.Match[str]) -> Hit:
    start = start_of_run(text, match.start(), _name_tail(), 64)
    while text[start] == "-":
        start += 1
    tail = _tail().match(text, match.end())
    end = trim_punctuation(text, match.end(), tail.end() if tail else match.end())
    quote = match.group("quote")
    name_is_quoted = start > 0 and text[start - 1] in "\"'`"
    if quote and not name_is_quoted and text.startswith(quote, end):
        end += len(quote)
    return Hit("generic_secret_assignment", start, end, core=match.start("value"))


def _is_secret(text: str, match: re.Match[str]) -> bool:
    value = match.group("value")
    if match.group("sep") is None and not _is_flag(text, match.start()):
        return False
    if not (re.search("[0-9]", value) and re.search("[A-Za-z]", value)):
        return False
    is_call = text.startswith(("(", "["), match.end())
    return not is_call and not is_placeholder(value) and not _looks_like_name(value)


def _is_flag(text: str, at: int) -> bool:
    return text.startswith("--", start_of_run(text, at, _name_tail(), 64))


@lru_cache(maxsize=1)
def _assignment() -> re.Pattern[str]:
    name = (
        r"(?i:api[_-]?key|secret(?:[_-]?(?:access[_-]?)?(?:key|token))?|passw(?:or)?d|passphrase|token"
        r"|(?:access|private|account)[_-]?key|_auth)"
    )
    closing = r"(?:\\{0,3}[\"'`]\]?)?"
    typed = r"(?:[ \t]{0,4}:[ \t]{0,4}(?:str|[Ss]tring)(?=[ \t]{0,4}=))?"
    sep = r"(?P<sep>[ \t]{0,4}(?::=|=>|={1,3}|:|>)[ \t]{0,4})"
    quote = r"(?P<quote>\\{0,3}[\"'`])?"
    value = r"(?P<value>[A-Za-z0-9/+_=-][A-Za-z0-9/+_=.-]{15,255})"
    return re.compile(name + closing + typed + "(?:" + sep + r"|[ \t]{1,4})" + quote + value)


@lru_cache(maxsize=1)
def _tail() -> re.Pattern[str]:
    # What else a password may hold: nothing of it may stay behind.
    return re.compile(r"[^\s\"'`\\<>,;(){}\[\]&]*")


@lru_cache(maxsize=1)
def _name_tail() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9_-]*")


@lru_cache(maxsize=1)
def _name_part() -> re.Pattern[str]:
    # Lower case, capitals, or camel case: never letters of both cases at random.
    camel = r"(?:[A-Z]?[a-z]+)(?:[A-Z][a-z]+)*[0-9]{0,3}"
    return re.compile(r"[a-z0-9_~-]*|[A-Z0-9_-]+|" + camel)
