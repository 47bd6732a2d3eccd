"""The circuit breaker opens longer each time and never for good; the ledger counts the calls of a day."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.backends import ledger
from decision_hooks.backends.ledger import LedgerLine
from decision_hooks.system.project import Project, project_at
from decision_hooks.system.runlog import iso_time
from decision_hooks.system.state_folder import open_state

NOW = 1_800_000_000.0
LINE = LedgerLine(iso_time(NOW), "capture-decisions", "pi", "м", 10, 20, 1.5, None, "ok")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with its state folder."""
    made = project_at(str(tmp_path), "docs/adr")
    open_state(made, os.environ)
    return made


def test_a_breaker_that_never_opened_is_closed(project: Project) -> None:
    assert ledger.breaker(project, "pi", "m", NOW) is None
    assert ledger.breakers(project, NOW) == []
    ledger.reset(project, "pi", "m")


def test_a_breaker_is_open_until_its_time_has_come(project: Project) -> None:
    opened = ledger.trip(project, "pi", "m", NOW, "no credit")
    assert opened.until == NOW + 900
    assert ledger.breaker(project, "pi", "m", NOW + 899) == opened
    assert ledger.breakers(project, NOW + 899) == [opened]
    assert ledger.breaker(project, "pi", "m", NOW + 900) is None
    assert ledger.breaker(project, "pi", "other", NOW) is None
    assert ledger.breaker(project, "claude", "m", NOW) is None


def test_a_breaker_doubles_until_6_hours_and_begins_anew_after_a_success(project: Project) -> None:
    steps = [ledger.trip(project, "pi", "m", NOW, "x").step / 60 for _ in range(7)]
    assert steps == [15, 30, 60, 120, 240, 360, 360]
    ledger.reset(project, "pi", "m")
    assert ledger.breaker(project, "pi", "m", NOW) is None
    assert ledger.trip(project, "pi", "m", NOW, "x").step == 900


@pytest.mark.parametrize("until", [NOW + 6 * 3600 + 1, NOW + 1e9, float("inf"), float("nan")])
def test_a_time_further_ahead_than_6_hours_is_void(project: Project, until: float) -> None:
    ledger.trip(project, "pi", "m", NOW, "x")
    (path,) = Path(project.state_file("breaker")).iterdir()
    path.write_text(json.dumps({**json.loads(path.read_text()), "until": until}))
    assert ledger.breaker(project, "pi", "m", NOW) is None


@given(
    st.dictionaries(st.sampled_from(["name", "until", "step", "why"]), st.none() | st.text() | st.floats())
)
def test_a_stored_breaker_of_any_type_is_read(
    tmp_path_factory: pytest.TempPathFactory, value: dict[str, Any]
) -> None:
    project = project_at(str(tmp_path_factory.mktemp("project")), "docs/adr")
    ledger.trip(project, "pi", "m", NOW, "x")
    (path,) = Path(project.state_file("breaker")).iterdir()
    path.write_text(json.dumps(value))
    ledger.breaker(project, "pi", "m", NOW)
    assert 0 < ledger.trip(project, "pi", "m", NOW, "x").step <= 6 * 3600


def test_calls_of_today_are_counted(project: Project) -> None:
    assert ledger.calls_today(project, NOW, 10) == 0
    for day in (0, 0, -1):
        ledger.record_call(project, NOW, LINE._replace(time=iso_time(NOW + day * 86400)))
    assert ledger.calls_today(project, NOW, 10) == 2


def test_a_long_ledger_is_read_from_its_end(project: Project) -> None:
    for _ in range(300):
        ledger.record_call(project, NOW, LINE._replace(time=iso_time(NOW - 86400)))
    for _ in range(7):
        ledger.record_call(project, NOW, LINE)
    assert ledger.calls_today(project, NOW, 5) >= 5
    assert ledger.calls_today(project, NOW, 10) == 7


def test_the_ledger_comes_back_and_strange_lines_are_passed_over(project: Project) -> None:
    ledger.record_call(project, NOW, LINE)
    ledger.record_call(project, NOW, LINE._replace(cost=0.25))
    (path,) = Path(project.state_file("ledger")).iterdir()
    huge = path.read_bytes().replace(b'"characters_in":', b'"characters_in":1e999,"was":')
    assert huge != path.read_bytes()
    path.write_bytes(b"{}\nnull\n[1]\n{cut\n\xff\n" + path.read_bytes() + huge + b'{"time": 1}\n')
    assert list(ledger.calls(project, path.stem)) == [LINE, LINE._replace(cost=0.25)]
    assert list(ledger.calls(project, "1999-01")) == []


def test_a_ledger_that_cannot_be_written_stops_nothing(project: Project) -> None:
    Path(project.state_file("ledger")).write_text("in the way")
    ledger.record_call(project, NOW, LINE)
    assert ledger.calls_today(project, NOW, 5) == 0
    assert os.path.isfile(project.state_file("ledger"))


@pytest.mark.parametrize("ahead", [900.0, 3 * 3600.0, 86400.0])
def test_a_pause_that_began_at_a_clock_ahead_is_void(project: Project, ahead: float) -> None:
    ledger.trip(project, "pi", "m", NOW + ahead, "x")
    assert ledger.breaker(project, "pi", "m", NOW) is None
    assert ledger.breakers(project, NOW) == []


def test_lines_of_a_clock_that_was_ahead_do_not_hide_the_calls_of_today(project: Project) -> None:
    for day in (0, 2, 0):
        now = NOW + day * 86400
        for _ in range(40):
            ledger.record_call(project, now, LINE._replace(time=iso_time(now)))
    assert ledger.calls_today(project, NOW, 50) == 80
