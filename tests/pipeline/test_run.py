"""What the local pipeline makes of a batch: rules without a model, stages with one, lawful whatever it says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decision_hooks.languages import table
from decision_hooks.pipeline import questions, run
from decision_hooks.pipeline.operations import Slugs, as_json
from decision_hooks.pipeline.questions import ANSWERED, FAILED, UNASKED, UNUSABLE, Judgement, Question
from decision_hooks.pipeline.stages import Records
from decision_hooks.records import front_matter, madr, search
from decision_hooks.records.front_matter import DraftFile
from decision_hooks.replies import plan
from decision_hooks.replies.operations import RawOperation, operations
from support.adr_texts import block, draft, record

EN = table.language("en")
A, B, C = "260304-0501-a.md", "260304-0502-b.md", "260304-0503-c.md"
QUEUE = "260301-0900-queue.md"
RECORDS = {QUEUE: record("Use a queue"), "260302-0900-cache.md": record("Cache prices")}


def drafts(**texts: str) -> list[DraftFile]:
    names = {"a": A, "b": B, "c": C}
    return [DraftFile(names[key], text) for key, text in texts.items()]


def planned(found: run.Proposal, batch: Sequence[DraftFile], records: dict[str, str]) -> plan.Plan:
    """The operations as the run would judge them, through their JSON."""
    return plan.plan(
        operations(as_json(found.operations)),
        batch=batch,
        folder=plan.Folder(
            frozenset(records) | {one.name for one in batch},
            frozenset(one.name for one in batch),
            records.get,
        ),
        language=EN,
    )


def by_rules(batch: list[DraftFile]) -> dict[str, RawOperation]:
    found = run.by_rules(batch, frozenset(RECORDS), EN)
    assert planned(found, batch, RECORDS).refusals == ()
    return {one.file: one for one in found.operations}


# -- rules


def words(subject: str) -> dict[str, object]:
    """Sections that hold many words of their own."""
    return {
        "context": f"The {subject} grows and nobody knows how {subject} shall be bounded by the service in time.",
        "outcome": f'Chosen option: "Bound {subject}", because {subject} would else take all memory that there is.',
        "consequences": f"* Good, because {subject} stays small, as was measured for a week in the lab.",
        "more": f"src/{subject}.py holds it, and docs/{subject}.md tells of it.",
    }


def test_a_draft_becomes_a_record_of_its_own_sections() -> None:
    batch = drafts(a=draft("Use SQLite"))
    found = by_rules(batch)[A]
    assert (found.op, found.slug) == ("rewrite", "use-sqlite")
    text = planned(run.by_rules(batch, frozenset(), EN), batch, {}).writes[0].text
    assert front_matter.read(text).text("title") == "Use SQLite"
    assert front_matter.split(text).body.count("#") == 11
    assert block().split("\n\n", 1)[1].strip() in text


def test_what_a_draft_does_not_tell_is_the_phrase_for_silence() -> None:
    text = draft().replace("## Considered Options\n\n* SQLite\n* Redis\n\n", "")
    assert "* No other options were discussed in the transcript." in by_rules(drafts(a=text))[A].content


def test_old_drafts_with_bold_labels_are_read_as_sections() -> None:
    head = draft().split("## ADR")[0]
    text = f"{head}## ADR Кеш\n\n**Контекст:** Потрібен кеш.\n\n**Рішення/Процедура/Факт:** Обрано SQLite.\n"
    content = by_rules(drafts(a=text))[A].content
    assert "## Context and Problem Statement\n\nПотрібен кеш." in content
    assert "## Decision Outcome\n\nОбрано SQLite." in content


def test_of_equal_drafts_of_a_session_the_longest_stays() -> None:
    other = draft().replace("The service needs", "the  service\n\nneeds")
    found = by_rules(drafts(a=draft(), b=other))
    assert found[A] == RawOperation("delete", A, reason=f"it equals {B}")
    assert found[B].op == "rewrite"


def test_equal_drafts_of_two_sessions_stay_two() -> None:
    found = by_rules(drafts(a=draft(session="s1"), b=draft(session="s2")))
    assert [one.op for one in found.values()] == ["rewrite", "rewrite"]
    assert len({one.slug for one in found.values()}) == 2


def test_drafts_of_an_unknown_session_are_never_taken_for_one_session() -> None:
    found = by_rules(drafts(a=draft(session="unknown"), b=draft(session="unknown")))
    assert [one.op for one in found.values()] == ["rewrite", "rewrite"]


def test_a_near_duplicate_of_its_session_is_merged_with_its_own_lines_only() -> None:
    one = draft("Bound the queue", **words("queue"))
    more = one.replace("## More Information\n", "## More Information\n\nThe bound is 100 entries.\n")
    other = one.replace("in the lab.", "in the lab.\n* Bad, because producers have to wait.")
    found = by_rules(drafts(a=other, b=more + "\nAnd it is configured by an own variable of the service.\n"))
    assert found[B].op == "rewrite"
    assert (found[A].op, found[A].target) == ("merge-into", found[B].slug)
    assert found[A].additions == "### Consequences\n\n* Bad, because producers have to wait."


def test_a_near_duplicate_without_a_line_of_its_own_goes() -> None:
    text = draft("Bound the queue", **words("queue"))
    found = by_rules(drafts(a=text, b=text + "\nOne line more that the other has not got.\n"))
    assert (found[A].op, found[A].reason) == ("delete", f"it says nothing that {B} does not")


def test_drafts_that_share_only_headings_and_phrases_are_no_near_duplicates() -> None:
    silent = madr.phrases(EN)
    sections = {"context": silent.context, "options": (silent.options,), "consequences": silent.consequences,
                "more": silent.more}  # fmt: skip
    one = draft("Bound the queue", outcome='Chosen option: "Bound", because of memory.', **sections)
    other = draft("Log as JSON", outcome='Chosen option: "JSON", because tools read it.', **sections)
    assert [found.op for found in by_rules(drafts(a=one, b=other)).values()] == ["rewrite", "rewrite"]


HEAD = draft().split("## ADR")[0]


@pytest.mark.parametrize(
    "body",
    ["", "\n \n", "NONE\n", "## ADR Use SQLite\n\n## Context and Problem Statement\n\n## Decision Outcome\n",
     "## ADR X\n\n" + madr.assemble(madr.Sections(), EN),
     "## ADR X\n\n" + madr.assemble(madr.Sections(), table.language("uk"))],
)  # fmt: skip
def test_an_empty_draft_goes(body: str) -> None:
    assert by_rules(drafts(a=HEAD + body))[A].reason == "it is empty"


def test_a_draft_that_nothing_was_decided_goes() -> None:
    text = draft(outcome="Chosen option: не обрано, because сесія обірвалася.")
    assert by_rules(drafts(a=text))[A] == RawOperation("delete", A, reason="nothing was decided")


def test_a_draft_of_which_one_decision_was_made_stays() -> None:
    text = draft() + "\n" + block("Log", outcome="Chosen option: не обрано")
    assert by_rules(drafts(a=text)) == {}


@pytest.mark.parametrize(
    "body", [block("One") + "\n" + block("Two"), "A talk about the cache.\n", "```\nnever closed\n"]
)
def test_a_draft_without_exactly_one_decision_stays(body: str) -> None:
    found = run.by_rules(drafts(a=HEAD + body), frozenset(), EN)
    assert found.operations == ()
    assert found.left == {A: "it does not hold exactly one decision"}


def test_titles_that_make_one_slug_get_slugs_of_their_own() -> None:
    batch = drafts(
        a=draft("Use SQLite!", session="s1"),
        b=draft("Use: SQLite", session="s2"),
        c=draft("***", session="s3"),
    )
    assert [one.slug for one in by_rules(batch).values()] == ["use-sqlite", "use-sqlite-2", "sqlite"]


@pytest.mark.parametrize(
    "title", ["260304-0501-x", "260304-0501-260304-0501-x", "20260304-050607-", "x" * 300, "../etc"]
)
def test_a_slug_means_to_the_plan_what_it_says(title: str) -> None:
    slug = Slugs(()).of(title, "fallback")
    assert plan._slug(slug) == slug


# -- stages with a model

Judge = Callable[[Question], Judgement]


class Model:
    """A model that answers by a function and counts what it was asked."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def ask(self, asked: Sequence[Question], share: float) -> list[Judgement]:
        self.asked += [(one.kind, one.about) for one in asked]
        return [self.judge(one) for one in asked]

    def count(self, kind: str) -> int:
        return sum(found == kind for found, _ in self.asked)


