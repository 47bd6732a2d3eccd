"""Which choices decide something."""

from __future__ import annotations

import pytest

from decision_hooks.sessions.choices import is_trivial, real_choices
from decision_hooks.sessions.model import Choice, Option, Session


def question(text: str, *labels: str, chosen: tuple[str, ...] = ("x",)) -> Choice:
    return Choice("question", text, tuple(map(Option, labels)), chosen, "")


@pytest.mark.parametrize(
    ("choice", "real"),
    [
        (question("Which store?", "SQLite", "Postgres"), True),
        (question("Which store?", "SQLite", "Postgres", chosen=()), False),
        (question("Which store?", "SQLite", "Cancel"), False),
        (question("Which store?", "SQLite", "sqlite "), False),
        (question("Use SQLite?", "Yes", "No"), False),
        (question("Use SQLite?", "Yes, use SQLite", "No, use Redis", "Cancel"), True),
        (question("Залежність?", "Так", "Ні", "Продовжити"), False),
        (question("Хранилище?", "Да", "Нет", "Продолжить"), False),
        (question("Continue?", "Run tests", "Commit"), False),
        (question("", "SQLite", "Postgres"), False),
        (question("Which?", "A", "B"), True),
        (Choice("plan-approved", "# plan", (), (), ""), True),
        (Choice("plan-approved", "", (), (), ""), False),
        (Choice("plan-rejected", "# plan", (), (), "use SQLite"), True),
        (Choice("plan-rejected", "# plan", (), (), ""), False),
    ],
)
def test_a_real_choice_has_two_real_options_or_a_judged_plan(choice: Choice, real: bool) -> None:
    assert real_choices(Session("claude", choices=(choice,))) == ((choice,) if real else ())


@pytest.mark.parametrize(
    "words", ["OK", "Yes, go ahead!", "Don't", "ok 👍", "Гаразд, далі", "Да, продолжай", "✅", ""]
)
def test_words_that_only_go_on_or_stop_are_trivial(words: str) -> None:
    assert is_trivial(words)


@pytest.mark.parametrize("words", ["SQLite", "Yes, with SQLite", "Так, через Redis", "Да, на Go", "日本語"])
def test_words_that_name_something_are_not_trivial(words: str) -> None:
    assert not is_trivial(words)
