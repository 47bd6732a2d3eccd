"""The answered questions and judged plans of a session that decide something."""

from __future__ import annotations

import re
from functools import lru_cache

from decision_hooks.languages.table import in_any
from decision_hooks.sessions.model import Choice, Session


def real_choices(session: Session) -> tuple[Choice, ...]:
    """The choices that decide something.

    A question with two real options that was answered, a plan approved, a plan sent back with a reason.
    """
    return tuple(choice for choice in session.choices if _is_real(choice))


def _is_real(choice: Choice) -> bool:
    if choice.kind == "plan-approved":
        return bool(choice.question)
    if choice.kind == "plan-rejected":
        return bool(choice.words)
    labels = {option.label.strip().casefold() for option in choice.options if not is_trivial(option.label)}
    return bool(choice.chosen) and len(labels) >= 2 and not is_trivial(choice.question)


def is_trivial(text: str) -> bool:
    """Whether a text says no more than yes, no, go on or stop."""
    trivial = _trivial()
    words = re.findall(r"\w+", text.casefold().replace("'", "").replace("’", "").replace("ʼ", ""))
    return all(word in trivial for word in words)


@lru_cache(maxsize=1)
def _trivial() -> frozenset[str]:
    return frozenset(in_any(lambda card: card.trivial).split("|"))