def known(records: dict[str, str]) -> Records:
    index = search.build_index(search.index_record(name, text) for name, text in records.items())
    return Records(index, lambda name: records.get(name, ""), frozenset(records))


def by_model(
    batch: list[DraftFile], judge: Judge, records: dict[str, str] = RECORDS
) -> tuple[dict[str, RawOperation], dict[str, str], Model]:
    model = Model(judge)
    found = run.by_model(batch, known(records), model.ask, EN)
    judged = planned(found, batch, records)
    assert judged.refusals == ()
    assert sorted([*judged.accepted, *found.left]) == sorted(one.name for one in batch)
    return {one.file: one for one in found.operations}, dict(found.left), model


YES, NO = Judgement(ANSWERED, yes=True), Judgement(ANSWERED)
THREE = {
    "a": draft("Use SQLite", session="s1"),
    "b": draft("Bound the queue", session="s2", **words("queue")),
    "c": draft("Log as JSON", session="s3", **words("log")),
}


def pairs_same(
    *pairs: tuple[str, str], kept: Judgement = YES, said: tuple[str, ...] = ("As it was added.",)
) -> Judge:
    """A judge that calls these pairs the same and all others different."""

    def judge(question: Question) -> Judgement:
        if question.kind == "same":
            return Judgement(ANSWERED, yes=any(set(pair) == set(question.about) for pair in pairs))
        return kept if question.kind == "kept" else Judgement(ANSWERED, additions=said)

    return judge


