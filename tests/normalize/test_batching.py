"""Which drafts a run takes: the oldest, what belongs to them, within bounds, and nothing that blocks the rest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.normalize import batching
from decision_hooks.normalize.batching import choose, order
from decision_hooks.records.front_matter import DraftFile


def waiting(count: int, session: str = "", text: str = "", first: int = 0) -> list[DraftFile]:
    """Drafts of one session each, or all of ``session``, oldest first, with texts that have nothing in common."""
    return [
        DraftFile(
            f"2603{number // 24 + 1:02d}-{number % 24:02d}00-d{number}.md",
            text or " ".join(f"w{number}x{word}" for word in range(40)),
            session or f"s{number}",
        )
        for number in range(first, first + count)
    ]


def names(drafts: list[DraftFile]) -> list[str]:
    return [draft.name for draft in drafts]


def test_names_of_both_forms_sort_together_by_time_and_those_without_come_last() -> None:
    given = ["260304-0501-b.md", "notes.md", "20260304-050000-a.md", "251231-2359-c.md"]
    assert order(given, {}) == ["251231-2359-c.md", "20260304-050000-a.md", "260304-0501-b.md", "notes.md"]


def test_drafts_that_two_runs_left_go_behind_the_others_and_take_turns_there() -> None:
    given = names(waiting(4))
    assert order(given, {given[0]: 1}) == given
    assert order(given, {given[0]: 2}) == [*given[1:], given[0]]
    assert order(given, dict.fromkeys(given, 2) | {given[0]: 4}) == [*given[1:], given[0]]


def test_the_oldest_are_taken() -> None:
    drafts = waiting(20)
    assert choose(drafts, 10) == drafts[:10]
    assert choose(drafts, 1) == drafts[:1]
    assert choose([], 10) == []


def test_later_drafts_of_a_session_come_along_and_fill_half_at_most() -> None:
    drafts = [*waiting(12), *waiting(12, "s0", first=12)]
    chosen = choose(drafts, 10)
    assert chosen[:5] == drafts[:5]
    assert [draft.session for draft in chosen[5:]] == ["s0"] * 5


def test_drafts_of_no_known_session_do_not_belong_together() -> None:
    drafts = [*waiting(12, "unknown"), *waiting(1, "unknown", first=30)]
    assert choose(drafts, 4) == drafts[:4]


def test_near_duplicates_come_along() -> None:
    drafts = waiting(20)
    twin = drafts[15]._replace(text=drafts[1].text + " and a little more")
    drafts[15] = twin
    assert twin in choose(drafts, 6)


def test_a_batch_has_a_bound_of_characters_and_at_least_one_draft() -> None:
    huge = batching.MOST_CHARACTERS + 1
    drafts = waiting(3)
    large = [draft._replace(text=draft.text + "x " * 30_000) for draft in waiting(5)]
    assert choose([drafts[0]._replace(text="x" * huge), *drafts[1:]], 10) == [
        drafts[0]._replace(text="x" * huge)
    ]
    assert len(choose(large, 10)) == 2
    assert choose([*large, *waiting(1, first=9)], 10)[-1].name == waiting(1, first=9)[0].name


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 90_000)), max_size=30),
    st.integers(1, 12),
)
def test_a_batch_is_the_oldest_draft_and_others_in_order_within_bounds(
    rows: list[tuple[str, int]], most: int
) -> None:
    drafts = [
        draft._replace(session=session, text=draft.text[:50] + "x" * size)
        for draft, (session, size) in zip(waiting(len(rows)), rows, strict=True)
    ]
    chosen = choose(drafts, most)
    assert len(chosen) <= most
    assert chosen[:1] == drafts[:1]
    assert [draft for draft in drafts if draft in chosen] == chosen
    assert len(chosen) <= 1 or sum(len(draft.text) for draft in chosen) <= batching.MOST_CHARACTERS
