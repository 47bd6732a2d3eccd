"""Whether an outcome is that nothing was chosen: judged by its chosen option alone, every word of it known."""

from __future__ import annotations

import re

from decision_hooks.text import markdown

_MOST_WORDS = 10
_MOST_CHARACTERS = 200
_CHOSEN = re.compile(
    r"^[ \t>*_-]*(?:chosen(?: option)?|decision|outcome|обран\w*(?: варіант\w*| опці\w*)?|"
    r"вибран\w*(?: варіант\w*)?|рішення|выбран\w*(?: вариант\w*)?|решение)[*_ \t]*[:：][*_ \t]*(.+)$",
    re.IGNORECASE | re.MULTILINE,
)  # the program's own form, and those that models make of it
_QUOTED = re.compile(r"(?:\"([^\"\n]*)\"|«([^»\n]*)»|[„“]([^“”\n]*)[“”])")
_ENDS = re.compile(
    r"[,;.(]|\s[—–-]+\s|\s(?:because|бо|оскільки|тому що|через те|потому что|так как|поскольку)\s",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019\u02bc][^\W\d_]+)*")

# Beginnings of words ("=" : the whole word). A text is judged only when each of its words is one of these.
_ALONE = "=none =nothing =undecided =нічого =ничего =жодного =жодний".split()
_DENIALS = (
    "=not =no =none =nothing =neither =не =ні =нема =немає =нічого =жоден =без відсутн "
    "жодн =нет =ни =ничего =никакого =никакое отсутств"
).split()
_VERBS = (
    "=chosen =selected =decided =made =taken =reached =determined =picked =recorded =stated "
    "обран вибран прийнят ухвален визначен зроблен зафіксован вирішен выбран принят определен определён "
    "сделан зафиксирован решен решён"
).split()
_SUBJECTS = "=option =options =decision =choice =outcome варіант рішен опці виб вариант решени выбор".split()
_FILLERS = (
    "=was =were =is =has =have =been =yet =final =explicit =one =any =of =the =a =an =in =transcript =session "
    "=still =ще =поки =що =остаточно =остаточне =остаточного =явно =явного =так =і =й =було =був =була =в =у "
    "=цьому =цій =сесії =один =одного =одну =наразі =конкретного =жодного =никакой =из =з =ещё =еще =пока "
    "=окончательно =окончательное =окончательного =был =было =была =явного =сессии =и"
).split()


def nothing_chosen(outcome: str, options: str = "") -> bool:
    """Whether the chosen option of an outcome is that nothing was chosen, in Ukrainian, English or Russian.

    A label that stands among the options, or in code marks, is a real choice, whatever it says.
    """
    label = _label(outcome)
    if not label or "`" in label or _folded(label) in {_folded(item) for item in _items(options)}:
        return False
    words = [word.casefold() for word in _WORD.findall(label)]
    if not words or len(words) > _MOST_WORDS:
        return False
    if len(words) == 1 and _is(words[0], _ALONE):
        return True
    known = all(_is(word, (*_DENIALS, *_VERBS, *_SUBJECTS, *_FILLERS)) for word in words)
    rest = [word for word in words if not _is(word, _DENIALS)]
    return known and len(rest) < len(words) and any(_is(word, (*_VERBS, *_SUBJECTS)) for word in rest)


def _label(outcome: str) -> str:
    """The option that an outcome names as chosen, else the outcome itself when it is one short line."""
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
    found = []
    for line in markdown.split_lines(options):
        item = re.match(r"[ \t]*(?:[*+-]|\d{1,3}[.)])[ \t]+(.+)", line)
        if item:
            found += [item[1], re.split(r":\s|\s[—–-]\s", item[1])[0]]
    return found


def _folded(text: str) -> str:
    return " ".join(text.split()).strip('*_`"«»„“”. ').casefold()


def _is(word: str, known: tuple[str, ...] | list[str]) -> bool:
    return any(word == one[1:] if one[0] == "=" else word.startswith(one) for one in known)
