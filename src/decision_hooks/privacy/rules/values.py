"""What stands behind the name of a secret: whether a value is random, a password, or only a word, name or reference."""

from __future__ import annotations

import re
from functools import cache

from decision_hooks.privacy.rules.hits import is_placeholder, is_sample_token

_LEAST_PASSWORD, _LEAST_SECRET, _LEAST_KEY = 6, 8, 16  # characters
_LEAST_RANDOM = 8  # characters of a part that may be called random
_LETTERS_ALONE = 16  # characters of a secret without a digit
_FEW_DIGITS = 4  # names carry a version or a year, random values carry more
# Words that stand where a password would: types, states, samples.
_NO_SECRETS = frozenset(
    "password passwd pass pwd passphrase secret secrets token tokens string str text bytes none null nil true false "
    "undefined unknown required optional changeme change hidden masked redacted removed username user admin root "
    "guest test testing example sample dummy default empty missing invalid expired incorrect wrong disabled enabled "
    "postgres mysql credentials basic bearer oauth oauth2 prompt stdin input hash hashed encrypted plaintext plain "
    "field number object boolean any varchar secretstr never always write read yes".split()
)
_LABELS = (
    "pass",
    "secret",
    "token",
    "key",
    "auth",
    "cred",
    "word",
)  # in the value of a label or an identifier
# What a reference to a secret begins with.
_REFERENCES = tuple(
    "process. os. env. var. vars. local. data. module. secret. secrets. config. settings. self. this. ctx. req. "
    "request. args. options. opts. params. props. state. user. import. std:: arn: urn: http: https: file: op: vault: "
    "kv/ secret/ ssm: ./ ../ ~/ @ & \\ ! |".split()
)


class Value:
    """A value and how it is written: in quotes, or in capitals' name ``NAME=value`` as an environment has it."""

    def __init__(self, text: str, *, quoted: bool = False, environment: bool = False) -> None:
        self.text = text
        self.quoted = quoted
        self.environment = environment

    def is_password(self) -> bool:
        """Whether it may be a password: six characters or more that are no word, name, path or reference."""
        text = self.text
        if len(text) < _LEAST_PASSWORD or self._is_no_secret():
            return False
        marks = len(re.findall(r"[-_./ ]", text))
        if (
            text.replace("-", "")
            .replace("_", "")
            .replace(".", "")
            .replace("/", "")
            .replace(" ", "")
            .isalpha()
        ):
            return self._is_password_of_letters(marks)
        if " " in text:
            return False
        if not marks:
            return not _technical().fullmatch(text)
        if is_name(text):
            return ((self.quoted or self.environment) and marks < 2 and not text.islower()) or _is_mixed(text)
        return not _date().match(text)

    def _is_password_of_letters(self, marks: int) -> bool:
        text = self.text
        if not text.isascii() or "." in text or "/" in text or " " in text:
            return False
        if is_random(text):
            return True
        if marks:
            return marks > 2 and (self.quoted or self.environment) and "_" not in text
        if self.environment:
            return True
        if self.quoted:
            return (
                len(text) >= _LEAST_SECRET
                and not any(word in text.lower() for word in _LABELS)
                and not text.istitle()
            )
        return len(text) >= _LETTERS_ALONE and text.islower()

    def is_secret(self) -> bool:
        """Whether it may be a token or a key: random, or letters and digits that are no name."""
        text = self.text
        if len(text) < _LEAST_PASSWORD or " " in text or self._is_no_secret() or _date().match(text):
            return False
        digits, letters = _has_digit(text), _has_letter(text)
        if len(text) >= _LEAST_SECRET and (is_random(text) or _uuid().fullmatch(text)):
            return True
        if not letters:
            return False
        if not digits:
            return self.environment and text.isalpha() and text.isascii() and len(text) >= _LETTERS_ALONE
        if self.environment and text.isalnum():
            return not _technical().fullmatch(text)
        if (
            (self.quoted or self.environment)
            and len(text) >= _LEAST_SECRET
            and re.search(r"[!%^*#@?+~$]", text)
        ):
            return True
        return len(text) >= _LEAST_KEY and not is_name(text)

    def is_key(self, *, alone: bool) -> bool:
        """Whether it may be a secret when its name says little: long and random; ``alone`` doubts hashes and ids."""
        text = self.text
        if len(text) < _LEAST_KEY or " " in text or self._is_no_secret():
            return False
        if alone and re.fullmatch(r"[0-9a-fA-F-]+", text):
            return False
        return is_random(text) or bool(_uuid().fullmatch(text))

    def _is_no_secret(self) -> bool:
        text = self.text
        return (
            (is_sample_token(text) if is_random(text) else is_placeholder(text))
            or text.lower().strip("-_.:!*'\"") in _NO_SECRETS
            or text.lower().startswith(_REFERENCES)
            or (text[0] in "/$" and not is_random(text))
            or _dotted().fullmatch(text) is not None
            or len(set(text)) <= 2
        )


def is_random(text: str) -> bool:
    """Whether a part of a text mixes letters, cases and digits as no word and no name does."""
    for part in _parts().findall(text):
        chunks = _chunks().findall(part)
        if len(chunks) * 3 > len(part) and len(chunks) > 2:
            return True
        if sum(chunk[0].isdigit() for chunk in chunks) > 2:
            return True
    return False


def is_name(text: str) -> bool:
    """Whether it is words, joined by marks or by capitals, with few digits: a path, a dotted name, a slug."""
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", text) if part and not part.isdigit()]
    digits = sum(char.isdigit() for part in parts for char in part)
    return digits <= _FEW_DIGITS and all(_word().fullmatch(part) for part in parts)


def _is_mixed(text: str) -> bool:
    return text != text.lower() and _has_digit(text) and "/" not in text and "." not in text


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _has_letter(text: str) -> bool:
    return any(char.isalpha() for char in text)


@cache
def _parts() -> re.Pattern[str]:
    return re.compile(rf"[A-Za-z0-9]{{{_LEAST_RANDOM},}}")


@cache
def _chunks() -> re.Pattern[str]:
    return re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@cache
def _word() -> re.Pattern[str]:
    # Lower case, capitals, or camel case: never letters of both cases at random.
    return re.compile(r"[0-9]{0,4}(?:[a-z]+|[A-Z]+|(?:[A-Z]?[a-z]+)(?:[A-Z][a-z]+)*)[0-9]{0,4}[a-z]{0,3}")


@cache
def _technical() -> re.Pattern[str]:
    return re.compile(
        r"(?:sha|md|base|utf|oauth|argon|aes|rsa|scram|ipv|http|win|x|v|pbkdf|es|hs|rs|iso|rfc|cp|int|uint|float)"
        r"-?[0-9]{1,5}[a-z]{0,3}",
        re.IGNORECASE,
    )


@cache
def _date() -> re.Pattern[str]:
    return re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|v?[0-9]+\.[0-9]+\.")


@cache
def _uuid() -> re.Pattern[str]:
    return re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


@cache
def _dotted() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+")
