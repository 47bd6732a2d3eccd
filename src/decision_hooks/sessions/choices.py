"""Structured evidence of decisions: questions with real options that were answered, and plans that were judged."""

from __future__ import annotations

import re

from decision_hooks.sessions.model import Choice, Session

# Words of which an answer or a question consists that decides no more than whether to go on.
_TRIVIAL = frozenset(
    (
        # en
        "yes y no n nope ok okay continue proceed cancel stop go ahead on sure skip abort confirm please"
        " do dont not it this that with to i we you shall should can"
        # uk
        " так ні гаразд добре ок окей продовжити продовжуй продовжуємо продовжувати продовжуйте далі скасувати"
        " зупинити зупинись стоп пропустити підтвердити підтверджую не це чи"
        # ru
        " да нет ладно хорошо продолжить продолжай продолжаем продолжать продолжайте дальше отменить отмена"
        " остановить остановись пропустить подтвердить подтверждаю это ли"
    ).split()
)


def real_choices(session: Session) -> tuple[Choice, ...]:
    """The choices that decide something.

    A question with two real options that was answered, a plan approved, a plan sent back with a reason.
    """
    return tuple(choice for choice in session.choices if is_real(choice))


def is_real(choice: Choice) -> bool:
    """Whether a choice decides something."""
    if choice.kind == "plan-approved":
        return bool(choice.question)
    if choice.kind == "plan-rejected":
        return bool(choice.words)
    labels = {option.label.strip().casefold() for option in choice.options if not is_trivial(option.label)}
    return bool(choice.chosen) and len(labels) >= 2 and not is_trivial(choice.question)


def is_trivial(text: str) -> bool:
    """Whether a text says no more than yes, no, go on or stop."""
    words = re.findall(r"\w+", text.casefold().replace("'", "").replace("’", "").replace("ʼ", ""))
    return all(word in _TRIVIAL for word in words)
