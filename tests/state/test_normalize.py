"""What normalisation remembers: attempts, back-off, halved batches, drafts left lying, kept plans."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from decision_hooks.errors import FolderError
from decision_hooks.state.normalize import NormalState, StoredPlan
from decision_hooks.system.project import Project, project_at
from decision_hooks.system.state_folder import open_state

NOW = 1_800_000_000.0
HOUR = 3600.0
PLAN = StoredPlan("reply \ud800", "uk", "2026-03-04", (("a.md", "1"),), (("b.md", "2"),), ("c.md",), ())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = project_at(str(tmp_path), "docs/adr")
    open_state(made, os.environ)
    return made


@pytest.fixture
def state(project: Project) -> NormalState:
    return NormalState(project)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1799999999\n", NOW - 1),
        (" 1799999999 ", NOW - 1),
        ("1800000100", None),
        ("-1", None),
        ("0", None),
        ("", None),
        ("1799999999.5", None),
        ("soon", None),
        ("9" * 63, None),
        ("\x00", None),
    ],
)
def test_an_attempt_is_epoch_seconds_in_the_past_and_nothing_else(
    state: NormalState, project: Project, text: str, wanted: float | None
) -> None:
    (Path(project.hooks) / ".normalize-state").write_text(text)
    assert state.last_attempt(NOW) == wanted


def test_a_stamp_can_be_taken_back(state: NormalState) -> None:
    state.stamp_attempt(NOW)
    state.clear_attempt(None)
    assert state.last_attempt(NOW) is None
    state.stamp_attempt(NOW)
    state.clear_attempt(NOW - 9)
    assert state.last_attempt(NOW) == NOW - 9


@pytest.mark.parametrize(
    ("ahead", "mended"), [(-9.0, -9.0), (60.0, 0.0), (30 * HOUR, 0.0), (400 * 24 * HOUR, None)]
)
def test_a_stamp_of_a_clock_that_was_ahead_becomes_now(
    state: NormalState, ahead: float, mended: float | None
) -> None:
    state.stamp_attempt(NOW + ahead)
    state.mend_clock(NOW)
    assert state.last_attempt(NOW) == (None if mended is None else NOW + mended)


def test_the_newest_plans_are_kept_whatever_the_clock_says(state: NormalState) -> None:
    kept = [state.store_plan(PLAN, NOW - 1000 * number).id for number in range(30)]
    assert len(set(kept)) == 30
    for plan_id in kept[-20:]:
        assert state.stored_plan(plan_id).id == plan_id
    for plan_id in kept[:10]:
        with pytest.raises(FolderError):
            state.stored_plan(plan_id)


def test_backing_off_begins_with_15_minutes_and_doubles_up_to_the_interval(state: NormalState) -> None:
    waits = [state.back_off(NOW, 6 * HOUR, "no credit").until - NOW for _ in range(7)]
    assert waits == [900, 1800, 3600, 7200, 14400, 21600, 21600]
    assert state.back_off(NOW, 600, "x").until == NOW + 600


def test_backing_off_ends_by_itself_and_with_the_first_valid_reply(state: NormalState) -> None:
    state.back_off(NOW, 6 * HOUR, "no credit")
    assert state.backoff(NOW + 899, 6 * HOUR)
    assert state.backoff(NOW + 900, 6 * HOUR) is None
    state.note_judged(left=(), waiting=())
    assert state.backoff(NOW, 6 * HOUR) is None
    assert state.back_off(NOW, 6 * HOUR, "x").until == NOW + 900


def test_a_wait_further_ahead_than_its_maximum_is_void(state: NormalState) -> None:
    state.back_off(NOW + 10 * HOUR, 6 * HOUR, "x")
    assert state.backoff(NOW, 6 * HOUR) is None


def test_each_invalid_reply_halves_again_and_a_valid_one_ends_it(state: NormalState) -> None:
    assert state.halvings() == 0
    state.note_invalid(["a.md"])
    state.note_invalid(["a.md"])
    assert (state.halvings(), state.misses()) == (2, {"a.md": 2})
    state.note_judged(left=(), waiting=["a.md"])
    assert (state.halvings(), state.misses()) == (0, {"a.md": 2})


def test_drafts_that_are_gone_are_forgotten(state: NormalState) -> None:
    state.note_judged(left=["a.md", "b.md"], waiting=["a.md", "b.md", "c.md"])
    state.note_judged(left=["a.md"], waiting=["a.md", "c.md"])
    assert state.misses() == {"a.md": 2}


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        b"[]",
        b'{"misses": 3, "backoff": 3, "halvings": "x"}',
        b'{"misses": {"a": "x", "b": -1, "c": true}, "backoff": {"until": "x"}, "halvings": true}',
        b'{"backoff": {"until": 1e999, "step": null}, "halvings": -4}',
    ],
)
def test_garbage_is_nothing(state: NormalState, project: Project, stored: bytes) -> None:
    (Path(project.state) / "normalize.json").write_bytes(stored)
    assert (state.misses(), state.halvings(), state.backoff(NOW, HOUR)) == ({}, 0, None)
    state.note_invalid(["a.md"])
    assert state.halvings() == 1
    assert state.back_off(NOW, HOUR, "x").until == NOW + 900


def test_a_plan_comes_back_as_it_was_kept(state: NormalState) -> None:
    odd = PLAN._replace(names=(os.fsdecode(b"\xff.md"),))
    kept = state.store_plan(odd, NOW)
    assert kept.id == "20270115T080000Z"
    assert state.stored_plan(kept.id) == kept
    assert state.store_plan(odd, NOW).id == "20270115T080000Z-2"


@pytest.mark.parametrize("plan_id", ["", "nothing", "../../../etc/passwd", "a/b", "x" * 5000, "\x00", "."])
def test_a_plan_that_was_not_kept_is_an_error(state: NormalState, plan_id: str) -> None:
    with pytest.raises(FolderError, match="no plan"):
        state.stored_plan(plan_id)


@pytest.mark.parametrize("value", [{}, {"reply": 5, "batch": [[1], "x", ["a.md", "1"]], "names": "x"}])
def test_a_plan_that_was_tampered_with_is_read_as_far_as_it_is_one(
    state: NormalState, project: Project, value: object
) -> None:
    (Path(project.state) / "plans").mkdir()
    (Path(project.state) / "plans" / "p.json").write_text(json.dumps(value))
    found = state.stored_plan("p")
    assert set(found.batch) <= {("a.md", "1")}
    assert found.names == ()


def test_the_newest_plans_are_kept(state: NormalState, project: Project) -> None:
    for second in range(25):
        state.store_plan(PLAN, NOW + second)
    names = sorted(os.listdir(Path(project.state) / "plans"))
    assert len(names) == 20
    assert names[0] == "20270115T080005Z.json"


def test_only_the_own_leftovers_are_removed(state: NormalState, project: Project) -> None:
    mine = Path(project.state) / ".decision-hooks-normalize-1-2.tmp"
    theirs = [
        Path(project.state) / name
        for name in (".decision-hooks-normalize.0a-1-2.tmp", ".decision-hooks-1-2.tmp")
    ]
    for path in [mine, *theirs]:
        path.write_text("")
    state.remove_leftovers()
    assert not mine.exists()
    assert all(path.exists() for path in theirs)
