"""Addresses whose path is the secret: webhooks, heartbeats, bots, links that log in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from decision_hooks.privacy.rules.hits import (
    Hit,
    Text,
    is_placeholder,
    occurrences,
    start_of_run,
    trim_punctuation,
)
from decision_hooks.privacy.rules.values import Value, is_name, is_random

# Category, and what an address has before its secret. All that follows it in the path is the secret.
_SECRET_PATHS = (
    ("chat_webhook_token", "hooks.slack.com/services/"),
    ("chat_webhook_token", "hooks.slack.com/workflows/"),
    ("chat_webhook_token", "hooks.slack.com/triggers/"),
    ("chat_webhook_token", "webhook.office.com/webhookb2/"),
    ("chat_webhook_token", "outlook.office.com/webhook/"),
    ("chat_webhook_token", "hooks.zapier.com/hooks/"),
    ("chat_webhook_token", ".make.com/"),
    ("chat_webhook_token", ".integromat.com/"),
    ("chat_webhook_token", ".pipedream.net/"),
    ("chat_webhook_token", "/with/key/"),
    ("chat_webhook_token", "tines.com/webhook/"),
    ("chat_webhook_token", "/api/webhooks/"),
    ("chat_webhook_token", "webhook.site/"),
    ("chat_webhook_token", "hc-ping.com/"),
    ("chat_webhook_token", "cronitor.link/p/"),
    ("chat_webhook_token", "healthchecks.io/ping/"),
    ("chat_webhook_token", "/heartbeat/"),
    ("chat_webhook_token", "/heartbeats/"),
    ("chat_webhook_token", "build_hooks/"),
    ("chat_webhook_token", "deploy/srv-"),
    ("chat_webhook_token", "open-apis/bot/v2/hook/"),
    ("chat_webhook_token", "api.telegram.org/bot"),
    ("chat_webhook_token", "api.telegram.org/file/bot"),
    ("chat_webhook_token", "discord.com/api/v"),
    ("chat_webhook_token", "discordapp.com/api/v"),
)
# Words of a path, in lower case: the first random part behind them is the secret.
_WORDS = (
    "hook/", "hooks/", "webhook-test/", "/cron/", "/ping/", "/push/", "/invite/", "/reset/", "/reset-password/",
    "/password/", "/verify/", "/activate/", "/magic/", "/magic-link/", "/unsubscribe/", "/login/", "/token/",
    "/confirm/", "/share/s/", "/feed/", "/trigger/",
)  # fmt: skip
# One of them is in each of the above.
_HINTS = (
    "hook", "ping", "heartbeat", "cron", "telegram", "/with/", "make.com", "integromat", "pipedream", "deploy/",
    "/push/", "invite", "reset", "password", "verify", "activate", "magic", "unsubscribe", "login", "token", "confirm",
    "share/", "feed/", "trigger", "api/v",
)  # fmt: skip
_LEAST, _LEAST_RANDOM = 8, 16  # characters of a secret path, of a random part


def find_addresses(t: Text) -> Iterator[Hit]:
    """The secret part of addresses, from the host on for the services that are known by it."""
    hints = [hint for hint in _HINTS if hint in t.lowered]
    if not hints:
        return
    done = 0
    places = {at + 3 for at in occurrences(t.raw, "://")}
    places.update(start_of_run(t.raw, at, _before(), 100) for at in occurrences(t.lowered, "hook"))
    for at in sorted(places):
        found = _path().match(t.raw, at) if at >= done else None
        if found and "/" in found.group():
            done = found.end()
            hit = _secret_of(t, at, done, hints)
            if hit:
                yield hit


def _secret_of(t: Text, begin: int, end: int, hints: list[str]) -> Hit | None:
    address = t.lowered[begin:end]
    if not any(hint in address for hint in hints):
        return None
    for category, before in _SECRET_PATHS:
        if before in address:
            at = address.find(before)
            start = begin + at + len(before)
            if _is_secret_path(t.raw[start:end]):
                whole = before[0] not in "/."
                return Hit(category, begin + at if whole else start, trim_punctuation(t.raw, start, end))
    for word in _WORDS:
        if word not in address:
            continue
        at = address.find(word)
        place = _random_part(t.raw[begin + at + len(word) : end])
        if place >= 0 and "." in address[:at]:
            start = begin + at + len(word) + place
            return Hit("chat_webhook_token", start, trim_punctuation(t.raw, start, end))
    return None


def _is_secret_path(path: str) -> bool:
    parts = [part for part in path.split("/") if part]
    return (
        any(len(part) >= 6 and _looks_secret(part) for part in parts)
        and sum(map(len, parts)) >= _LEAST
        and not is_placeholder(path)
    )


def _looks_secret(part: str) -> bool:
    digits = sum(char.isdigit() for char in part)
    return (
        digits < len(part)
        and (digits > 0 or is_random(part))
        and not (is_name(part) and digits > 1 and len(part) < 7)
    )


def _random_part(path: str) -> int:
    place = 0
    for part in path.split("/"):
        if len(part) >= _LEAST_RANDOM and Value(part).is_key(alone=False):
            return place
        place += len(part) + 1
    return -1


@cache
def _before() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9/_:.-]*")


@cache
def _path() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9/_:@.~%+=-]{8,1024}")
