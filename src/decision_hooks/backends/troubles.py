"""The kinds of trouble that a backend's text reports: one table, with the texts of providers, programs and proxies."""

from __future__ import annotations

import re
from functools import cache

SPENT_NOTHING = ("credit", "login", "rate", "model", "network", "start")  # count as no try and no attempt
BREAKING = ("credit", "login", "rate", "model")  # open the circuit breaker
_SHORT = 300  # characters: a longer text is an error only by its form
_IN_ITSELF = ("credit", "login", "rate", "context", "failed")  # their words are enough in a short text
_READ = 4000  # characters of a text that are searched


def _status(*numbers: str) -> str:
    """An HTTP status: at the beginning of a line, in brackets, or after a word such as ``status``."""
    number = f"(?:{'|'.join(numbers)})"
    named = rf"\b(?:http|status|code|error|errno)\b\W{{0,4}}(?:code\W{{0,4}})?{number}\b"
    return rf"^\W*{number}\b(?![\w.:])|[(\[]{number}[)\]]|{named}"


# The first row that matches is the kind. A new text of a provider is a word in its row.
_ROWS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("rate", (
        r"throttl(?:ed|ing)", r"rate_limit_(?:error|exceeded)", r"tokens? per (?:min|day)",
        r"please wait before trying again",
    )),
    ("context", (
        r"prompt is too long", r"context[ _-]?(?:length|window|size|limit|overflow)", r"maximum context",
        r"max_model_len", r"(?:input|prompt|request|message)s?\b.{0,40}\btoo (?:long|large)",
        r"too many (?:input |prompt )?tokens", r"exceed\w*\b.{0,40}\b(?:n_ctx|num_ctx|tokens?|context)\b",
        r"tokens?\b.{0,40}\bexceed", r"reduce the length", r"string_above_max_length|content_too_large",
        _status("413"),
    )),
    ("credit", (
        r"credit balance is too low", r"insufficient[ _-]?(?:funds|credits?|quota|balance)",
        r"(?:requires? more|out of|no (?:more )?) ?credits", r"billing[ _](?:error|hard|is|not|disabled|account)",
        r"check your plan and billing", r"payment required", r"past due|arrearage",
        r"exceeded your (?:current quota|monthly included credits)", r"spend(?:ing)? (?:limit|cap)",
        r"budget (?:has been )?exceeded|exceeded budget", _status("402"),
    )),
    ("model", (
        r"not_found_error.{0,60}\bmodel\b", r"\bmodel: \S{2,80}\s*$",
        r"model[ _-]?not[ _-]?found", r"(?:unknown|invalid|unsupported|no such) (?:ai )?model\b",
        r"deployment[ _]?not[ _]?found|deployment .{0,60}does not exist",
        r"\bmodels?\b.{0,80}\b(?:(?:was|is|are) not (?:found|available|supported|installed|a valid)"
        r"|not found|does(?: not|n't) exist|is unknown|invalid|may not exist|no longer|deprecated"
        r"|decommissioned|retired)", r"try pulling it",
        r"no models? (?:is |are )?(?:loaded|selected|available|configured|match|found)",
        r"no (?:allowed providers|endpoints) (?:are )?(?:found|available)", r"not a valid model",
        r"issue with the selected model", r"cannot use this model", r"provided model identifier",
    )),
    ("network", (
        r"proxy authentication", _status("407"),
    )),
    ("login", (
        r"no auth credentials|\b40[14] user not found",
        r"not (?:logged|signed) in", r"please (?:log|sign) ?in|log ?in again", r"/login\b|\b(?:agent|auth) login\b",
        r"login (?:required|expired)",
        r"(?:invalid|incorrect|missing|no|expired|wrong|provide an?) (?:\w+ )?(?:x-)?api[ _-]?key",
        r"invalid_api_key|api_key_invalid",
        r"api[ _-]?key\b.{0,40}\b(?:not (?:valid|found|set)|invalid|required|missing|expired|disabled"
        r"|revoked|deleted)", r"authenticat(?:e|ion|ed)\b.{0,30}\b(?:fail|error|required|invalid|expired)",
        r"(?:failed|unable|not|could not|cannot) (?:to )?authenticat|authentication_error",
        r"oauth (?:session|token)", r"(?:session|token|credentials?)\b.{0,40}\b(?:expired|invalid|revoked)",
        r"expired[ _]?token|invalid (?:bearer )?token",
        r"unrecognizedclient|invalidsignature|signature.{0,20}does not match",
        r"access ?denied|permission_denied|forbidden|does not have (?:access|permission)|not authori[sz]ed",
        r"unauthori[sz]ed", r"(?:locate|load|find|default|no) credentials",
        r"_(?:api_key|token) (?:environment variable|is not set|not set)",
        r"account (?:has been |is )?(?:suspended|deactivated|disabled|not active)",
        r"organization has been disabled",
        r"unsupported_country|(?:country|region|location).{0,30}not (?:supported|available)", _status("401", "403"),
    )),
    ("rate", (
        r"server is (?:currently )?busy",
        r"rate[ _-]?limit",
        r"(?:usage|session|weekly|daily|monthly|hour(?:ly)?|request|free|concurrency|plan)s? limit",
        r"limit (?:will )?resets?|limit (?:was |has been )?(?:reached|exceeded)",
        r"(?:hit|reached|exceeded) your\b.{0,30}\b(?:limit|quota|usage)", r"out of (?:extra )?usage",
        r"too many requests|slow down",
        r"overloaded|at capacity|over capacity|capacity (?:exceeded|reached)",
        r"\bquota\b|resource[ _]?exhausted|servicequotaexceeded", _status("429", "529", "1015"),
    )),
    ("start", (
        r"needs an update\b|requires node|illegal instruction|insufficient system resources|failed to load model",
        r"\bE(?:NOSPC|MFILE|NFILE|NOMEM|ROFS)\b", r"no space left|disk quota exceeded", r"too many open files",
        r"cannot allocate memory|out of memory|requires more system memory|memoryerror", r"read-only file system",
        r"cannot find (?:module|package)|err_module_not_found|modulenotfounderror",
        r"bad interpreter|exec format error|cannot execute", r"usable temporary directory",
        r"resource temporarily unavailable|can't start new thread", r"\benv: .{0,80}no such file|command not found",
        r"error while loading shared libraries|dyld\b|\bglibc", r"spawn \S+ (?:enoent|eacces)",
    )),
    ("network", (
        r"just a moment\.\.\.",
        r"\bE(?:CONN(?:REFUSED|RESET|ABORTED)|NOTFOUND|AI_\w+|TIMEDOUT|HOSTUNREACH|HOSTDOWN|NETUNREACH"
        r"|NETDOWN|PIPE|PROTO|ADDRNOTAVAIL)\b", r"\bund_err_\w+|\berr_(?:ssl|tls|network|socket|proxy|tunnel)\w*",
        r"getaddrinfo|name resolution|(?:could not|couldn't|cannot|failed to) resolve",
        r"name or service not known|nodename nor servname|\bdns\b",
        r"no route to host|network (?:is )?(?:error|unreachable|down|failure|connection)|\boffline\b",
        r"fetch failed|failed to fetch|error sending request",
        r"connection (?:error|refused|reset|aborted|closed|lost|failed|timed out|terminated|attempt)",
        r"(?:connect|socket|read|request|gateway|network) ?time(?:d[ -]?)? ?-?out",
        r"timeout (?:connecting|was reached)|timed out",
        r"(?:could not|couldn't|cannot|can't|failed to|unable to) (?:connect|reach)|socket hang up|broken pipe",
        r"stream (?:closed|disconnected|error)|premature close|unexpected eof|other side closed|terminated",
        r"certificate|self[- _]signed|\b(?:ssl|tls)\b|handshake", r"\bproxy\b|tunnel",
        r"bad gateway|service (?:is )?(?:temporarily )?unavailable|temporarily unavailable",
        r"internal (?:server )?error|upstream|server error|cloudflare|serviceunavailable",
        r"internalserverexception", r"loading model|model is (?:still )?loading|no healthy upstream",
        _status(r"5\d\d"), r"\bapi error\W{0,4}5\d\d\b",
    )),
    ("failed", (
        r"^execution error\b|workspace trust required|^api error\b",
        r"^\W*(?:fatal |unhandled |uncaught )?\w*(?:error|exception)\b\W", r"unknown option|unrecognized arguments",
        r"^error$",
    )),
)  # fmt: skip
# A line that an error begins with; what a model writes of its own accord does not.
_BEGINNING = (
    r"\W{0,8}(?:\d{3}\b|https?/\d"
    r"|(?:[\w.]+ ){0,3}[\w.]*(?:error|exception|fail(?:ed|ure)?|fatal|panic|traceback)\b"
    r"|(?:could not|couldn't|cannot|can't|unable to|connection|unknown model|no models?)\b"
    r"|(?:the )?model \S+ (?:not|is|was|does)\b|network is|dial tcp|there's an issue with|stream disconnected"
    r"|(?:pi|claude|cursor-agent|codex|curl|node|env|sh|bash|[^\s/]{0,60}(?:/[^\s/]{1,60}){1,12}): )"
)


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    flags = re.IGNORECASE | re.MULTILINE
    return tuple((kind, re.compile("|".join(texts), flags)) for kind, texts in _ROWS)


