"""Secrets: tokens of known shape, credentials in URIs, key blocks. Always on, all of high confidence.

Every rule starts at a literal, and every repetition in it is bounded or consumed once, so that the time
stays proportional to the length of any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from decision_hooks.privacy.rules.addresses import find_addresses
from decision_hooks.privacy.rules.hits import Hit, Text, anchored, is_placeholder, occurrences
from decision_hooks.privacy.rules.names import find_named
from decision_hooks.privacy.rules.places import find_commands, find_files
from decision_hooks.privacy.rules.tokens import find_tokens
from decision_hooks.privacy.rules.urls import find_connections, find_jdbc, find_signed_urls, find_uris
from decision_hooks.privacy.rules.values import Value

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

_KEY_REACH = 20_000  # characters; a key of 16,384 bits has 12,500: a farther END belongs to something else


def find_secrets(t: Text) -> list[Hit]:
    """All secrets of a text, in no order; hits of different rules may overlap."""
    hits: list[Hit] = []
    for rule in (
        find_tokens,
        _web_tokens,
        _bearer_tokens,
        _storage_keys,
        _key_blocks,
        find_uris,
        find_jdbc,
        find_signed_urls,
        find_connections,
        find_named,
        find_commands,
        find_files,
        find_addresses,
    ):
        hits.extend(rule(t))
    return hits


def _web_tokens(t: Text) -> Iterator[Hit]:
    done = run_end = tries = 0
    for at in occurrences(t.raw, "eyJ"):
        if at < done:
            continue
        if at >= run_end:
            run = _web_run().match(t.raw, at)
            run_end, tries = run.end() if run else at, 0
        tries += 1
        match = _web_token().match(t.raw, at) if tries <= _MOST_TRIES else None
        if match:
            yield Hit("web_token", at, match.end())
            done = match.end()


_MOST_TRIES = 4  # in one run of characters: one of many "eyJ" would be read again from each of them


@lru_cache(maxsize=1)
def _web_run() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9_-]+")


@lru_cache(maxsize=1)
def _web_token() -> re.Pattern[str]:
    return re.compile(r"eyJ[A-Za-z0-9_-]{7,}\.eyJ[A-Za-z0-9_-]{7,}\.[A-Za-z0-9_-]+")


def _bearer_tokens(t: Text) -> Iterator[Hit]:
    for match in anchored(t, ("authorization", "bearer "), _bearer):
        value = match.group("header") or match.group("bare")
        bare_word = match.group("bare") and not re.search(r"[0-9]", value)
        if match.group("header") and not match.group("scheme") and not Value(value).is_key(alone=False):
            continue
        if not bare_word and not is_placeholder(value):
            yield Hit("bearer_token", match.start(), match.end())


@lru_cache(maxsize=1)
def _bearer() -> re.Pattern[str]:
    return re.compile(
        r"authorization(?:[\\\"'`]|\\u002[27]){0,4}\s{0,4}[:=,]\s{0,4}(?:[\\\"'`]|\\u002[27]){0,4}"
        r"(?P<scheme>(?:bearer|basic|token|apikey|api-key|digest|negotiate|ghp|splunk)\s{1,4})?"
        r"(?P<header>[A-Za-z0-9._~+/=:$|-]{12,})|bearer\s{1,4}(?P<bare>[A-Za-z0-9._~+/=-]{20,})",
        re.IGNORECASE,
    )


def _storage_keys(t: Text) -> Iterator[Hit]:
    for match in anchored(t, ("accountkey", "sharedaccesskey"), _storage_key):
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
            # The words of a key block in a sentence or in code: no key follows them.
            yield Hit("private_key_block", mark.start(), mark.end(), bare=True)
            continue
        done = ends[-1] if ends else len(t.raw)
        yield Hit("private_key_block", mark.start(), done, open=not ends)


@lru_cache(maxsize=1)
def _key_marks() -> tuple[re.Pattern[str], re.Pattern[str]]:
    name = r" ?(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    body = r"(?P<body>[ \t]{0,8}(?:[\r\n]|\\+[nr]|[A-Za-z0-9+/=]{16}|\Z))?"
    return re.compile("-{4,5} ?BEGIN" + name + body), re.compile("-{4,5} ?END" + name)
