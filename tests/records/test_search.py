"""Retrieval: terms of texts, the index and its kept form, the rank of records and of drafts."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.records import search
from decision_hooks.records.search import weight
from decision_hooks.state import record_index
from decision_hooks.text.terms import stem, terms, words

ROOT = Path(__file__).resolve().parents[2]
BATCH = ROOT / "tests" / "data" / "retrieval" / "batch.json"

# Any string at all: lone surrogates, NUL and the marks that the parsers look for are likely.
ANY_TEXT = st.text(st.characters() | st.sampled_from("\ud800\x00#`-./_@:\n аяґ'"), max_size=400)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)

RECORDS = {
    "260501-1000-кеш-образів.md": (
        "---\ntype: ADR\ntitle: Кеш образів у реєстрі\ndescription: Шари лежать у реєстрі.\n---\n\n"
        "## Context and Problem Statement\n\nЗбірка образів повільна.\n\n"
        '## Decision Outcome\n\nChosen option: "реєстр".\n'
    ),
    "логування-запитів.md": (
        "# ADR: Логування запитів\n\n## Рішення\n\nКожен запит пишеться у `request.log`.\n\nДалі.\n"
    ),
    "retry-policy.md": "# Retry of failed calls\n\n## Decision Outcome\n\nCalls are retried by `retryCall` thrice.\n",
}


def index_of(records: Mapping[str, str]) -> search.Index:
    return search.build_index([search.index_record(name, text) for name, text in records.items()])


def names_for(draft: str, records: Mapping[str, str] = RECORDS, k: int = 5) -> list[str]:
    return [name for name, _ in search.likely(index_of(records), draft, k)]


def kept(records: Mapping[str, str] = RECORDS) -> dict[str, tuple[int, int, search.Indexed]]:
    return {
        name: (len(text), 10**18 + place, search.index_record(name, text))
        for place, (name, text) in enumerate(records.items())
    }


def terms_of(one: search.Indexed) -> dict[str, int]:
    return {term: count for count, together in one.counted for term in together.split("\n")}


# -- terms


@pytest.mark.parametrize(
    ("forms", "stemmed"),
    [
        (("конфігурація", "конфігурації", "конфігурацію", "конфігураційний"), "конфіг"),
        (("запит", "запиту"), "запи"),
        (("обов'язковий", "обов\u2019язкового", "обов\u02bcязкові"), "обовяз"),
        (("ґрунтування", "грунтування"), "грунту"),
        (("retried", "retries"), "retr"),
        (("building", "builds"), "build"),
        (("cached", "caches"), "cach"),
        (("s", "es", "bus"), None),
        (("v1", "v2"), None),
    ],
)
def test_forms_of_a_word_share_a_stem(forms: tuple[str, ...], stemmed: str | None) -> None:
    found = [stem(form) for form in forms]
    assert found == (list(forms) if stemmed is None else [stemmed] * len(forms))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`a b  c`", {"`a b c"}),
        ("`npm/rules/Check.mjs`", {"`npm/rules/check.mjs", "`check.mjs"}),
        ("see npm/scripts/lib.", {"`npm/scripts/lib", "`lib"}),
        ("call resolveImagePath", {"`resolveimagepath"}),
        ("pre-commit, x_y", {"`pre-commit", "`x_y"}),
        ("a plain sentence. And one more...", set()),
        ("`" + "x" * 200 + "`", set()),
        ("-" * 50, set()),
        ("`un\nclosed", set()),
    ],
)
def test_identifiers_are_terms_of_their_own(text: str, expected: set[str]) -> None:
    assert {term for term in terms(text) if term.startswith("`")} == expected


def test_a_humped_name_is_known_by_its_words_too() -> None:
    assert {"resolveimagepath", "resolve", "image", "path"} <= set(words("resolveImagePath"))
    assert {"image", "path"} <= set(words("image path"))


def test_terms_are_counted() -> None:
    assert terms("Кеш кеш, кеш. Cache") == {"кеш": 3, "cache": 1}


def test_the_words_of_a_title_hold_no_identifiers() -> None:
    assert words("Rename `a-b`") == {"rename": 1, "a": 1, "b": 1}


@given(ANY_TEXT)
def test_no_text_breaks_the_terms_and_no_term_holds_a_line_end(text: str) -> None:
    found = terms(text)
    assert all(count > 0 for count in found.values())
    assert not any("\n" in term or not term for term in found)


# -- indexing


@pytest.mark.parametrize(
    ("name", "title", "description"),
    [
        ("260501-1000-кеш-образів.md", "Кеш образів у реєстрі", "Шари лежать у реєстрі."),
        ("логування-запитів.md", "Логування запитів", "Кожен запит пишеться у `request.log`."),
        ("retry-policy.md", "Retry of failed calls", "Calls are retried by `retryCall` thrice."),
    ],
)
def test_title_and_description_come_from_front_matter_or_the_headings(
    name: str, title: str, description: str
) -> None:
    one = index_of(RECORDS).record(name)
    assert (one.name, one.title, one.description) == (name, title, description)


def test_a_heading_of_a_section_or_in_a_fence_is_no_title() -> None:
    one = search.index_record("x.md", "```\n# no\n```\n## Context\n\nText.\n\n## Own words\n")
    assert one.title == "Own words"
    assert search.index_record("x.md", "## Context and Problem Statement\n\nText.\n").title == ""


def test_front_matter_is_no_part_of_the_body_and_the_time_none_of_the_name() -> None:
    one = search.index_record("260501-1000-alpha.md", "---\ntype: Secretword\n---\n\nBody here\n")
    assert terms_of(one) == terms("Body here")
    assert one.heading.split("\n") == ["alpha"]


def test_the_length_is_the_count_of_all_terms_and_updates_are_counted() -> None:
    text = "# A\n\nOne one two.\n\n## Update 2026-05-01\n\nMore.\n\n## Update 2026-05-02\n\nMore.\n"
    one = search.index_record("a.md", text)
    assert one.length == sum(terms(text).values())
    assert one.updates == 2


def test_title_and_description_are_one_line_and_bounded() -> None:
    one = search.index_record(
        "a.md", f"---\ntitle: |\n  a\n  b\ndescription: {'d' * 5000}\n---\n# {'h' * 9}\n"
    )
    assert one.title == "a b"
    assert len(one.description) == 300


def test_of_two_records_with_one_name_the_later_stays() -> None:
    first, later = (search.index_record("a.md", text) for text in ("alpha", "omega"))
    index = search.build_index([first, later])
    assert index.records == (later,)
    assert search.likely(index, "alpha", 3) == []


def test_a_name_that_is_not_indexed_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        index_of(RECORDS).record("none.md")


def test_a_rare_term_weighs_more_and_every_term_something() -> None:
    weights = [weight(1000, holding) for holding in (0, 1, 10, 500, 1000, 5000)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


# -- searching


@pytest.mark.parametrize(
    ("draft", "first"),
    [
        ("## ADR Кешування\n\nКешем образів є реєстр.\n", "260501-1000-кеш-образів.md"),
        (
            "---\nsession: s\n---\n\n## ADR Журнал\n\nФайл `request.log` більше не пишеться.\n",
            "логування-запитів.md",
        ),
        ("## ADR Retries\n\nA failed call is retried five times.\n", "retry-policy.md"),
        ("no heading at all, but retryCall", "retry-policy.md"),
    ],
)
def test_the_record_that_speaks_of_the_same_comes_first(draft: str, first: str) -> None:
    assert names_for(draft)[0] == first


def test_records_that_share_nothing_are_left_out() -> None:
    assert names_for("zzz qqq") == []
    assert names_for("") == []
    assert search.likely(search.build_index([]), "text", 5) == []


@pytest.mark.parametrize("k", [-1, 0, 1, 2, 99])
def test_at_most_k_are_found_best_first(k: int) -> None:
    found = search.likely(index_of(RECORDS), "запит кеш call retried реєстр", k)
    scores = [score for _, score in found]
    assert len(found) == min(max(k, 0), 3)
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)


def test_each_decision_of_a_draft_finds_its_own_record() -> None:
    first = " ".join(f"alpha{n}" for n in range(40))
    draft = f"## ADR First\n\n{first}\n\n## ADR Second\n\nomega psi\n"
    pieces = {f"piece-{n}.md": " ".join(f"alpha{m}" for m in range(n, 40, 4)) for n in range(4)}
    records = {"first.md": first, "second.md": "omega psi and some other words", **pieces}
    assert names_for(draft, records, 2) == ["first.md", "second.md"]


def test_the_first_decision_weighs_more_than_the_others() -> None:
    alpha, omega = "## ADR Alpha\n\nalpha beta\n", "## ADR Omega\n\nomega psi\n"
    records = {"1.md": "alpha beta", "2.md": "omega psi"}
    assert names_for(f"{alpha}\n{omega}", records) == ["1.md", "2.md"]
    assert names_for(f"{omega}\n{alpha}", records) == ["2.md", "1.md"]


def test_chatter_before_the_first_decision_is_left_out() -> None:
    found = names_for("I looked at retryCall.\n\n## ADR Кеш\n\nКеш образів.\n")
    assert found[0] == "260501-1000-кеш-образів.md"
    assert "retry-policy.md" not in found


def test_of_equal_bodies_the_one_whose_title_is_told_comes_first() -> None:
    records = {"1.md": "# Other matters\n\nshared words", "2.md": "# Gateway\n\nshared words"}
    assert names_for("shared words of the gateway", records) == ["2.md", "1.md"]


def test_of_equal_records_the_one_with_more_updates_comes_first_but_never_by_that_alone() -> None:
    body = "# A\n\n" + "shared words " * 30
    updated = "".join(f"\n\n## Update 2026-05-0{n}\n" for n in range(1, 6))
    records = {"1.md": body, "2.md": body + updated, "3.md": f"# Z{updated}"}
    assert names_for("shared words", records) == ["2.md", "1.md"]


def test_of_two_records_that_say_the_same_the_shorter_comes_first() -> None:
    records = {"1.md": "retry of calls" + " and other matters" * 20, "2.md": "retry of calls"}
    assert names_for("retry of calls", records) == ["2.md", "1.md"]


def test_among_many_records_a_term_of_over_half_of_them_tells_nothing() -> None:
    records = {f"{n:02}.md": "common" if n < 31 else "other" for n in range(60)}
    assert names_for("common", records) == []
    assert names_for("other", records, 60) == [f"{n:02}.md" for n in range(31, 60)]


def test_equal_scores_are_ordered_by_name() -> None:
    records = dict.fromkeys(("b.md", "a.md", "c.md"), "same body")
    assert names_for("same body", records) == ["a.md", "b.md", "c.md"]


def test_a_draft_is_most_like_the_other_draft_of_its_matter_and_never_like_itself() -> None:
    drafts = [("1.md", "retry of calls"), ("2.md", "кеш образів"), ("3.md", "calls are retried")]
    found = search.similar(drafts, 2)
    assert [[name for name, _ in others] for others in found] == [["3.md"], [], ["1.md"]]


@pytest.mark.parametrize("k", [0, 1, 4, 12])
def test_candidates_are_bounded_and_leave_room_for_drafts(k: int) -> None:
    records = {f"r{n:02}.md": f"shared words {n}" for n in range(20)}
    drafts = [(f"d{n}.md", f"shared words {n}") for n in range(6)]
    for (name, _), found in zip(drafts, search.candidates(index_of(records), drafts, k), strict=True):
        assert len(found) == k
        assert sum(one.is_draft for one in found) == k // 4
        assert name not in [one.name for one in found]


def test_what_records_leave_free_goes_to_drafts_and_the_other_way_round() -> None:
    drafts = [(f"d{n}.md", "shared words") for n in range(12)]
    alone = search.candidates(search.build_index([]), drafts, 8)
    assert [len(found) for found in alone] == [8] * 12
    records = index_of({f"r{n}.md": "shared words" for n in range(20)})
    assert len(search.candidates(records, drafts[:1], 8)[0]) == 8


@given(st.dictionaries(st.text(max_size=8), ANY_TEXT, max_size=4), ANY_TEXT)
def test_no_text_breaks_the_index_or_the_search(records: dict[str, str], draft: str) -> None:
    index = index_of(records)
    found = search.likely(index, draft, 3)
    assert {name for name, _ in found} <= set(records)
    search.candidates(index, [("d.md", draft), ("e.md", draft[::-1])], 4)


def test_recall_on_a_recorded_batch_stays() -> None:
    batch = json.loads(BATCH.read_text(encoding="utf-8"))
    index = index_of(batch["records"])
    ranks = [
        [name for name, _ in search.likely(index, batch["drafts"][draft], 99)].index(target) + 1
        for draft, target in batch["merged"].items()
    ]
    assert len(ranks) == 8
    assert sum(rank <= 2 for rank in ranks) >= 7
    assert all(rank <= 10 for rank in ranks)


# -- keeping


def test_what_was_kept_is_read_again() -> None:
    assert record_index.load(record_index.dump(kept())) == kept()


@given(st.dictionaries(st.text(max_size=8), ANY_TEXT, max_size=3))
def test_any_record_survives_being_kept(records: dict[str, str]) -> None:
    assert record_index.load(record_index.dump(kept(records))) == kept(records)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\xff\xfe", b"null", b"[]", b'"x"', b"{", b"[" * 100_000, b'{"version":1}',
        b'{"version":1,"records":{}}', b'{"version":1,"records":[1,null,[],{}]}',
        b'{"version":0,"records":[]}', b'{"version":' + b"9" * 5000 + b"}",
    ],
)  # fmt: skip
def test_what_is_no_kept_index_gives_none(data: bytes) -> None:
    assert record_index.load(data) == {}


def test_a_kept_index_of_another_version_gives_none() -> None:
    stored = json.loads(record_index.dump(kept()))
    stored["version"] += 1
    assert record_index.load(json.dumps(stored).encode()) == {}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, "1"), (0, True), (1, 1.5), (2, None), (3, 7), (4, []), (5, {}), (6, "x"), (6, [[1]]), (6, [[0, "a"]]),
        (6, [[256, "a"]]), (6, [["1", "a"]]), (6, [[1, 2]]), (7, -1), (7, 10**400), (8, None), (8, 10**400),
    ],
)  # fmt: skip
def test_an_entry_of_another_form_is_left_out_and_the_rest_stays(place: int, value: Any) -> None:
    stored = json.loads(record_index.dump(kept()))
    spoiled = stored["records"][1][2]
    stored["records"][1][place] = value
    loaded = record_index.load(json.dumps(stored).encode())
    assert set(loaded) == set(RECORDS) - {spoiled}


@given(JSON)
def test_no_json_breaks_the_kept_index(value: Any) -> None:
    data = json.dumps({"version": 1, "records": [value, [1, 1, "n", "", "", "", value, 1, 1]]}).encode()
    index = search.build_index(one for _, _, one in record_index.load(data).values())
    search.likely(index, "text", 3)


# -- time


@pytest.mark.parametrize(
    "piece",
    ["a", "`", "-", "a-", "a.b/", "aB", "x'", "# ADR x\n", "## Update\n", "я", "\ud800", "---\n", "/", "@."],
)
def test_a_megabyte_of_one_pattern_takes_no_time_worth_mention(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    started = time.process_time()
    index = index_of({**RECORDS, "huge.md": text})
    search.likely(index, text, 5)
    assert time.process_time() - started < 3


def test_a_draft_of_countless_decisions_costs_a_bounded_number_of_searches() -> None:
    index = index_of({f"{n}.md": f"alpha {n}" for n in range(1000)})
    started = time.process_time()
    found = search.likely(index, "# ADR alpha 7\n" * 10_000, 1)
    assert time.process_time() - started < 1
    assert found[0][0] == "7.md"


def test_a_batch_over_two_thousand_records_takes_well_under_a_second() -> None:
    batch = json.loads(BATCH.read_text(encoding="utf-8"))
    bodies = ["\n".join(list(batch["records"].values())[n : n + 4]) for n in range(60)]
    indexed = [search.index_record(f"{n}.md", body) for n, body in enumerate(bodies)]
    many = {f"{turn}-{one.name}": (1, 1, one._replace(name=f"{turn}-{one.name}"))
            for turn in range(34) for one in indexed}  # fmt: skip
    data = record_index.dump(many)
    started = time.process_time()
    index = search.build_index(one for _, _, one in record_index.load(data).values())
    found = [search.likely(index, text, 12) for text in batch["drafts"].values()]
    took = time.process_time() - started
    assert len(index.records) > 2000
    assert all(len(one) == 12 for one in found)
    assert took < 1.5  # a third of it on an idle machine


def test_the_measure_of_recall_runs_on_a_folder_of_batches(tmp_path: Path) -> None:
    texts = {"d": "## ADR Retry\n\nfailed calls retried", "e": "---\nsession: s\n---\nfailed calls retried"}
    texts |= {f"r{n}": text for n, text in enumerate(RECORDS.values())}
    (tmp_path / "blobs").mkdir()
    for blob, text in texts.items():
        (tmp_path / "blobs" / f"{blob}.md").write_text(text, encoding="utf-8")
    merges = [
        {"draft": "d.md", "target": "retry-policy.md", "overlap": 0.9},
        {"draft": "d.md", "target": "логування-запитів.md", "overlap": 0.3},
        {"draft": "d.md", "target": "made-of-e.md", "overlap": 0.7},
    ]
    batch = {
        "drafts": {"d.md": "d", "e.md": "e"},
        "records": {name: f"r{n}" for n, name in enumerate(RECORDS)} | {"waiting.md": "e"},
        "became": {"rewrite": [{"draft": "e.md", "file": "made-of-e.md"}], "merge-into": merges},
    }
    (tmp_path / "batch-00.json").write_text(json.dumps(batch), encoding="utf-8")
    command = [sys.executable, str(ROOT / "bench" / "retrieval.py"), str(tmp_path), "--records", "5"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert "all batches: 1 merges into records: 1.00 at 1" in told
    assert "1 into rewrites; 1.00 among 12 candidates" in told
    assert "odd batches: 0 merges into records: none at 1" in told
