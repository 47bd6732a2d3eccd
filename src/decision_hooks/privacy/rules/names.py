"""Secrets that are known by their name: ``api_key = "..."``, ``TOKEN=...``, ``--password ...``.

A name is looked up from the word in it that speaks of a secret; behind it stands a sign, then the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from decision_hooks.languages.table import in_any
from decision_hooks.privacy.rules.hits import Hit, Text, occurrences, start_of_run, trim_punctuation
from decision_hooks.privacy.rules.values import Value

_REACH = 64  # characters of a name before its word
_JUDGED = 200  # characters of a value that show what it is
_PASSWORD, _SECRET, _KEY, _SIGNATURE = "password", "secret", "key", "signature"

# The words, in lower case as they are found, what they promise, and a letter without which none need be looked for.
_WORDS: tuple[tuple[str, str, str], ...] = (
    (_PASSWORD, "", "identified·by recovery·code backup·code"),
    (_PASSWORD, "ñ", "contraseñ"),
    (_PASSWORD, "ł", "hasło"),
    (_PASSWORD, "ö", "lösenord"),
    (_PASSWORD, "ş", "şifre"),
    (_PASSWORD, "密", "密码 密碼"),
    (_PASSWORD, "パ", "パスワード"),
    (_PASSWORD, "비", "비밀번호"),
    (_SECRET, "", "token credential auth jwt _pat"),
    (_KEY, "", "key"),
)
_OF_LANGUAGES = tuple(
    (word[0], word, kind)
    for kind, words in (
        (_PASSWORD, in_any(lambda card: card.passwords)),
        (_SECRET, in_any(lambda card: card.secrets)),
        (_KEY, in_any(lambda card: card.keys)),
    )
    for word in dict.fromkeys(words.split("|"))
)
# Words of one first letter are looked for together: the letter is what takes the time.
_GROUPS = ("p(?:ass|w|sk)", "se(?:cret|nha)")
_KINDS_OF_GROUPS = {"secret": _SECRET}
_ANCHORS = (
    *((need, word.replace("·", " "), kind) for kind, need, words in _WORDS for word in words.split()),
    *_OF_LANGUAGES,
)

# Endings of what is before "key" that make it a secret, and of what is before any word that make it none.
_STRONG = tuple(
    "api secret access private account encrypt encryption encrypted signing sign master auth app admin service shared "
    "licence license client root deploy sdk server ingest ingestion integration write read management org organization "
    "organisation user security unlock session jwt hmac aes preshared seed webhook bot cloud db x-auth".split()
)
_HARMLESS = tuple(
    "public pub foreign primary next page continuation cursor idempotency cache partition sort row lookup host site "
    "translation i18n publishable object query hash etag index composite group fingerprint checksum cancellation "
    "cancel react cell item map storage s3 unique dictionary".split()
) + tuple(in_any(lambda card: card.public).split("|"))


def find_named(t: Text) -> Iterator[Hit]:
    """Values that are given to a name of a secret, none within another."""
    places: dict[int, tuple[int, str]] = {}
    for need, word, kind in _ANCHORS:
        for at in occurrences(t.lowered, word) if need in t.lowered else ():
            places.setdefault(at, (at + len(word), kind))
    for group in _GROUPS:
        for match in _group(group).finditer(t.lowered):
            places.setdefault(match.start(), (match.end(), _KINDS_OF_GROUPS.get(match.group(), _PASSWORD)))
    for word in _PARAMETERS if "=" in t.raw and ("&" in t.raw or "?" in t.raw or "%3F" in t.raw) else ():
        for at in occurrences(t.lowered, word):
            places.setdefault(at, (at, _SIGNATURE))
    done = 0
    for at in sorted(places):
        if at < done:
            continue
        end, kind = places[at]
        named = _named(t, at, end, kind)
        if named:
            yield named
            done = named.end


class _Written:
    """A value as it is written: where it begins and ends, and the mark that closes it."""

    def __init__(self, text: str, at: int) -> None:
        opened = _quote().match(text, at) or _braced().match(text, at)
        self.quote = opened.group("quote") if opened else ""
        self.start = self.end = opened.end() if opened else at
        closing = "}" if self.quote == "{" else self.quote
        close = text.find(closing, self.start, self.start + 4096) if closing else -1
        line = text.find("\n", self.start, close) if close > 0 else -1
        if close > 0 and line < 0:
            self.end, self.after = close, close + len(closing)
            return
        self.quote = ""
        bare = _bare().match(text, self.start)
        self.end = self.after = trim_punctuation(text, self.start, bare.end()) if bare else self.start


def _named(t: Text, at: int, end: int, kind: str) -> Hit | None:
    text = t.raw
    if kind == _SIGNATURE:
        return _signature(text, at)
    after = _after().match(text, end)
    if after is None:
        return None
    start = start_of_run(text, at, _name_run(), _REACH)
    sign = after.group("sign") or ""
    if not sign and not _needs_no_sign(text, start, at, after.end()):
        return None
    written = _Written(text, after.end())
    if written.end - written.start < 6 or (text.startswith(("(", "["), written.end) and not written.quote):
        return None
    name = text[start : after.end("rest")]
    environment = sign.strip() in ("=", ":") and name == name.upper() and any(map(str.isalpha, name))
    value = Value(
        text[written.start : min(written.end, written.start + _JUDGED)],
        quoted=bool(written.quote),
        environment=environment,
    )
    prose = after.group("words") is not None or sign.strip() in (
        "—",
        *in_any(lambda card: card.copula).split("|"),
    )
    kind = _exact_kind(t, start, at, kind)
    alone = start == at and sign.strip() in (":", "=") and not _in_query(text, start)
    if not _is_secret(value, kind, prose=prose, alone=alone):
        return None
    core = written.start
    if prose or not sign.isascii() or "\n" in sign or "value" in sign:
        return Hit("generic_secret_assignment", core, written.end, core=core)
    while text[start] == "-":
        start += 1
    return Hit("generic_secret_assignment", start, _end(text, start, written), core=core)


def _end(text: str, start: int, written: _Written) -> int:
    name_is_quoted = start > 0 and text[start - 1] in "\"'`"
    return written.after if written.quote and not name_is_quoted else written.end


def _is_secret(value: Value, kind: str, *, prose: bool, alone: bool) -> bool:
    if kind == _PASSWORD:
        if prose and not any(char.isdigit() or not char.isalnum() for char in value.text.strip("-_.")):
            return False
        return value.is_password()
    if kind == _SECRET:
        return value.is_key(alone=False) if prose else value.is_secret()
    return kind == _KEY and value.is_key(alone=alone)


def _exact_kind(t: Text, start: int, at: int, kind: str) -> str:
    """What a name promises with the words before it: an API key is a secret, a public key is none."""
    before = t.lowered[max(0, min(start, at - 24)) : at]
    if kind == _PASSWORD:
        return kind
    before = before.rstrip(" _-")
    if before.endswith(_HARMLESS):
        return ""
    if kind == _KEY and before.endswith(_STRONG):
        return _SECRET
    return kind


def _needs_no_sign(text: str, start: int, at: int, value: int) -> bool:
    """A flag, a directive of a configuration, a word of SQL, or the password of a netrc line."""
    word = text[at:value].strip().lower()
    if text.startswith("--", start) or (text.startswith("-", start) and word == "pass"):
        return True
    if text[start:value].strip().lower() in ("requirepass", "masterauth", "bindpw"):
        return True
    if word == "password" and "login " in text[max(0, at - 120) : at]:
        return True
    return word in ("password", "identified by") and text[value : value + 1] in ("'", '"')


def _in_query(text: str, start: int) -> bool:
    return start > 0 and text[start - 1] in "?&;"


def _signature(text: str, at: int) -> Hit | None:
    """The signature of a query, with its name and without."""
    match = _parameter().match(text, at)
    if match is None or not Value(match.group(1)).is_key(alone=False):
        return None
    start = start_of_run(text, at, _name_run(), _REACH)
    if not (_in_query(text, start) or text.endswith(("\\u0026", "%26", "%3F", "%3f"), 0, start)):
        return None
    return Hit("generic_secret_assignment", start, match.end(), core=match.start(1))


_PARAMETERS = ("sig", "code=", "ticket=", "sid=")  # of a query


@cache
def _parameter() -> re.Pattern[str]:
    return re.compile(
        r"(?:sig(?:nature)?|code|ticket|sid)(?:=|%3D)([A-Za-z0-9+/=_~%.-]{16,2048})", re.IGNORECASE
    )


@cache
def _group(words: str) -> re.Pattern[str]:
    return re.compile(words)


@cache
def _after() -> re.Pattern[str]:
    rest = (
        r"(?:(?:wor[dt]|w?d|phrase|e(?![a-z])|code|t?s|[^\x00-\x7f\W]|a)|[_-]?(?:value|text|plain|b64|base64|prod|live|test|dev|"
        r"staging|old|new|data|key|token|[0-9]{1,2})){0,3}(?![A-Za-z0-9_])"
    )
    close = r"(?P<close>\\{0,3}[\"'`]\]?|\\u002[27]|%22|&quot;|\*\*)?"
    copula = in_any(lambda card: card.copula)
    words = rf"(?P<words>(?: [^\W\d_][\w'’]{{0,20}}){{1,5}}(?=:| (?:{copula}) | —))?"
    typed = r"(?:[ \t]{0,4}:[ \t]{0,4}(?:str|[Ss]tring)(?=[ \t]{0,4}=))?"
    sign = (
        rf"(?P<sign>[ \t]{{0,4}}(?:=>|:=|={{1,3}}|:|>|%3[DdAa]|\\u003[dDaA]|\|)[ \t]{{0,4}}| (?:{copula}|—) "
        r"|[ \t]+value[ \t]*=[ \t]*|\\{0,3}[\"']?,\s{0,20}\\{0,3}\"value\\{0,3}\"\s{0,4}:\s{0,4}|\n[ \t]+value:[ \t]*)"
    )
    return re.compile(f"(?i:(?P<rest>{rest})){close}(?:{words}{typed}{sign}|[ \\t]{{1,4}})")


@cache
def _quote() -> re.Pattern[str]:
    return re.compile(r"[bru]?(?P<quote>\\{0,3}[\"'`]|\\u002[27]|%2[27]|&quot;)")


@cache
def _braced() -> re.Pattern[str]:
    return re.compile(r"(?<==)(?P<quote>\{)(?=[^{}\s\"':]{6,64}\}(?:;|\Z))")  # of ODBC


@cache
def _bare() -> re.Pattern[str]:
    return re.compile(r"[^\s\"'`<>&;,(){}\[\]\\|]{1,4096}")


@cache
def _name_run() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9_.-]*")
