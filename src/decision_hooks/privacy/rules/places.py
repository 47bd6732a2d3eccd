"""Secrets that are known by their place: passwords of command lines, values of cookies, fields of files of keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from decision_hooks.privacy.rules.hits import Hit, Text, is_placeholder, occurrences
from decision_hooks.privacy.rules.values import Value, is_name

_LINE = 1200  # characters of a command line that are read
_FIELDS = 4000  # characters of an object or a block that are read
_LEAST_DATA = 4  # characters of a value of a Kubernetes Secret

_BARE = r"(?P<quote>\\{0,3}[\"'])?(?P<value>(?(quote)[^\"'\n\\]{4,256}|[^\s\"'\\]{4,256}))"
_PAIR = r"(?P<quote>\\{0,3}[\"'])?[^\s:\"'\\]{1,128}:(?P<value>(?(quote)[^\"'\n\\]{4,256}|[^\s\"'\\]{4,256}))"

# words that begin a command, what precedes the password and the password
_COMMANDS_BY_WORDS: tuple[tuple[str, str], ...] = (
    ("curl", rf"\s(?:-[a-zA-Z]*[uU]|--user|--proxy-user)[ =]?{_PAIR}"),
    ("http·|https·|xh·", rf"\s(?:-a|--auth)[ =]?{_PAIR}"),
    ("mysql|mariadb", rf"\s-p{_BARE}"),
    ("sshpass", rf"\s-p ?{_BARE}"),
    (
        "docker·login|podman·login|registry·login|buildah·login|skopeo·login|oras·login|nerdctl·login|az·login|mongo|"
        "cqlsh|ecs-cli|cf·login|cf·auth|oc·login",
        rf"\s-p[ =]{_BARE}",
    ),
    ("redis-cli|keydb-cli|valkey-cli", rf"\s(?:-a|--pass|AUTH) {_BARE}"),
    ("ldapsearch|ldapadd|ldapmodify|ldapwhoami|ldapdelete|ldappasswd", rf"\s-w ?{_BARE}"),
    ("sqlcmd|bcp·|zip·|unzip·|isql", rf"\s-P ?{_BARE}"),
    ("7z·|7za·|unrar·|rar·", rf"\s-p{_BARE}"),
    ("lftp", rf"\s-u [^\s,]{{1,64}},{_BARE}"),
    ("smbclient|rpcclient", rf"\s-U [^\s%]{{1,64}}%{_BARE}"),
    ("htpasswd", rf"\s-[a-zA-Z]*b[a-zA-Z]* \S{{1,128}} \S{{1,64}} {_BARE}"),
    (
        "echo·|printf·",
        rf"(?:(?<=echo )|(?<=printf )){_BARE}[\"']? {{0,2}}\| {{0,2}}(?:sudo -S|(?:\S{{1,40}} ){{0,6}}-"
        r"-?(?:password-)?stdin)",
    ),
    ("echo·|printf·", rf"(?:(?<=echo )|(?<=printf )){_PAIR}[\"']? {{0,2}}\| {{0,2}}(?:sudo )?chpasswd"),
    ("gpg", rf"\s--passphrase[ =]{_BARE}"),
    ("secret-tool|security·add-generic-password|security·add-internet-password", rf"\s-w ?{_BARE}"),
)

_COMMANDS = tuple(
    (tuple(word.replace("·", " ") for word in words.split("|")), rule) for words, rule in _COMMANDS_BY_WORDS
)
_SESSIONS = ("sess", "sid", "auth", "token", "jwt", "remember", "sso", "login", "ticket")


# What a line has that is read for commands: a flag of one of these letters, or a word.
_FLAGS = frozenset("uUpawPbSs-")
_WITHOUT_FLAGS = ("chpasswd",)


def find_commands(t: Text) -> Iterator[Hit]:
    """Passwords that are given to a program in its arguments."""
    done = 0
    for at in sorted(
        {*_flags(t.raw), *(at for word in _WITHOUT_FLAGS for at in occurrences(t.lowered, word))}
    ):
        if at >= done:
            begin = _line_start(t.raw, max(done, at - _LINE), at)
            done = _line_end(t.raw, at)
            yield from _commands(t, begin, done)


def _flags(text: str) -> Iterator[int]:
    for at in occurrences(text, " -"):
        if text[at + 2 : at + 3] in _FLAGS:
            yield at


def _commands(t: Text, begin: int, end: int) -> Iterator[Hit]:
    line = t.lowered[begin:end]
    for number, (words, _) in enumerate(_COMMANDS):
        for word in words:
            at = line.find(word)
            if at < 0 or (at and line[at - 1].isalnum()):
                continue
            for match in _command(number).finditer(t.raw, begin + at + len(word), end):
                value = match.group("value").rstrip(",;|)")
                if Value(value.replace(" ", ""), quoted=True).is_password():
                    start = match.start("value")
                    yield Hit("generic_secret_assignment", start, start + len(value))


def _line_start(text: str, first: int, at: int) -> int:
    """Where the command line begins that a flag is in; the line before it may go on in this one."""
    begin = at
    while begin > first:
        line = text.rfind("\n", first, begin)
        if line < 0:
            return first
        if not text.endswith("\\", first, line):
            return line + 1
        begin = line
    return first


def _line_end(text: str, begin: int) -> int:
    """Where a command line ends that may go on after a backslash."""
    end, last = begin, min(len(text), begin + _LINE)
    while True:
        end = text.find("\n", end, last)
        if end < 0:
            return last
        if text[end - 1] != "\\":
            return end
        end += 1


@cache
def _command(number: int) -> re.Pattern[str]:
    return re.compile(_COMMANDS[number][1])


def find_files(t: Text) -> Iterator[Hit]:
    """Values of cookies, and secrets of files whose form is known."""
    yield from _cookies(t)
    yield from _lines_of_passwords(t)
    yield from _jwk(t)
    yield from _kubernetes(t)
    yield from _putty(t)
    yield from _phrases(t)


def _cookies(t: Text) -> Iterator[Hit]:
    done = 0
    for at in occurrences(t.lowered, "cookie"):
        if at < done:
            continue
        begin = _cookie_sign().match(t.raw, at)
        if begin is None:
            continue
        line = t.raw.find("\n", begin.end(), begin.end() + _FIELDS)
        done = line if line >= 0 else min(len(t.raw), begin.end() + _FIELDS)
        for match in _cookie().finditer(t.raw, begin.end(), done):
            value = Value(match.group(2), environment=True)
            known = any(word in match.group(1).lower() for word in _SESSIONS)
            if value.is_key(alone=False) or (known and value.is_secret()):
                yield Hit("generic_secret_assignment", match.start(2), match.end(2))


@cache
def _cookie_sign() -> re.Pattern[str]:
    return re.compile(r"(?i:cookie)\\{0,3}[\"']?[ \t]{0,4}[:=,][ \t]{0,4}|(?i:cookie) (?=[\"'])|(?i:cookie)=")


@cache
def _cookie() -> re.Pattern[str]:
    return re.compile(r"([A-Za-z0-9_.%-]{1,64})=([^;\s\"'\\,&]{8,4096})")


def _lines_of_passwords(t: Text) -> Iterator[Hit]:
    """``host:port:database:user:password``, as in ``.pgpass``."""
    done = 0
    for match in _pgpass().finditer(t.raw) if ":" in t.raw else ():
        value = match.group(1)
        if match.start() >= done and Value(value, quoted=True).is_password() and not is_name(value):
            yield Hit("generic_secret_assignment", match.start(1), match.end(1))
            done = match.end()


@cache
def _pgpass() -> re.Pattern[str]:
    return re.compile(
        r":(?:[0-9]{4,5}|\*):(?:[A-Za-z_][\w-]{0,62}|\*):(?:[A-Za-z_][\w.@-]{0,62}|\*):([^\s\"'`]{6,128})"
    )


def _jwk(t: Text) -> Iterator[Hit]:
    done = 0
    for at in occurrences(t.raw, "kty"):
        end = _block_end(t.raw, at)
        begin = max(done, at - 200, t.raw.rfind("\0", max(0, at - 200), at))
        for match in _jwk_field().finditer(t.raw, begin, end):
            yield Hit("private_key_block", match.start(1), match.end(1))
        done = max(done, end)


def _block_end(text: str, at: int) -> int:
    """Where an object or a block ends at the latest."""
    end = text.find("\0", at, at + _FIELDS)
    return end if end >= 0 else min(len(text), at + _FIELDS)


@cache
def _jwk_field() -> re.Pattern[str]:
    quote = r"\\{0,3}[\"']"
    return re.compile(
        rf"{quote}(?:d|p|q|dp|dq|qi|k){quote}\s{{0,4}}:\s{{0,4}}{quote}([A-Za-z0-9_-]{{20,2000}})"
    )


def _kubernetes(t: Text) -> Iterator[Hit]:
    """The values under ``data`` of a Secret."""
    done = 0
    for at in occurrences(t.raw, "kind: Secret\n"):
        end = _block_end(t.raw, at)
        block = _data().search(t.raw, max(at, done), end) if at + _FIELDS > done else None
        if block:
            done = block.end()
            for match in _data_field().finditer(t.raw, block.end(), end):
                if match.start() != done:
                    break
                done = match.end()
                if len(match.group(1)) >= _LEAST_DATA and not is_placeholder(match.group(1)):
                    yield Hit("generic_secret_assignment", match.start(1), match.end(1))


@cache
def _data() -> re.Pattern[str]:
    return re.compile(r"\n[ \t]{0,8}(?:data|stringData):[ \t]{0,8}(?=\n)")


@cache
def _data_field() -> re.Pattern[str]:
    return re.compile(
        r"\n[ \t]{1,12}[\w.-]{1,64}:[ \t]{1,4}[\"']?([^\s\"']{1,4000})[\"']?[ \t]{0,4}(?=\n|\Z)"
    )


def _putty(t: Text) -> Iterator[Hit]:
    for at in occurrences(t.raw, "Private-Lines: "):
        match = _putty_lines().match(t.raw, at)
        if match:
            yield Hit("private_key_block", match.start(1), match.end(1))


@cache
def _putty_lines() -> re.Pattern[str]:
    return re.compile(
        r"Private-Lines: [0-9]{1,3}(?:\s|\\[nr])+((?:[A-Za-z0-9+/]{2,64}={0,2}(?:\r?\n|\\r|\\n|\Z)){1,200})"
    )


def _phrases(t: Text) -> Iterator[Hit]:
    for word in ("mnemonic", "seed phrase"):
        for at in occurrences(t.lowered, word):
            match = _phrase().match(t.lowered, at + len(word))
            if match:
                yield Hit("generic_secret_assignment", match.start(1), match.end(1))


@cache
def _phrase() -> re.Pattern[str]:
    return re.compile(r"[^A-Za-z0-9]{1,6}(?:is )?[\"'`]?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})(?![a-z])")
