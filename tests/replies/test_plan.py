"""Operations x batch x folder: what is done, what is refused, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.errors import RefusedReply
from decision_hooks.languages import table
from decision_hooks.records import front_matter
from decision_hooks.records.front_matter import DraftFile
from decision_hooks.replies.operations import operations
from decision_hooks.replies.plan import Folder, Plan, plan
from support import adr_texts

A, B, C = "260304-0506-cache.md", "260304-0507-queue.md", "20260305-010203-log.md"
OUTSIDE = "260101-0000-waiting.md"
RECORD, OLD = "260201-1200-store.md", "notes-on-cache.md"
BATCH = [DraftFile(name, adr_texts.draft(name)) for name in (A, B, C)]
TEXTS = {
    **{draft.name: draft.text for draft in BATCH},
    OUTSIDE: adr_texts.draft("waiting"),
    RECORD: adr_texts.record("Store"),
    OLD: adr_texts.record("Notes"),
    "README.md": "# readme\n",
    "adr-template.md": "# template\n",
}
NAMES = frozenset([*TEXTS, "link.md", "folder"])
EN = table.language("en")
CONTENT = adr_texts.block("Cache").split("\n\n", 1)[1]


def planned(*items: Any, names: frozenset[str] = NAMES) -> Plan:
    folder = Folder(names, frozenset({A, B, C, OUTSIDE}), TEXTS.get)
    return plan(operations(json.dumps({"operations": items})), batch=BATCH, folder=folder, language=EN)


def delete(file: str, **more: Any) -> dict[str, Any]:
    return {"op": "delete", "file": file, "reason": "trivial", **more}


def rewrite(file: str, slug: Any = "кеш", **more: Any) -> dict[str, Any]:
    return {"op": "rewrite", "file": file, "slug": slug, "content": CONTENT, **more}


def merge(file: str, target: Any = RECORD, **more: Any) -> dict[str, Any]:
    return {"op": "merge-into", "file": file, "target": target, "additions": "New facts.", **more}


def lines(found: Plan) -> list[str]:
    return [str(operation) for operation in found.operations]


def refused(found: Plan) -> list[str]:
    return [str(refusal) for refusal in found.refusals]


# -- each operation


def test_a_delete_removes_its_draft() -> None:
    found = planned(delete(A))
    assert found.removals == (A,)
    assert (found.writes, found.refusals, found.accepted) == ((), (), {A})
    assert lines(found) == [f"delete: {A} (trivial)"]


def test_a_missing_reason_is_said() -> None:
    assert lines(planned({"op": "delete", "file": A})) == [f"delete: {A} (no reason given)"]


def test_a_long_reason_of_several_lines_is_told_in_one() -> None:
    (line,) = lines(planned(delete(A, reason="x\n" * 500)))
    assert "\n" not in line
    assert len(line) < 300


def test_a_rewrite_makes_a_record_with_the_time_of_its_draft() -> None:
    found = planned(rewrite(A))
    (write,) = found.writes
    assert (write.name, write.before, write.sources) == ("260304-0506-кеш.md", None, (A,))
    assert front_matter.read(write.text).text("date") == "2026-03-04"
    assert found.removals == (A,)
    assert lines(found) == [f"rewrite: {A} -> 260304-0506-кеш.md"]


@pytest.mark.parametrize(
    ("slug", "name"),
    [
        ("Кеш у SQLite!", "260304-0506-кеш-у-sqlite.md"),
        ("cache.md", "260304-0506-cache.md"),
        ("260304-0506-кеш", "260304-0506-кеш.md"),
        ("п'ять", "260304-0506-пять.md"),
        ("a b_c", "260304-0506-a-b-c.md"),
        ("word-" * 30, "260304-0506-" + "-".join(["word"] * 12) + ".md"),
    ],
)
def test_the_name_is_our_slug_of_theirs(slug: str, name: str) -> None:
    (operation,) = planned(rewrite(A, slug)).operations
    assert operation.name == name


def test_a_draft_of_the_old_form_keeps_its_time() -> None:
    assert planned(rewrite(C)).writes[0].name == "20260305-010203-кеш.md"


def test_a_draft_without_a_time_gives_a_record_without_one() -> None:
    draft = DraftFile("note.md", adr_texts.draft())
    folder = Folder(frozenset({"note.md"}), frozenset({"note.md"}), lambda name: None)
    found = plan(operations(json.dumps([rewrite("note.md")])), batch=[draft], folder=folder, language=EN)
    assert found.writes[0].name == "кеш.md"


def test_a_name_that_is_taken_gets_a_number_whatever_its_letter_case() -> None:
    taken = NAMES | {"260304-0506-КЕШ.md", "260304-0506-кеш-2.md"}
    assert planned(rewrite(A), names=taken).writes[0].name == "260304-0506-кеш-3.md"


def test_two_rewrites_of_one_minute_and_slug_get_two_names() -> None:
    twin = A.replace("cache", "twin")
    folder = Folder(frozenset({A, twin}), frozenset({A, twin}), TEXTS.get)
    batch = [BATCH[0], DraftFile(twin, adr_texts.draft())]
    found = plan(operations(json.dumps([rewrite(A), rewrite(twin)])), batch=batch, folder=folder, language=EN)
    assert [write.name for write in found.writes] == ["260304-0506-кеш.md", "260304-0506-кеш-2.md"]


def test_a_record_may_take_the_name_of_its_own_draft() -> None:
    found = planned(rewrite(A, "Cache"))
    (write,) = found.writes
    assert (write.name, write.before) == (A, TEXTS[A])
    assert (found.removals, found.accepted) == ((), {A})


def test_the_name_of_another_draft_is_taken() -> None:
    other = A.replace("cache", "queue")
    found = planned(rewrite(A, "queue"), names=NAMES | {other})
    assert found.writes[0].name == "260304-0506-queue-2.md"


def test_a_merge_is_appended_to_its_record() -> None:
    found = planned(merge(B))
    (write,) = found.writes
    assert (write.name, write.before, write.sources) == (RECORD, TEXTS[RECORD], (B,))
    assert write.text == TEXTS[RECORD] + "\n## Update 2026-03-04\n\nNew facts.\n"
    assert found.removals == (B,)
    assert lines(found) == [f"merge-into: {B} -> {RECORD}"]


def test_two_merges_into_one_record_are_one_write() -> None:
    found = planned(merge(B), merge(A, additions="Others."))
    (write,) = found.writes
    assert write.text.endswith("\n\n## Update 2026-03-04\n\nNew facts.\n\n## Update 2026-03-04\n\nOthers.\n")
    assert write.sources == (B, A)


def test_what_was_appended_already_is_not_appended_again() -> None:
    text = planned(merge(B)).writes[0].text
    folder = Folder(NAMES, frozenset({A, B, C}), {**TEXTS, RECORD: text}.get)
    found = plan(operations(json.dumps([merge(B)])), batch=BATCH, folder=folder, language=EN)
    assert (found.writes, found.accepted) == ((), {B})
    assert found.removals == (B,)


@pytest.mark.parametrize("order", [0, 1])
def test_a_merge_into_a_rewrite_of_the_reply_goes_into_the_new_record(order: int) -> None:
    items = [rewrite(A), merge(B, "кеш")]
    found = planned(*(items[order:] + items[:order]))
    (write,) = found.writes
    assert (write.name, write.before, set(write.sources)) == ("260304-0506-кеш.md", None, {A, B})
    assert write.text.endswith("\n## Update 2026-03-04\n\nNew facts.\n")


def test_a_merge_into_a_record_that_takes_its_drafts_name_is_one_write() -> None:
    found = planned(rewrite(A, "cache"), merge(B, "cache"))
    (write,) = found.writes
    assert (write.name, write.before) == (A, TEXTS[A])
    assert found.removals == (B,)


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (RECORD, RECORD),
        ("store", RECORD),
        ("Store", RECORD),
        ("store.md", RECORD),
        (OLD, OLD),
        ("notes-on-cache", OLD),
    ],
)
def test_a_target_is_a_name_or_the_ending_of_one_record(target: str, name: str) -> None:
    assert [operation.name for operation in planned(merge(B, target)).operations] == [name]


def test_an_exact_name_goes_before_a_rewrite_and_a_rewrite_before_an_ending() -> None:
    assert planned(rewrite(A, "notes-on-cache"), merge(B, OLD)).operations[1].name == OLD
    assert planned(rewrite(A, "store"), merge(B, "store")).operations[1].name == "260304-0506-store.md"


# -- refusals


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (delete(OUTSIDE), "the file is no draft of the batch"),
        (delete(RECORD), "the file is no draft of the batch"),
        (delete("../" + A), "the file is no draft of the batch"),
        (delete(f"docs/adr/{A}"), "the file is no draft of the batch"),
        (delete(A.upper()), "the file is no draft of the batch"),
        (delete("../../README.md"), "the file is no draft of the batch"),
        (delete("/etc/passwd"), "the file is no draft of the batch"),
        (rewrite(RECORD, content="y"), "the file is no draft of the batch"),
        ({"op": "delete"}, "no file is named"),
        ({"op": "delete", "file": [A]}, "no file is named"),
        ("delete", "no JSON object"),
        ({"op": 5, "file": [A]}, "no file is named"),
        ({"op": "create", "file": A}, "unknown operation"),
        ({"file": A}, "unknown operation"),
        ({"op": ["delete"], "file": A}, "unknown operation"),
        (rewrite(A, ""), "slug is empty"),
        (rewrite(A, " \n"), "slug is empty"),
        (rewrite(A, None), "slug is empty"),
        (rewrite(A, 7), "slug is no text"),
        (rewrite(A, content=""), "content is empty"),
        (rewrite(A, content={}), "content is no text"),
        (rewrite(A, content="## Decision Outcome\n\n```\nx"), "a code fence of the content is never closed"),
        (rewrite(A, content=CONTENT + "\n```python\ncut"), "a code fence of the content is never closed"),
        (rewrite(A, content="---\ntitle: x\n---\n"), "the content is empty"),
        (rewrite(A, "!!!"), "the slug holds no word"),
        *((rewrite(A, slug), "the slug is a path or a hidden name")
          for slug in ("../x", "../../evil", "a/b", "/x", "..", ".x", "a\\b", "C:\\x", "x\x00", "a\nb", "~x")),
        (merge(A, ""), "target is empty"),
        (merge(A, 1), "target is no text"),
        (merge(A, additions=" "), "additions is empty"),
        (merge(A, additions="```\nx"), "a code fence of the additions is never closed"),
        *((merge(A, target), "the target is a path or a hidden name")
          for target in ("../" + RECORD, "../README.md", "/etc/passwd", "docs/adr/" + RECORD, ".hidden.md",
                         "a\\b.md", "..")),
        (merge(A, OUTSIDE), "the target is a draft"),
        (merge(A, B), "the target is a draft"),
        (merge(A, A), "the target is a draft"),
        (merge(A, "README.md"), "the target is no record"),
        (merge(A, "adr-template.md"), "the target is no record"),
        (merge(A, "folder"), "the target is no record"),
        (merge(A, "link.md"), "the target is no regular file"),
        (merge(A, "nowhere.md"), "the target is no record"),
        (merge(A, "nowhere"), "the target is no record"),
        (merge(A, "waiting"), "the target is no record"),
        (merge(A, "!!!"), "the target is no record"),
    ],
)  # fmt: skip
def test_an_operation_is_refused_alone(item: Any, why: str) -> None:
    found = planned(item, delete(C))
    assert [refusal.why for refusal in found.refusals] == [why]
    assert found.accepted == {C}
    assert found.writes == ()


def test_a_refusal_says_what_was_asked_for_in_one_line() -> None:
    assert refused(planned({"op": "x\ny", "file": "z" * 900})) == [
        f"x y {'z' * 199}…: the file is no draft of the batch"
    ]


def test_a_target_that_several_records_end_with_is_refused() -> None:
    found = planned(merge(A, "store"), names=NAMES | {"260202-1200-store.md"})
    assert refused(found) == [f"merge-into {A}: the target names several records"]


def test_two_rewrites_of_the_slug_are_no_target() -> None:
    found = planned(rewrite(A), rewrite(B), merge(C, "кеш"))
    assert refused(found) == [f"merge-into {C}: two rewrites have the slug of the target"]
    assert found.accepted == {A, B}


def test_a_refused_rewrite_is_no_target() -> None:
    found = planned(rewrite(A, content="```"), merge(B, "кеш"))
    assert refused(found)[1] == f"merge-into {B}: the rewrite that the target names was refused"


@pytest.mark.parametrize(
    "first", [delete(A), rewrite(A, ""), {"op": "nothing", "file": A}, merge(A, "nowhere")]
)
def test_the_first_mention_of_a_draft_counts_accepted_or_not(first: dict[str, Any]) -> None:
    found = planned(first, rewrite(A))
    assert found.writes == ()
    assert f"rewrite {A}: the draft has an operation already" in refused(found)
    assert found.accepted <= {A}


def test_no_operations_are_an_empty_plan() -> None:
    assert planned() == Plan((), ())


# -- the second check


def test_without_a_draft_its_step_is_dropped_and_a_rewrite_takes_its_merges_along() -> None:
    whole = planned(rewrite(A), merge(B, "кеш"), delete(C))
    assert whole.without({A}).accepted == {C}
    assert whole.without({"260304-0506-кеш.md"}).accepted == {C}
    left = whole.without({B})
    assert left.accepted == {A, C}
    assert left.writes[0].sources == (A,)
    assert "## Update" not in left.writes[0].text
    assert whole.without(set()) == whole


def test_without_a_target_its_merges_are_dropped() -> None:
    whole = planned(merge(A), merge(B, OLD))
    assert whole.without({RECORD}).accepted == {B}


# -- whatever a reply says

WORDS = st.sampled_from(
    [A, B, C, OUTSIDE, RECORD, OLD, "README.md", "кеш", "store", "../x", "/etc/passwd", "", ".", "..", "x\x00",
     "\ud800", "delete", "rewrite", "merge-into", "link.md", "a" * 300, "😀", CONTENT,
     "## ADR x", "```", "---\ntitle: [\n---\nx"]
)  # fmt: skip
VALUES = WORDS | st.none() | st.integers() | st.lists(WORDS, max_size=2) | st.text(max_size=10)
ITEMS = st.fixed_dictionaries(
    {
        "op": st.sampled_from(["delete", "rewrite", "merge-into"]) | VALUES,
        "file": st.sampled_from([A, B, C]) | VALUES,
    },
    optional=dict.fromkeys(("slug", "content", "target", "additions", "reason"), VALUES),
)


@given(st.lists(ITEMS | VALUES, max_size=8))
def test_no_reply_touches_a_file_outside_of_the_batch_its_lawful_targets_and_fresh_names(
    items: list[Any],
) -> None:
    found = planned(*items)
    assert set(found.removals) <= {A, B, C}
    assert found.accepted <= {A, B, C}
    for write in found.writes:
        assert "/" not in write.name
        assert write.name.endswith(".md")
        assert write.name[0] not in "._"
        assert len(write.name.encode()) <= 255
        assert (write.before is None) == (write.name not in NAMES)
        assert write.before is None or write.name in {RECORD, OLD, A, B, C}
        assert write.before == TEXTS.get(write.name)
        assert write.name not in found.removals
        assert front_matter.session_of(write.text) is None
    for line in (*lines(found), *refused(found)):
        assert "\n" not in line
        line.encode()


@given(st.data())
def test_a_reply_that_is_cut_is_refused_or_whole(data: st.DataObject) -> None:
    reply = json.dumps({"operations": [rewrite(A), merge(B, "кеш"), delete(C)]})
    end = data.draw(st.integers(0, len(reply) - 1))
    with pytest.raises(RefusedReply):
        operations(reply[:end])