def test_a_draft_that_is_like_no_other_and_worth_keeping_becomes_a_record_without_further_questions() -> None:
    found, left, model = by_model(drafts(**THREE), pairs_same())
    assert [one.op for one in found.values()] == ["rewrite"] * 3
    assert left == {}
    assert set(Counter(kind for kind, _ in model.asked)) == {"same", "kept"}


def test_a_pair_is_asked_again_only_after_a_yes() -> None:
    _, _, model = by_model(drafts(**THREE), pairs_same((A, QUEUE)))
    times = Counter(about for kind, about in model.asked if kind == "same")
    assert {about for about, count in times.items() if count == 2} == {(A, QUEUE)}


def test_one_yes_alone_is_no_yes() -> None:
    seen: set[tuple[str, ...]] = set()

    def judge(question: Question) -> Judgement:
        again = question.about in seen
        seen.add(question.about)
        return YES if question.kind == "kept" or not again else NO

    found, _, _ = by_model(drafts(a=THREE["a"]), judge)
    assert found[A].op == "rewrite"


def test_a_draft_goes_into_the_record_that_it_is_the_same_as() -> None:
    found, _, model = by_model(drafts(**THREE), pairs_same((B, QUEUE)))
    assert found[B] == RawOperation("merge-into", B, target=QUEUE, additions="* As it was added.")
    assert ("kept", (B,)) not in model.asked


def test_a_draft_that_its_record_covers_goes() -> None:
    found, _, _ = by_model(drafts(**THREE), pairs_same((B, QUEUE), said=()))
    assert found[B].reason == f"it is covered by {QUEUE}"


