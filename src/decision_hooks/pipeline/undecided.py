"""Whether an outcome says that nothing was chosen, judged by its chosen option alone."""

from __future__ import annotations

import re

from decision_hooks.languages.table import in_any
from decision_hooks.text.cutting import one_line

_MOST_WORDS = 10
_MOST_CHARACTERS = 200
_CHOSEN = re.compile(  # our own form, and those that models make of it
    rf"^[ \t>*_-]*(?:{in_any(lambda card: card.chosen)})[*_ \t]*[:：][*_ \t]*(.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED = re.compile(r"(?:\"([^\"\n]*)\"|«([^»\n]*)»|[„“]([^“”\n]*)[“”])")
_ENDS = re.compile(rf"[,;.(]|\s[—–-]+\s|\s(?:{in_any(lambda card: card.because)})\s", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019\u02bc][^\W\d_]+)*")

# A text is judged only when all of its words are in the last three.
_ALONE = re.compile(in_any(lambda card: card.nothing))
_DENIALS = re.compile(in_any(lambda card: card.denials))
_VERBS_AND_SUBJECTS = re.compile(f"{in_any(lambda card: card.verbs)}|{in_any(lambda card: card.subjects)}")
_FILLERS = re.compile(in_any(lambda card: card.fillers))


def nothing_chosen(outcome: str, options: str = "") -> bool:
    """Whether the chosen option of an outcome says that nothing was chosen, in any language that has a card.

    A label that is one of the options, or in code marks, is a real choice whatever it says.
    """
    label = _label(outcome)
    if not label or "`" in label or _folded(label) in {_folded(item) for item in _items(options)}:
        return False
    words = [word.casefold() for word in _WORD.findall(label)]
    if not words or len(words) > _MOST_WORDS:
        return False
    if len(words) == 1 and _ALONE.fullmatch(words[0]):
        return True
    rest = [word for word in words if not _DENIALS.fullmatch(word)]
    telling = [word for word in rest if _VERBS_AND_SUBJECTS.fullmatch(word)]
    known = all(word in telling or _FILLERS.fullmatch(word) for word in rest)
    return known and bool(telling) and len(rest) < len(words)


def _label(outcome: str) -> str:
    """The chosen option of an outcome, or the outcome itself when it is one short line."""
    found = _CHOSEN.search(outcome)
    if found is None:
        text = outcome.strip().strip('*_"«».')
        return "" if "\n" in text or len(text) > _MOST_CHARACTERS else text
    text = found[1].strip()
    quoted = _QUOTED.match(text)
    if quoted:
        return next((part for part in quoted.groups() if part), "")
    return _ENDS.split(text, maxsplit=1)[0]


def _items(options: str) -> list[str]:
    """The texts of listed options, whole and without their descriptions."""
    items = re.findall(r"(?m)^[ \t]*(?:[*+-]|\d{1,3}[.)])[ \t]+(.+)$", options.replace("\r\n", "\n"))
    return [*items, *(re.split(r":\s|\s[—–-]\s", item)[0] for item in items)]


def _folded(text: str) -> str:
    return one_line(text).strip('*_`"«»„“”. ').casefold()