def known_trouble(text: str) -> str:
    """The kind of trouble that the text of a failed call reports, "" when none is known."""
    text = text[:_READ] + "\n" + text[_READ:][-_READ:]
    return next((kind for kind, pattern in _patterns() if pattern.search(text)), "")


def could_not_start(status: int | None, text: str) -> bool:
    """Whether a program ended before it ran, by its exit code: its interpreter is missing or cannot be run."""
    if status in (126, 127):
        words = r"env:|no such file|not found|permission denied|interpreter|cannot execute|exec format"
        return not text.strip() or bool(re.search(words, text, re.IGNORECASE))
    return False


def error_in(text: str) -> str:
    """The kind of trouble when a text that came without a failure is an error; "" when it may be content.

    Words such as "proxy" and "certificate" make an error only of a text that begins like one.
    """
    page = re.match(r"\s*<(?:!doctype html|html|\?xml)", text, re.IGNORECASE)
    if page:
        return known_trouble(re.sub(r"<[^<>]{0,500}>", "\n", text[: 4 * _READ])) or "network"
    if _is_error_object(text):
        return known_trouble(text) or "failed"
    first = text.lstrip().partition("\n")[0][:_SHORT]
    begins = re.match(_BEGINNING, first, re.IGNORECASE)
    kind = known_trouble(text if len(text) <= _SHORT else first) if len(text) <= _SHORT or begins else ""
    return kind if begins or kind in _IN_ITSELF else ""


def _is_error_object(text: str) -> bool:
    """Whether the text is a JSON object (in a list, or as an event) that names an error and holds no operations."""
    import json

    found = re.match(r"\s*(?:data:\s*)?(?=[\[{])", text)
    if not found or len(text) > 65536:
        return False
    try:
        value = json.loads(text[found.end() :])
    except (ValueError, RecursionError):
        return False
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, dict) or "operations" in value:
        return False
    named = value.get("error") or value.get("errors") or value.get("type") == "error"
    return bool(named) or {"code", "message"} <= set(value)