def test_drafts_that_are_the_same_become_one_record_of_the_longest() -> None:
    found, _, model = by_model(drafts(**THREE), pairs_same((A, B), (B, C)))
    longest = max(THREE, key=lambda key: len(THREE[key]))
    anchor = {"a": A, "b": B, "c": C}[longest]
    assert found.pop(anchor).op == "rewrite"
    assert {one.op for one in found.values()} == {"merge-into"}
    assert len({one.target for one in found.values()}) == 1
    assert model.count("kept") == 0


def test_drafts_that_are_the_same_go_into_the_record_of_one_of_them() -> None:
    found, _, _ = by_model(drafts(**THREE), pairs_same((A, B), (B, QUEUE)))
    assert (found[A].target, found[B].target) == (QUEUE, QUEUE)


def test_two_answers_make_a_draft_trivial() -> None:
    found, _, model = by_model(drafts(a=THREE["a"]), pairs_same(kept=NO))
    assert found[A].op == "delete"
    assert model.count("kept") == 2


def test_near_duplicates_of_a_session_are_asked_about_once_and_go_together() -> None:
    text = draft("Bound the queue", **words("queue"))
    batch = drafts(a=text, b=text + "\nOne line more that the other has not got.\n")
    found, _, model = by_model(batch, pairs_same((B, QUEUE)))
    assert found[B].target == QUEUE
    assert found[A].op == "delete"
    assert not any(A in about for _, about in model.asked)


@pytest.mark.parametrize("answer", [Judgement(FAILED), Judgement(UNASKED)])
@pytest.mark.parametrize("kind", ["same", "kept", "sections", "additions"])
def test_what_was_not_answered_leaves_only_its_draft(kind: str, answer: Judgement) -> None:
    several = HEAD + block("One", **words("shard")) + "\n" + block("Two", **words("token"))

    def judge(question: Question) -> Judgement:
        if question.kind == kind and question.about[0] == A:
            return answer
        if question.kind == "same":
            return Judgement(ANSWERED, yes=kind == "additions" and question.about == (A, QUEUE))
        return YES

    found, left, _ = by_model(drafts(a=several if kind == "sections" else THREE["a"], c=THREE["c"]), judge)
    assert set(left) == {A}
    assert found[C].op == "rewrite"


def test_a_reply_in_another_form_is_the_careful_choice() -> None:
    def judge(question: Question) -> Judgement:
        usable = question.about[0] == C
        return YES if usable and question.kind == "kept" else NO if usable else Judgement(UNUSABLE)

    found, left, _ = by_model(drafts(a=THREE["a"], c=THREE["c"]), judge)
    assert found[A].op == found[C].op == "rewrite"  # different, and worth keeping
    several = HEAD + block("One", **words("shard")) + "\n" + block("Two", **words("token"))
    found, left, _ = by_model(drafts(a=several, c=THREE["c"]), judge)
    assert left == {A: "its sections could not be read"}


@pytest.mark.parametrize("state", [UNUSABLE, FAILED, UNASKED])
def test_a_model_without_one_usable_answer_decides_nothing(state: str) -> None:
    batch = drafts(**THREE)
    empty = DraftFile("260304-0504-d.md", HEAD)
    found, left, _ = by_model([*batch, empty], lambda question: Judgement(state))
    assert list(found) == [empty.name]
    assert set(left) == {A, B, C}


def test_several_decisions_become_one_record_that_tells_of_all() -> None:
    text = HEAD + block("Shards", **words("shard")) + "\n" + block("Tokens", **words("token"))

    def judge(question: Question) -> Judgement:
        if question.kind != "sections":
            return YES if question.kind == "kept" else NO
        reply = {"title": "Bound shard", "context": "", "options": ["Bound shard"], "consequences": [], "more": "",
                 "outcome": "Bound shard, because shard would else take all memory"}  # fmt: skip
        return questions.read(question, json.dumps(reply))

    found, _, _ = by_model(drafts(a=text), judge, {})
    assert found[A].slug == "bound-shard"
    assert '* Tokens: Chosen option: "Bound token"' in found[A].content


