"""Questions fit a small context; answers are taken in the form that was asked for, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.backends import prompts
from decision_hooks.pipeline import questions
from decision_hooks.pipeline.drafts import condensed, condensed_record, read
from decision_hooks.pipeline.questions import ANSWERED, KINDS, UNUSABLE, Judgement, Question
from decision_hooks.records.front_matter import DraftFile
from support.adr_texts import block, draft, record

SOURCE = "The cache needs a store. SQLite was chosen because it is embedded. Nothing has to be run beside it."
SECTIONS = {
    "title": "SQLite for the cache",
    "context": "The cache needs a store",
    "options": ["SQLite"],
    "outcome": "SQLite was chosen because it is embedded",
    "consequences": [],
    "more": "",
}


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("yes", True), ("Yes.", True), ("**YES**", True), ("yes, both choose the store", True),
        ("Answer: yes", True), ("Так", True), ("так, обидва про кеш", True), ("Відповідь: **так**.", True),
        ("Да.", True), ("Oui", True), ("ja", True), ("Sí", True), ("Tak", True), ("true", True),
        ("no", False), ("No!", False), ("no: they differ", False), ("Ні", False), ("НІ.", False),
        ("нет", False), ("Ответ: нет", False), ("Nein", False), ("nie", False),
        ("<think>yes or no? no</think>\nyes", True), ("```\nyes\n```", True),
        ("", None), ("maybe", None), ("yes or no", None), ("Так чи ні", None), ("I think yes", None),
        ("yesterday", None), ("nothing", None), ("Both texts are about a cache.", None), ("yes " * 200, None),
        ("yes " + "x" * 400, None), ("\x00", None),
    ],
)  # fmt: skip
def test_a_yes_or_no_is_one_first_word_that_nothing_contradicts(reply: str, said: bool | None) -> None:
    for kind in ("same", "kept"):
        answer = questions.read(Question(kind, ("a",), ()), reply)
        assert answer == (Judgement(UNUSABLE) if said is None else Judgement(ANSWERED, yes=said))


def sections(reply: str) -> Judgement:
    return questions.read(Question("sections", ("a",), (), SOURCE), reply)


def additions(reply: str) -> Judgement:
    return questions.read(Question("additions", ("a", "b"), (), SOURCE), reply)


@pytest.mark.parametrize(
    "form", ["{}", "```json\n{}\n```", "Here it is:\n{}\nDone.", "<think>{{</think>{}", "\ufeff{}"]
)
def test_sections_are_found_in_fences_and_prose(form: str) -> None:
    answer = sections(form.replace("{}", json.dumps(SECTIONS), 1).replace("{{", "{"))
    assert answer.sections is not None
    assert answer.sections.title == "SQLite for the cache"
    assert answer.sections.texts.options == "* SQLite"
    assert answer.sections.texts.more == ""


@pytest.mark.parametrize(
    "reply",
    [
        "", "yes", "{", json.dumps(SECTIONS)[:-20], "[]", "null", '{"sections": {}}', "[" * 5000, '{"a":' * 5000,
        json.dumps({**SECTIONS, "outcome": ""}),
        json.dumps({**SECTIONS, "outcome": 5}),
        json.dumps({**SECTIONS, "outcome": "Kafka brokers replicate partitions across regions"}),
        json.dumps({**SECTIONS, "title": ["x"]}),
        json.dumps({**SECTIONS, "options": {"a": 1}}),
        json.dumps({**SECTIONS, "options": [1, 2]}),
        json.dumps({key: value for key, value in SECTIONS.items() if key != "more"}),
        '{"title": ' + "9" * 5000 + "}",
    ],
)  # fmt: skip
def test_sections_of_another_form_are_refused(reply: str) -> None:
    assert sections(reply) == Judgement(UNUSABLE)


def test_a_section_in_words_that_are_not_the_drafts_is_left_out() -> None:
    answer = sections(
        json.dumps({**SECTIONS, "context": "Kubernetes clusters autoscale quickly", "title": "Kafka"})
    )
    assert answer.sections is not None
    assert answer.sections.texts.context == ""
    assert answer.sections.title == ""


def test_headings_of_a_model_part_no_section() -> None:
    answer = sections(
        json.dumps({**SECTIONS, "outcome": "## Decision Outcome\nSQLite was chosen, it is embedded"})
    )
    assert answer.sections is not None
    assert answer.sections.texts.outcome == "Decision Outcome\nSQLite was chosen, it is embedded"


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ('{"additions": []}', ()),
        ('{"additions": ["* SQLite is embedded"]}', ("SQLite is embedded",)),
        (
            '{"additions": ["# SQLite\\nis embedded", "Kafka replicates partitions", ""]}',
            ("SQLite is embedded",),
        ),
        ('ok {"additions": ["SQLite was chosen"], "why": 1}', ("SQLite was chosen",)),
    ],
)
def test_additions_are_statements_in_the_words_of_the_draft(reply: str, items: tuple[str, ...]) -> None:
    assert additions(reply) == Judgement(ANSWERED, additions=items)


@pytest.mark.parametrize(
    "reply",
    ["yes", '{"additions": "SQLite"}', '{"additions": [1]}', '{"additions": null}', '{"added": []}',
     '{"additions": ["SQ',
     '{"additions": ["Kafka replicates partitions"]}', json.dumps({"additions": ["SQLite"] * 50})],
)  # fmt: skip
def test_additions_of_another_form_are_refused(reply: str) -> None:
    assert additions(reply) == Judgement(UNUSABLE)


SCALARS = st.none() | st.booleans() | st.floats() | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(st.sampled_from(KINDS), st.text(max_size=400) | VALUES.map(json.dumps))
def test_any_reply_is_answered_or_unusable(kind: str, reply: str) -> None:
    assert questions.read(Question(kind, ("a",), (), SOURCE), reply).state in (ANSWERED, UNUSABLE)


# -- what is asked


def long(word: str) -> str:
    return f"{word} довге пояснення рішення з подробицями. " * 400


HUGE = draft("Кеш", context=long("КОНТЕКСТ"), outcome='Chosen option: "SQLite", because ' + long("ВИСНОВОК"),
             consequences="* " + long("НАСЛІДОК"), more=long("БІЛЬШЕ"))  # fmt: skip
SEVERAL = "\n".join(
    block(f"Рішення {n}", context=long("к"), outcome=long(f"висновок {n}")) for n in range(12)
)


def asked(text: str) -> list[Question]:
    body = text.split("---\n\n", 1)[-1]
    reading = read(DraftFile("a.md", text))
    return [
        questions.same(("a.md", body), ("b.md", record("Кеш", body=body)), is_draft=False),
        questions.same(("a.md", body), ("b.md", body), is_draft=True),
        questions.kept(reading),
        questions.sections(reading),
        questions.additions(reading, ("b.md", record("Кеш", body=body)), is_draft=False),
    ]


@pytest.mark.parametrize("text", [HUGE, SEVERAL, "слово " * 20_000], ids=["one", "several", "prose"])
@pytest.mark.parametrize("language", ["uk", "en"])
def test_a_question_with_its_answer_fits_a_context_of_8000_tokens(text: str, language: str) -> None:
    for question in asked(text):
        values = dict(question.values) | {"language": "Ukrainian", "boundary": "DATA-0011223344556677"}
        prompt = prompts.fill(f"local-{question.kind}", language, values)
        assert len(prompt) < 11_000  # two characters a token leave 2,500 tokens for the answer
        assert not prompt.startswith("/")


def test_a_text_is_cut_by_value_not_by_position() -> None:
    shown = condensed(HUGE.split("---\n\n", 1)[1], 1600)
    assert len(shown) <= 1600
    places = [shown.find(word) for word in ("Кеш", "ВИСНОВОК", "КОНТЕКСТ", "SQLite\n", "НАСЛІДОК")]
    assert -1 not in places
    assert shown.find("ВИСНОВОК") < shown.find("КОНТЕКСТ")
    assert shown.count("ВИСНОВОК") > shown.count("НАСЛІДОК")


def test_of_several_decisions_each_shows_its_title_and_outcome() -> None:
    shown = condensed(SEVERAL, 4500)
    assert all(f"Рішення {n}" in shown and f"висновок {n}" in shown for n in range(12))
    assert len(shown) <= 4500


def test_silence_is_not_shown() -> None:
    silent = draft(
        context="The transcript does not state the context.",
        more="Додаткової інформації в transcript не зафіксовано.",
    )
    shown = condensed(silent.split("---\n\n", 1)[1], 1600)
    assert "transcript" not in shown
    assert "embedded" in shown


@given(st.text(max_size=3000) | st.just(HUGE) | st.just(SEVERAL), st.integers(150, 5000))
def test_a_text_never_takes_more_than_its_room(text: str, budget: int) -> None:
    assert len(condensed(text, budget)) <= budget
    assert len(condensed_record(text, budget)) <= budget


def test_what_is_not_evidenced_is_told() -> None:
    text = draft().replace("---\n\n##", "unverified:\n- src/ghost.py\n- 5 ms\n---\n\n##", 1)
    values: dict[str, Any] = dict(questions.sections(read(DraftFile("a.md", text), lambda _: text)).values)
    assert values["unverified"] == "src/ghost.py; 5 ms"


def test_the_second_asking_shows_the_texts_the_other_way_round() -> None:
    first = questions.same(("a", "one"), ("b", "two"), is_draft=True)
    second = questions.swapped(first)
    assert dict(second.values) == {"one": dict(first.values)["other"], "other": dict(first.values)["one"]}
