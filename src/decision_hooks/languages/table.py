"""The table of languages, and the choice of one by a setting."""

from __future__ import annotations

import re
from collections.abc import Callable

from decision_hooks.errors import SettingError
from decision_hooks.languages.en import Language
from decision_hooks.languages.ru import Russian
from decision_hooks.languages.uk import Ukrainian

LANGUAGES = (Ukrainian(), Language(), Russian())  # the first is the default

_MOST_LETTERS = 40  # of the name of a language


def language(setting: str) -> Language:
    """The language that ``ADR_LANGUAGE`` names; a name without a card has the English one.

    Raises ``SettingError`` when it is not a name.
    """
    name = setting.strip()
    if not name:
        return LANGUAGES[0]
    primary = re.split(r"[-_.@]", name.casefold(), maxsplit=1)[0]
    for card in LANGUAGES:
        if primary and primary in card.settings.split("|"):
            return card
    if len(name) <= _MOST_LETTERS and all(map(_is_word, re.split(r"[ -]", name))):
        return Language(name)
    raise SettingError(
        f"ADR_LANGUAGE={setting[:60]!r} is no name of a language of at most {_MOST_LETTERS} letters"
    )


def in_any(field: Callable[[Language], str]) -> str:
    """A field of all languages as one, to recognise words of any: ``in_any(lambda card: card.yes)``."""
    return "|".join(filter(None, dict.fromkeys(map(field, LANGUAGES))))


def phrase_values(card: Language) -> dict[str, str]:
    """The phrases of a language as values for a prompt template: ``phrase_context`` and so on."""
    names = ("context", "options", "outcome", "consequences", "more")
    return {f"phrase_{name}": phrase for name, phrase in zip(names, card.phrases, strict=True)}


def _is_word(word: str) -> bool:
    import unicodedata

    return bool(word) and word[0].isalpha() and all(unicodedata.category(char)[0] in "LM" for char in word)