def test_at_most_twelve_records_are_compared_with_a_draft() -> None:
    many = {f"2603{n:02d}-0900-r.md": record(f"Use SQLite {n}") for n in range(1, 29)}
    _, _, model = by_model(drafts(a=THREE["a"]), pairs_same(), many)
    assert model.count("same") == 12


# -- whatever the model says


TITLES = st.sampled_from(
    ["Use SQLite", "use sqlite", "Черга", "260304-0501-x", "", "***", "../x", "a`b", "# x"]
) | st.text(max_size=20)
BODIES = st.sampled_from(
    ["", "NONE", "talk", block(), block("Черга", **words("queue")), block("Черга", **words("queue")) + "* more of it\n",
     block("Two") + "\n" + block("Three", **words("log")), "```\nopen", block(outcome="Chosen option: не обрано"),
     "## Update 2026\n\nx", "---\na: b\n", block(more="```\nx\n```"), "## ADR X\n\n**Рішення:** так\n"]
)  # fmt: skip
SESSIONS = st.sampled_from(["s1", "s1", "s2", "unknown", ""])
NAMES = st.sampled_from([A, B, C, "note.md", "260304-0501-черга.md", "20260304-050607-x.md"])
REPLIES = st.sampled_from(
    ["yes", "no", "так", "", "I think so", '{"additions": []}',
     '{"additions": ["the queue grows", "```", "## Update"]}',
     '{"additions": ["embedded', json.dumps({"title": "../../x", "context": "", "options": [], "more": None,
     "outcome": "Chosen option SQLite because it is embedded", "consequences": ["```"]})]
) | st.text(max_size=30)  # fmt: skip


@st.composite
def batches(draw: st.DrawFn) -> list[DraftFile]:
    found = []
    for name in draw(st.lists(NAMES, unique=True, max_size=5)):
        head = f"---\nsession: {draw(SESSIONS)}\ncaptured: 2026-03-04\n---\n\n"
        body = draw(BODIES).replace("Use SQLite for the cache", draw(TITLES))
        text = front_matter.clean(head + body + draw(st.sampled_from(["", "", "\nx \x00 \ud800 ```\n"])))
        found.append(DraftFile(name, text))
    return found


YES_OR_NO = st.sampled_from(["yes", "yes", "no"])


def in_form(question: Question, said: str) -> str:
    """A reply in the form that was asked for, in words of the draft."""
    told = " ".join(question.source.split()[:12])
    if question.kind == "additions":
        return json.dumps({"additions": [told] if said == "yes" else []})
    sections = {
        "title": told,
        "context": told,
        "options": [told],
        "outcome": told,
        "consequences": [],
        "more": said,
    }
    return json.dumps(sections) if question.kind == "sections" else said


@settings(max_examples=250, deadline=None)
@given(batches(), st.data())
def test_whatever_the_model_says_the_plan_takes_every_operation_and_no_draft_is_lost(
    batch: list[DraftFile], data: st.DataObject
) -> None:
    states = st.sampled_from([ANSWERED] * 12 + [FAILED, UNASKED])
    sensible = st.sampled_from([True, True, True, False])

    def judge(question: Question) -> Judgement:
        state = data.draw(states)
        reply = in_form(question, data.draw(YES_OR_NO)) if data.draw(sensible) else data.draw(REPLIES)
        return Judgement(state) if state != ANSWERED else questions.read(question, reply)

    found, left, _ = by_model(batch, judge, data.draw(st.sampled_from([RECORDS, {}])))
    assert len(found) + len(left) == len(batch)


@settings(max_examples=250, deadline=None)
@given(batches())
def test_rules_are_lawful_and_lose_no_draft(batch: list[DraftFile]) -> None:
    found = run.by_rules(batch, frozenset(RECORDS), EN)
    judged = planned(found, batch, RECORDS)
    assert judged.refusals == ()
    assert sorted([*judged.accepted, *found.left]) == sorted(one.name for one in batch)
    assert all(found.left.values())
