"""A backend is one card and one row of the table: each card is whole, and a new one is chosen and called."""

from __future__ import annotations

from pathlib import Path

import pytest

from decision_hooks.backends import call, table
from decision_hooks.backends.base import MODEL, WORKSPACE, Card, Form
from decision_hooks.backends.choice import BackendChoice, capture_choice, normalize_choice
from decision_hooks.settings import CaptureSettings, NormalizeSettings, capture_settings, normalize_settings

CARD = Card(
    name="pretend",
    label="pretend CLI",
    model_field="claude_model",
    capture=(Form(("--new-flag", MODEL)), Form(("capture", MODEL, WORKSPACE))),
    normalize=(Form(("normalize", MODEL), in_root=True),),
    absent="pretend CLI not found",
    login="pretend login",
    alias="make-believe",
)
PROGRAM = """#!/bin/sh
[ "$1" = --new-flag ] && { echo "unknown option" >&2; exit 1; }
echo "$1 $2 ${3:+$(ls "$3" | wc -l)}|$(pwd)|$(cat)"
"""


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The table with the pretended backend alone, and its program on the PATH."""
    monkeypatch.setattr(table, "CARDS", (CARD,))
    program = tmp_path / "bin" / "pretend"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:/usr/bin:/bin"}


def reply(choice: BackendChoice, root: Path, environ: dict[str, str]) -> str:
    """The reply of the chosen backend to a prompt."""
    assert choice.backend is not None
    answer = call.ask(
        choice.backend, "the prompt", root=str(root), environ=environ, timeout=20, is_answer=lambda _: True
    )
    assert answer.trouble == ""
    return answer.text


@pytest.mark.parametrize("name", ["pretend", "auto"])
def test_a_new_backend_captures(name: str, tmp_path: Path, environ: dict[str, str]) -> None:
    settings = capture_settings({"CAPTURE_DECISIONS_BACKEND": name})
    choice = capture_choice(settings, str(tmp_path), environ)
    assert choice.label == "pretend CLI, model sonnet"
    words, folder, prompt = reply(choice, tmp_path, environ).strip().split("|")
    assert words.split() == ["capture", "sonnet", "0"]
    assert folder != str(tmp_path)
    assert prompt == "the prompt"


@pytest.mark.parametrize("name", ["pretend", "make-believe", ""])
def test_a_new_backend_normalises(name: str, tmp_path: Path, environ: dict[str, str]) -> None:
    settings = normalize_settings({"ADR_NORMALIZE_BACKEND": name})
    choice = normalize_choice(settings, str(tmp_path), environ)
    assert reply(choice, tmp_path, environ) == f"normalize sonnet |{tmp_path}|the prompt\n"


def test_a_new_backend_is_a_value_of_the_setting_and_its_absence_is_known(environ: dict[str, str]) -> None:
    assert table.capture_names() == ["pretend", "auto", "choices"]
    assert [card.absent for card in table.CARDS] == ["pretend CLI not found"]
    settings = capture_settings({"CAPTURE_DECISIONS_BACKEND": "pretend"})
    assert capture_choice(settings, "/", {"PATH": ""}) == BackendChoice(
        "", reasons=("pretend CLI not found",)
    )


@pytest.mark.parametrize("card", table.CARDS, ids=table.names())
def test_a_card_is_whole(card: Card) -> None:
    for text in (card.name, card.label, card.absent, card.login):
        assert text
        assert text == text.strip()
    assert card.model_field in CaptureSettings._fields
    assert card.model_field in NormalizeSettings._fields
    for form in (*card.capture, *card.normalize):
        assert form.words.count(MODEL) == 1
    assert card.capture
    assert card.normalize
    assert bool(card.no_model) == (not getattr(capture_settings({}), card.model_field))
    assert getattr(normalize_settings({}), card.model_field), "normalisation has a model by default"


def test_each_name_is_of_one_backend() -> None:
    names = [name for card in table.CARDS for name in (card.name, card.alias) if name]
    taken = [*names, "auto", *table.NO_MODEL, table.LOCAL]
    assert len(taken) == len(set(taken))
