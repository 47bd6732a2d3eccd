"""What capture remembers comes back as it was, is bounded, and is never trusted for its types."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.state.capture import DAY, CaptureState
from decision_hooks.state.values import GivenUp, Outbox, Pending, Position, Title, key_of
from decision_hooks.system import stored
from decision_hooks.system.project import project_at
from decision_hooks.system.state_folder import open_state

NOW = 1_800_000_000.0
POSITION = Position(
    path="/t.jsonl",
    offset=12,
    check="c",
    uuid="u",
    appended="a",
    titles=(Title("Т", "id"), Title("b", "c")),
    verdict="own",
    subagents=(("agent-1.jsonl", 5),),
    time=NOW,
)
ENTRY = Pending("k", "/t.jsonl", "s", "claude", "said", "/root", False, first=NOW, stop=NOW, serial="1")
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture
def state(tmp_path: Path) -> CaptureState:
    """The state of a new project."""
    project = project_at(str(tmp_path), "docs/adr")
    open_state(project, os.environ)
    return CaptureState(project)


def folder(tmp_path: Path, kind: str) -> Path:
    return tmp_path / ".claude" / "hooks" / ".decision-hooks" / kind


def test_a_position_comes_back_as_it_was(state: CaptureState) -> None:
    state.save_position("k", POSITION)
    assert state.position("k", "/other", NOW) == POSITION
    assert state.position("unknown", "/new", NOW) == Position("/new")


def test_a_position_from_the_future_says_how_far_all_the_same(state: CaptureState) -> None:
    state.save_position("k", POSITION)
    assert state.position("k", "/t.jsonl", NOW - 2 * DAY) == POSITION._replace(time=NOW - 2 * DAY)


@given(
    value=st.dictionaries(st.sampled_from(Position._fields), ANY), name=st.sampled_from(["pending", "outbox"])
)
def test_stored_values_of_any_type_are_read(
    tmp_path_factory: pytest.TempPathFactory, value: dict[str, Any], name: str
) -> None:
    root = tmp_path_factory.mktemp("project")
    project = project_at(str(root), "docs/adr")
    open_state(project, os.environ)
    here = CaptureState(project)
    for kind, written in (
        ("positions", value),
        ("pending", {**dict.fromkeys(Pending._fields, value), "key": "k"}),
        (name, {**value, "key": "k", "position": value, "drafts": value, "uuids": value}),
    ):
        folder(root, kind).mkdir(exist_ok=True)
        (folder(root, kind) / "k.json").write_text(json.dumps(written))
    assert here.position("k", "/t", NOW).offset >= 0
    assert all(entry.tries >= 0 for entry in here.pending())
    assert all(isinstance(outbox.drafts, tuple) for outbox in here.outboxes())


def test_a_newer_stop_of_a_transcript_keeps_the_tries_and_the_age_of_its_part(state: CaptureState) -> None:
    state.put(ENTRY)
    claimed = state.claim("k", NOW + 1)
    assert claimed is not None
    assert (claimed.tries, claimed.tried) == (1, NOW + 1)
    state.put(ENTRY._replace(message="newer", first=NOW + 2, stop=NOW + 2, serial="2"))
    (entry,) = state.pending()
    assert (entry.message, entry.tries, entry.first, entry.stop) == ("newer", 1, NOW, NOW + 2)


def test_a_stop_that_came_during_a_capture_stays_with_tries_begun_anew(state: CaptureState) -> None:
    state.put(ENTRY)
    claimed = state.claim("k", NOW + 1)
    assert claimed is not None
    state.put(ENTRY._replace(stop=NOW + 2, serial="2"))
    state.finish(claimed)
    (entry,) = state.pending()
    assert (entry.tries, entry.tried, entry.first, entry.serial) == (0, 0.0, NOW + 2, "2")
    state.finish(entry)
    assert state.pending() == []


@pytest.mark.parametrize(("counts", "tries"), [(True, 1), (False, 0)])
def test_a_try_counts_or_not(state: CaptureState, counts: bool, tries: int) -> None:
    state.put(ENTRY)
    claimed = state.claim("k", NOW)
    assert claimed is not None
    state.put_back(claimed, NOW + 5, counts=counts)
    (entry,) = state.pending()
    assert (entry.tries, entry.tried) == (tries, NOW + 5)


def test_the_same_defect_is_counted_and_another_begins_anew(state: CaptureState) -> None:
    state.put(ENTRY)
    counted = []
    for defect in ("a", "a", "b", "", "b"):
        state.put_back(ENTRY, NOW, counts=False, defect=defect)
        counted.append(state.pending()[0].defects)
    assert counted == [1, 2, 1, 0, 1]


def test_what_is_gone_cannot_be_claimed(state: CaptureState) -> None:
    assert state.claim("k", NOW) is None


def test_stops_have_an_order_that_no_clock_gives_them(state: CaptureState) -> None:
    first = state.put(ENTRY._replace(key="a", stop=NOW + 9))
    second = state.put(ENTRY._replace(key="b", stop=NOW - 9))
    third = state.put(ENTRY._replace(key="a", stop=NOW - 99))
    assert first.place < second.place < third.place == state.place()
    assert state.came_after(first.place) == ["b", "a"]
    assert state.came_after(third.place) == []


def test_the_order_of_stops_begins_anew_when_it_is_long(
    state: CaptureState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("decision_hooks.state.capture._MOST_STOPS", 100)
    for number in range(60):
        last = state.put(ENTRY._replace(key=f"k{number}"))
    state.forget_old(NOW)
    assert state.place() == 0
    assert state.put(ENTRY._replace(key="new")).place < last.place
    assert state.came_after(last.place) == ["new"]


def test_those_that_nobody_has_looked_at_come_first(state: CaptureState, tmp_path: Path) -> None:
    now = 1_700_000_000
    for number, age in enumerate((3, 9, 6, -9e8)):  # the last was stored while the clock was ahead
        state.put(ENTRY._replace(key=f"k{number}"))
        os.utime(folder(tmp_path, "pending") / f"k{number}.json", (now - age,) * 2)
    assert state.waiting_longest(3) == ["k3", "k1", "k2"]
    for key in ("k3", "k1"):
        state.defer(ENTRY._replace(key=key))
    state.put(ENTRY._replace(key="z"))
    assert state.waiting_longest(9) == ["k2", "k0", "k3", "k1", "z"]


def test_parts_wait_in_the_order_of_their_age(state: CaptureState) -> None:
    for number in (2, 0, 1):
        state.put(ENTRY._replace(key=f"k{number}", first=NOW + number))
    assert [entry.key for entry in state.pending()] == ["k0", "k1", "k2"]


@pytest.mark.parametrize("damage", [{"root": 5}, {"root": None}, {"drafts": "x"}])
def test_an_outbox_that_lost_its_drafts_is_still_one_that_can_be_closed(
    state: CaptureState, damage: dict[str, object]
) -> None:
    outbox = Outbox("k", POSITION, "/root", (("260304-0506-a", "text"),))
    state.save_outbox(outbox._replace(**damage))  # type: ignore[arg-type]
    (found,) = state.outboxes()
    assert (found.key, found.position) == ("k", POSITION)
    assert not (found.root and found.drafts)


def test_an_outbox_comes_back_as_it_was_and_goes(state: CaptureState) -> None:
    outbox = Outbox("k", POSITION, "/root", (("260304-0506-а", "---\nтекст"),), ("u1", "u2"))
    state.save_outbox(outbox)
    assert state.outboxes() == [outbox]
    state.close_outbox("k")
    assert state.outboxes() == []


def test_a_part_that_was_given_up_can_be_found_and_forgotten(state: CaptureState) -> None:
    part = GivenUp(ENTRY, 10, 20, "c", "a", "own")
    state.give_up(part)
    assert state.given_up() == [part]
    state.forget_given_up(part)
    assert state.given_up() == []


def test_a_part_that_was_given_up_is_never_forgotten_by_a_path(state: CaptureState, tmp_path: Path) -> None:
    state.give_up(GivenUp(ENTRY, appended="a"))
    [path] = folder(tmp_path, "given-up").iterdir()
    path.write_text(json.dumps({**json.loads(path.read_text()), "appended": "/../../k"}))
    assert state.given_up() == [GivenUp(ENTRY)]


@given(st.lists(st.text(max_size=8), max_size=60), st.lists(st.text(max_size=8), max_size=20))
def test_known_ids_are_those_remembered(
    tmp_path_factory: pytest.TempPathFactory, ours: list[str], others: list[str]
) -> None:
    project = project_at(str(tmp_path_factory.mktemp("project")), "docs/adr")
    open_state(project, os.environ)
    here = CaptureState(project)
    here.remember(ours[::2], NOW)
    here.remember(ours[1::2], NOW)
    assert here.known([*ours, *others]) == set(ours)


def test_a_torn_write_costs_its_own_id_only(state: CaptureState, tmp_path: Path) -> None:
    ids = [f"id-{number}" for number in range(200)]
    state.remember(ids, NOW)
    for path in folder(tmp_path, "seen").iterdir():
        path.write_bytes(path.read_bytes() + b"torn")
    state.remember([f"new-{number}" for number in range(200)], NOW)
    assert state.known(ids) == set(ids)
    assert len(state.known(f"new-{number}" for number in range(200))) == 200


def test_the_oldest_ids_are_forgotten_when_there_are_many_whatever_the_clock_says(
    state: CaptureState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("decision_hooks.state.capture._MOST_SEEN", 2000)
    for number, days in enumerate((0, 100, -400, 3)):  # one clock after the other
        state.remember([f"{number}-{at}" for at in range(2000)], NOW + days * DAY)
    assert len(state.known(f"3-{at}" for at in range(2000))) == 2000
    assert state.known(f"0-{at}" for at in range(2000)) == set()


def test_no_clock_makes_us_forget_the_few(state: CaptureState, tmp_path: Path) -> None:
    for number, days in enumerate((0, 1000, -1000)):
        state.remember([f"id-{number}"], NOW + days * DAY)
        for path in folder(tmp_path, "seen").iterdir():
            path.write_bytes(path.read_bytes() + b"x")  # odd: the file is cleaned at the next chance
    state.remember([f"new-{number}" for number in range(300)], NOW)
    assert state.known(["id-0", "id-1", "id-2"]) == {"id-0", "id-1", "id-2"}


def test_positions_go_when_they_are_old_and_their_transcripts_are_gone(
    state: CaptureState, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.touch()
    for name, path, days in (("old", "/gone", 61), ("young", "/gone", 59), ("used", str(kept), 61)):
        state.save_position(name, POSITION._replace(path=path))
        state.put(ENTRY._replace(key=name))
        for kind in ("positions", "pending"):
            os.utime(folder(tmp_path, kind) / f"{name}.json", (NOW - days * DAY,) * 2)
    state.forget_old(NOW)
    assert sorted(os.listdir(folder(tmp_path, "positions"))) == ["used.json", "young.json"]
    assert len(state.pending()) == 3  # parts that wait are given up with a line, not removed


def test_a_part_that_was_given_up_outlives_one_look_at_a_wrong_clock(
    state: CaptureState, tmp_path: Path
) -> None:
    part = GivenUp(ENTRY._replace(transcript=""), appended="a")
    state.give_up(part)
    [path] = folder(tmp_path, "given-up").iterdir()
    for days in (61, 63):
        os.utime(path, (NOW, NOW))
        state.forget_old(NOW + days * DAY)
        assert len(state.given_up()) == (days == 61)


@pytest.mark.parametrize("name", ["swept", "stops"])
def test_what_is_in_the_way_of_small_files_stops_nothing(
    state: CaptureState, tmp_path: Path, name: str
) -> None:
    folder(tmp_path, name).mkdir()
    assert state.put(ENTRY).key == "k"
    state.forget_old(NOW)
    assert state.claim("k", NOW) is not None


def test_a_day_looks_at_some_positions_and_the_next_one_goes_on(
    state: CaptureState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("decision_hooks.state.capture._SWEPT", 4)
    for number in range(10):
        state.save_position(f"k{number}", POSITION._replace(path="/gone"))
        os.utime(folder(tmp_path, "positions") / f"k{number}.json", (NOW - 90 * DAY,) * 2)
    left = []
    for now in (NOW, NOW + 5, NOW + DAY, NOW + 2 * DAY, NOW + 3 * DAY):
        state.forget_old(now)
        left.append(len(os.listdir(folder(tmp_path, "positions"))))
    assert left == [6, 6, 2, 0, 0]


def test_temporary_files_of_killed_runs_go_after_a_day(state: CaptureState, tmp_path: Path) -> None:
    made = []
    for kind in ("", "outbox", "breaker", "positions", "ledger"):
        folder(tmp_path, kind).mkdir(exist_ok=True)
        for name, age in ((".decision-hooks-1-a.tmp", 2), (".decision-hooks-2-a.tmp", 0)):
            path = folder(tmp_path, kind) / name
            path.touch()
            os.utime(path, (NOW - age * DAY,) * 2)
            made.append((path, age))
    state.forget_old(NOW)
    assert [path.exists() for path, _ in made] == [age == 0 for _, age in made]


def test_a_key_is_a_short_plain_name(state: CaptureState) -> None:
    assert key_of("/a/b.jsonl") == key_of("/a/b.jsonl")
    assert key_of("/a/b.jsonl") != key_of("/a/c.jsonl")
    assert key_of("\ud800" + "x" * 5000).isalnum()


@pytest.mark.parametrize("name", ["../x", "a/b", "/tmp/x", "..", ".hidden", "a\nb", ""])
def test_a_stored_name_that_leads_elsewhere_is_passed_over(name: str) -> None:
    value = ENTRY._asdict() | {"position": {}, "drafts": [[name, "text"], ["260304-0506-a", "text"]]}
    found = stored.read(Outbox, value)
    assert found is not None
    assert found.drafts == (("260304-0506-a", "text"),)
    assert stored.read(Outbox, value | {"key": name}) is None
    assert stored.read(Pending, value | {"key": name}) is None


def test_stored_texts_can_be_written_and_be_paths() -> None:
    found = stored.read(
        Pending,
        ENTRY._asdict() | {"root": "/a\0b\ud800", "transcript": "/\udcff", "message": "two\nlines \u0456"},
    )
    assert found is not None
    assert (found.root, found.transcript, found.message) == ("/ab?", "/\udcff", "two\nlines \u0456")
