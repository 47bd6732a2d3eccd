"""URLs that lead to hosts which are not public. On request: they matter where a record is published."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from decision_hooks.privacy.rules.hits import RUN, Hit, Text, occurrences, start_of_run, trim_punctuation


def find_internal_urls(t: Text) -> Iterator[Hit]:
    """URLs of hosts that are not public; those of the own machine are advisory."""
    done = 0
    for at in occurrences(t.raw, "://"):
        match = _host().match(t.raw, at) if at >= done else None
        kind = host_kind(match.group(1)) if match else ""
        start = start_of_run(t.raw, at, _scheme(), 24)
        if match and kind and start < at:
            rest = _run().match(t.raw, match.end())
            done = rest.end() if rest else match.end()
            yield Hit("internal_url", start, trim_punctuation(t.raw, match.end(), done), kind == "internal")


def host_kind(host: str) -> str:
    """``loopback``, ``internal`` or "" for a public host; an IPv6 address stands in brackets."""
    host = host.lower().rstrip(".")
    if host.startswith("["):
        return _kind_of_ipv6(host.strip("[]"))
    octets = host.split(".")
    if len(octets) == 4 and all(part.isdecimal() and len(part) <= 3 for part in octets):
        return _kind_of_ipv4(int(octets[0]), int(octets[1]), host)
    if host in ("localhost", "host.docker.internal") or host.endswith(".localhost"):
        return "loopback"
    return "internal" if octets[-1] in ("corp", "internal", "local", "lan", "intranet") else ""


def _kind_of_ipv4(first: int, second: int, host: str) -> str:
    if first == 127 or host == "0.0.0.0":  # noqa: S104 - a text is compared, nothing is bound
        return "loopback"
    private = (
        first == 10 or (first, second) in ((192, 168), (169, 254)) or (first == 172 and 16 <= second <= 31)
    )
    return "internal" if private else ""


def _kind_of_ipv6(address: str) -> str:
    if address in ("::1", "::", "0:0:0:0:0:0:0:1"):
        return "loopback"
    mapped = address.rpartition(":")[2]
    if "." in mapped:
        return "" if mapped == address else host_kind(mapped)
    return "internal" if re.match(r"f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:", address) else ""


@lru_cache(maxsize=1)
def _host() -> re.Pattern[str]:
    return re.compile(
        r"://(?:[^\s/@\"'<>`\\]{0,300}@)?(\[[0-9A-Fa-f:.]{2,60}\]|[^\s/:?#@\"'<>`\\,;()\[\]{}]{1,253})"
    )


@lru_cache(maxsize=1)
def _run() -> re.Pattern[str]:
    return re.compile(RUN + "*")


@lru_cache(maxsize=1)
def _scheme() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9+.-]*[A-Za-z]")
