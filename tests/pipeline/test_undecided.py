"""Outcomes that nothing was chosen, and those that only sound so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.pipeline.undecided import nothing_chosen


@pytest.mark.parametrize(
    "outcome",
    [
        "Chosen option: не обрано, because transcript обривається.",
        "Chosen option: не обрано — браку даних",
        'Chosen option: "не обрано", because обговорення не завершено.',
        "Chosen option: «Жодного варіанту не обрано», бо користувач не відповів",
        "**Chosen option:** рішення ще не прийнято.",
        "Chosen option: Рішення не ухвалено",
        "Chosen option: вибір не зроблено, because це питання лишилося",
        "Chosen option: рішення немає",
        "Chosen option: нічого не обрано",
        "Рішення: не визначено",
        'Chosen option: "none", because the session ended.',
        "Chosen option: No option was chosen, because the user left.",
        "Chosen option: no decision has been made yet.",
        "Chosen option: nothing was decided",
        "Chosen option: not chosen (the session ended)",
        "Chosen option: undecided",
        'Chosen option: "вариант не выбран", потому что сессия прервана',
        "Выбранный вариант: решение пока не принято",
        "Chosen option: ничего не выбрано",
        "No decision was made.",
        "Рішення не ухвалено.",
        "Решение не принято",
        'Context first.\n\nChosen option: "не обрано", because тиша',
    ],
)
def test_a_chosen_option_that_is_none_is_no_decision(outcome: str) -> None:
    assert nothing_chosen(outcome)


@pytest.mark.parametrize(
    ("outcome", "options"),
    [
        ('Chosen option: "SQLite", because Redis не обрано.', ""),
        ('Chosen option: "Не додавати meta-перевірку", because фікс структурний', ""),
        ('Chosen option: "Не приймати рішення без тестів", because так надійніше', ""),
        ('Chosen option: "No option parsing", because it is not needed', ""),
        ("Chosen option: `none`, because eviction is off", ""),
        ('Chosen option: "none", because eviction is off', "* none\n* lru"),
        ('Chosen option: "None", because eviction is off', "* lru\n* none: nothing is evicted"),
        ('Chosen option: "Видалити обидві функції", because рішення не прийнято раніше', ""),
        ("Chosen option: Do nothing until the next release", ""),
        ("The team decided on SQLite.\nNo decision was made on Redis.", ""),
        ("Chosen option:", ""),
        ("Нічого складного: обрано SQLite", ""),
        ("", ""),
    ],
)
def test_a_real_choice_is_a_decision_whatever_else_was_not_chosen(outcome: str, options: str) -> None:
    assert not nothing_chosen(outcome, options)


@given(st.text(max_size=300), st.text(max_size=100))
def test_any_text_is_judged(outcome: str, options: str) -> None:
    assert nothing_chosen("Chosen option: " + outcome, options) in (True, False)
