"""Addresses: with credentials in them (URIs, signed URLs, connection strings), and of hosts that are not public."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from decision_hooks.privacy.rules.hits import (
    RUN,
    WORD_START,
    Hit,
    Text,
    anchored,
    is_placeholder,
    occurrences,
    start_of_run,
    trim_punctuation,
)
from decision_hooks.privacy.rules.values import is_random

# Passwords of addresses in documentation.
_SAMPLES = frozenset(("password", "passwd", "pass", "pwd", "pw", "user", "yourpassword", "changeme"))
_LEAST_ALONE = 16  # characters of a token that stands where a user does


def find_uris(t: Text) -> Iterator[Hit]:
    """URIs of any scheme with a user and a password, or with a token in place of a user."""
    done = 0
    for at in occurrences(t.raw, "://"):
        match = _credentials().match(t.raw, at) if at >= done else None
        start = start_of_run(t.raw, at, _scheme(), 24) if match else at
        if match and start < at and _is_credential(match):
            run = _run().match(t.raw, match.end())
            done = trim_punctuation(t.raw, match.end(), run.end() if run else match.end())
            yield Hit("db_uri_with_credentials", start, done)


def _is_credential(match: re.Match[str]) -> bool:
    user, colon, password = match.group(1).partition(":")
    if colon:
        return bool(password) and password.lower() not in _SAMPLES and not is_placeholder(password)
    return len(user) >= _LEAST_ALONE and is_random(user) and not is_placeholder(user)


@lru_cache(maxsize=1)
def _credentials() -> re.Pattern[str]:
    return re.compile(r"://([^\s/\"'<>`\\]{1,384})@(?=[^\s@])")


@lru_cache(maxsize=1)
def _scheme() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9+.-]*[A-Za-z]")  # read backwards: the last letter is the first


@lru_cache(maxsize=1)
def _run() -> re.Pattern[str]:
    return re.compile(RUN + "*")


def find_jdbc(t: Text) -> Iterator[Hit]:
    """JDBC and ODBC URIs; one without a password holds no secret."""
    for match in anchored(t, ("jdbc:", "odbc:"), _jdbc_uri):
        end = trim_punctuation(t.raw, match.start(1), match.end())
        password = _jdbc_password().search(match.group())
        bare = (
            password is None
            or is_placeholder(password[password.lastindex or 0])
            or password[password.lastindex or 0].lower() in _SAMPLES
        )
        yield Hit("jdbc_odbc_uri", match.start(), end, bare=bare)


@lru_cache(maxsize=1)
def _jdbc_password() -> re.Pattern[str]:
    return re.compile(
        r"(?:password|passwd|pwd|secret|token)=([^&;\s]{1,256})|:[^\s/:@]{1,64}[/:]([^\s/:@]{1,256})@",
        re.IGNORECASE,
    )


@lru_cache(maxsize=1)
def _jdbc_uri() -> re.Pattern[str]:
    return re.compile(WORD_START + r"[jo]dbc:([a-z0-9]" + RUN + "*)", re.IGNORECASE)


def find_signed_urls(t: Text) -> Iterator[Hit]:
    """Shared access signatures: a query with signature, expiry and permissions together."""
    done = 0
    for at in occurrences(t.lowered, "sig="):
        if at < done:
            continue
        forward, backward, parts = _sas_patterns()
        match = forward.match(t.raw, at)
        done = match.end() if match else at + 4
        start = start_of_run(t.raw, at, backward, 4096)
        run = t.raw[start:done]
        if {name.lower() for name in parts.findall(run)} >= {"sig", "se", "sp"}:
            yield Hit("sas_token", start, trim_punctuation(t.raw, at, done))


@lru_cache(maxsize=1)
def _sas_patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    run = re.compile(r"[^\s\"'<>`]*")
    return run, run, re.compile(r"(?:[?&;]|^|\\u0026)(sig|se|sp)=[^&\s]", re.IGNORECASE)


_FIRST = r"server|data source|initial catalog|user id|password"
_OTHER = (
    r"database|uid|user|username|user name|pwd|port|host|address|integrated security|trusted_connection|encrypt|"
    r"trustservercertificate|persist security info|provider|driver|connect timeout|connection timeout|pooling|"
    r"application name|multipleactiveresultsets|sslmode|ssl mode|charset|min pool size|max pool size"
)


def find_connections(t: Text) -> Iterator[Hit]:
    """Connection strings: a known key with its value, followed by at least one more."""
    if _value_of_several().search(t.raw) is None:
        return
    firsts = ("server", "data source", "initial catalog", "user id", "password", "host", "database", "uid=")
    for match in anchored(t, firsts, _connection):
        if _connects(match):
            yield Hit("connection_string", match.start(), match.end())


@lru_cache(maxsize=1)
def _value_of_several() -> re.Pattern[str]:
    return re.compile(r"=[^=;\r\n\"'<>{}()`\\]{1,300};[ \t]{0,4}[A-Za-z][A-Za-z _]{1,40}=")


def _connects(match: re.Match[str]) -> bool:
    found = match.group().lower()
    # "password = x; user = y" is code unless a key of two words says otherwise.
    spaced = re.match(r"\w+[ \t]*=[ \t]|\w+[ \t]+=", found)
    if spaced and not re.search(r"data source|initial catalog|user id|integrated security", found):
        return False
    # Host and Database begin a connection string only when a password follows.
    return (
        match.group("first") is not None or re.search(r";\s*(?:password|pwd)\s*=\s*[^\s;]", found) is not None
    )


@lru_cache(maxsize=1)
def _connection() -> re.Pattern[str]:
    equals = r"[ \t]?=[ \t]?"
    # Parentheses are those of a call: "server = listen(80); port = 80" is code.
    value = r"[^;\r\n\"'<>{}()`\\]{1,300}"
    # A value may hold blanks between two semicolons; the last one ends before the words of a sentence.
    next_value = r"(?:[^;\r\n\"'<>`\\]{0,300}(?=;)|[^;\s\"'<>`\\]{0,300})"
    first = r"(?:(?P<first>" + _FIRST + r")|host|database|uid)"
    second = r";[ \t]{0,4}(?:" + _FIRST + "|" + _OTHER + ")" + equals + next_value
    further = r"(?:;[ \t]{0,4}[A-Za-z][A-Za-z _]{0,40}" + equals + next_value + ")*"
    return re.compile(WORD_START + first + equals + value + second + further, re.IGNORECASE)


# -- hosts that are not public; looked for on request, where a record is published


def find_internal_urls(t: Text) -> Iterator[Hit]:
    """URLs of hosts that are not public; those of the own machine are advisory."""
    done = 0
    for at in occurrences(t.raw, "://"):
        match = _authority().match(t.raw, at) if at >= done else None
        kind = host_kind(match.group(1)) if match else ""
        start = start_of_run(t.raw, at, _scheme(), 24)
        if match and kind and start < at:
            rest = _run().match(t.raw, match.end())
            done = rest.end() if rest else match.end()
            yield Hit("internal_url", start, trim_punctuation(t.raw, match.end(), done), kind == "internal")


def host_kind(host: str) -> str:
    """``loopback``, ``internal`` or "" for a public host; an IPv6 address is in brackets."""
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
def _authority() -> re.Pattern[str]:
    return re.compile(
        r"://(?:[^\s/@\"'<>`\\]{0,300}@)?(\[[0-9A-Fa-f:.]{2,60}\]|[^\s/:?#@\"'<>`\\,;()\[\]{}]{1,253})"
    )
