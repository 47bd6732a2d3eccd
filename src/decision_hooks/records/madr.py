"""The form of a decision (MADR v4): its five headings, the phrases for silence, and how a body is put together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from decision_hooks.errors import SettingError

CONTEXT = "Context and Problem Statement"
OPTIONS = "Considered Options"
OUTCOME = "Decision Outcome"
CONSEQUENCES = "Consequences"
MORE = "More Information"
NAMES = (CONTEXT, OPTIONS, OUTCOME, CONSEQUENCES, MORE)
HEADINGS = (f"## {CONTEXT}", f"## {OPTIONS}", f"## {OUTCOME}", f"### {CONSEQUENCES}", f"## {MORE}")

_MOST_LETTERS = 40  # of the name of a language
_MOST_TITLE = 120  # characters of a title that is made of a question


class Language(NamedTuple):
    """The language of what is written: the code chooses our phrases, the name is told to the model."""

    code: str  # uk | en
    name: str


class Sections(NamedTuple):
    """The texts of the five sections, "" where there is none."""

    context: str = ""
    options: str = ""
    outcome: str = ""
    consequences: str = ""
    more: str = ""


class Decision(NamedTuple):
    """One decision of a reply."""

    title: str  # "" for a decision without a title
    body: str  # the block, from its ``## ADR <title>`` line (if it has a title) on
    outcome: str  # the text of its section Decision Outcome


_PHRASES = {
    "uk": Sections(
        "Контекст у transcript не зафіксовано.",
        "Інші варіанти в transcript не обговорювалися.",
        "Рішення в transcript не зафіксовано.",
        "Neutral, because transcript не містить підтвердження наслідку.",
        "Додаткової інформації в transcript не зафіксовано.",
    ),
    "en": Sections(
        "The transcript does not state the context.",
        "No other options were discussed in the transcript.",
        "The transcript does not state the decision.",
        "Neutral, because the transcript does not confirm any consequence.",
        "The transcript holds no further information.",
    ),
}
_UKRAINIAN = frozenset(("", "uk", "ukr", "ukrainian", "українська", "украинский"))
_ENGLISH = frozenset(("en", "eng", "english", "англійська", "английский"))
_PLAN_WORDS = {
    "uk": {"plan-approved": "План схвалено", "plan-rejected": "План повернуто"},
    "en": {"plan-approved": "Plan approved", "plan-rejected": "Plan sent back"},
}


def language(value: str) -> Language:
    """The language that ``ADR_LANGUAGE`` names ("" is Ukrainian); raises ``SettingError`` for what names none."""
    name = value.strip()
    primary = re.split(r"[-_.@]", name.casefold(), maxsplit=1)[0]
    if primary in _UKRAINIAN and (primary or not name):
        return Language("uk", "Ukrainian")
    if primary in _ENGLISH:
        return Language("en", "English")
    words = re.split(r"[ -]", name)
    if len(name) <= _MOST_LETTERS and all(_is_word(word) for word in words):
        return Language("en", name)
    raise SettingError(
        f"ADR_LANGUAGE={value[:60]!r} is no name of a language of at most {_MOST_LETTERS} letters"
    )


def _is_word(word: str) -> bool:
    import unicodedata

    return bool(word) and word[0].isalpha() and all(unicodedata.category(char)[0] in "LM" for char in word)


def phrases(wanted: Language) -> Sections:
    """What is written where the session is silent."""
    return _PHRASES[wanted.code]


def assemble(texts: Sections, wanted: Language, extras: Sequence[str] = ()) -> str:
    """A body: the five headings exact and in order, phrases where a text is missing, then what is left."""
    silent = phrases(wanted)._replace(
        options=f"* {phrases(wanted).options}", consequences=f"* {phrases(wanted).consequences}"
    )
    parts = []
    for heading, text, phrase in zip(HEADINGS, texts, silent, strict=True):
        parts += [heading, text.strip("\n") if text.strip() else phrase]
    return "\n\n".join([*parts, *(extra for extra in extras if extra.strip())])


def block(title: str, body: str) -> str:
    """A block of a draft: its title line, where it has a title, and its body."""
    return f"## ADR {title}\n\n{body}" if title else body


def decision_of_choice(
    kind: str,
    question: str,
    options: Sequence[tuple[str, str]],
    chosen: Sequence[str],
    words: str,
    wanted: Language,
) -> Decision:
    """The decision of an answered question or a judged plan, in the person's own words alone.

    ``kind`` is ``question``, ``plan-approved`` or ``plan-rejected``; ``options`` are labels with descriptions.
    """
    silent = phrases(wanted)
    label = ", ".join(chosen) or _PLAN_WORDS[wanted.code].get(kind, "") or silent.outcome
    reason = words.strip() or silent.more
    outcome = f'Chosen option: "{_one_line(label)}", because {reason}'
    listed = "\n".join(
        f"* {_one_line(name)}: {_one_line(told)}" if told.strip() else f"* {_one_line(name)}"
        for name, told in options
    )
    context = _without_headings(question.strip()) if kind != "question" else question.strip()
    title = _title_of(question)
    body = assemble(Sections(context, listed, outcome), wanted)
    return Decision(title, block(title, body) + "\n", outcome)


def _title_of(question: str) -> str:
    first = next((line for line in question.splitlines() if line.strip(" \t#*>-")), "")
    title = _one_line(first.strip(" \t#*>-"))
    if len(title) <= _MOST_TITLE:
        return title
    cut = title[:_MOST_TITLE]
    return cut.rsplit(" ", 1)[0] + "…"


def _without_headings(text: str) -> str:
    """A plan as text of a section: its headings become bold lines, so that they part no section."""
    from decision_hooks.text import markdown

    return "\n".join(
        f"**{line.title}**" if line.level and line.title else line.text for line in markdown.lines(text)
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
