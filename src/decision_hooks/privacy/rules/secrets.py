"""Secrets: tokens of known shape, credentials in URIs, key blocks. Always on, all of high confidence.

Every rule starts at a literal, and every repetition in it is bounded or consumed once, so that the time
stays proportional to the text whatever stands in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from decision_hooks.privacy.rules.assignments import find_assignments
from decision_hooks.privacy.rules.hits import (
    WORD_START,
    Hit,
    Text,
    anchored,
    is_placeholder,
    is_sample_token,
    occurrences,
)
from decision_hooks.privacy.rules.keys import find_key_blocks
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
        find_key_blocks,
        find_uris,
        find_jdbc,
        find_signed_urls,
        find_connections,
        find_assignments,
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
