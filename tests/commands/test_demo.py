"""``demo``: the whole way of a decision in a temporary folder, offline."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.sandbox import CAPTURE, Sandbox

FIRST = "260304-0918-cache-exchange-rates-in-sqlite.md"
RECORD = "260304-0918-sqlite-cache-for-exchange-rates.md"
SECOND = "260304-0918-expire-cached-rates-after-one-hour.md"


def test_a_stop_two_drafts_a_record_and_undo_are_shown_in_order(sandbox: Sandbox) -> None:
    done = sandbox.capture(None, "demo")
    assert (done.rc, done.stderr) == (0, "")
    steps = [
        "1. An agent has finished a turn",
        f"wrote: docs/adr/{FIRST}",
        f"wrote: docs/adr/{SECOND}",
        "My key is [",
        "2. Two decisions, two drafts",
        "| session: d0d0c0de-0000-4000-8000-000000000001",
        "| - 40 ms",
        "3. Drafts become records",
        "$ normalize-decisions run",
        f"rewrite: {FIRST} -> {RECORD}",
        f"merge-into: {SECOND} -> {RECORD}",
        "4. The record",
        "| type: ADR",
        "| **Status:** Accepted",
        "| ## Update 2026-03-04",
        "5. Undo",
        "$ normalize-decisions undo",
        f"removed: {RECORD}",
        f"restored: {SECOND}",
        "6. Status",
        "2 drafts of 1 session",
    ]
    places = [done.stdout.find(step) for step in steps]
    assert -1 not in places, steps[places.index(-1)]
    assert places == sorted(places)
    assert re.search(r"calls today +2 of 200 allowed", done.stdout)
    assert "sk-ant" not in done.stdout


def test_nothing_outside_of_the_temporary_folder_is_touched_and_it_goes(sandbox: Sandbox) -> None:
    before = sandbox.snapshot(of=sandbox.base, without=())
    assert sandbox.capture(None, "demo").rc == 0
    assert sandbox.snapshot(of=sandbox.base, without=()) == before
    assert list(sandbox.temporary.iterdir()) == []


def test_keep_leaves_the_folder_and_says_where_it_is(sandbox: Sandbox) -> None:
    done = sandbox.capture(None, "demo", "--keep")
    [folder] = sandbox.temporary.iterdir()
    assert f"The folder is left at {folder}\n" in done.stdout
    assert sorted(path.name for path in (folder / "exchange" / "docs" / "adr").iterdir()) == [FIRST, SECOND]


def test_no_agent_and_no_setting_of_the_person_is_in_reach(sandbox: Sandbox) -> None:
    fakes = [sandbox.fake(name) for name in ("pi", "claude", "cursor-agent")]
    env = {"ADR_HOOKS_SKIP": "1", "CAPTURE_DECISIONS_BACKEND": "pi", "ADR_LANGUAGE": "uk", "ADR_DIR": "x"}
    env |= {"CLAUDE_CONFIG_DIR": "/no/such", "ADR_NORMALIZE_DRY": "1", "ADR_DAILY_CALLS": "0"}
    done = sandbox.capture(None, "demo", env=env)
    assert (done.rc, done.stderr) == (0, "")
    assert [fake.calls for fake in fakes] == [[], [], []]


def test_it_runs_without_a_home_and_from_any_folder(sandbox: Sandbox) -> None:
    done = sandbox.capture(None, "demo", cwd=Path("/"), env={"HOME": None})
    assert (done.rc, done.stderr) == (0, "")


def test_it_ends_in_a_few_seconds_and_leaves_no_process(sandbox: Sandbox) -> None:
    done = sandbox.capture(None, "demo", wait=False)
    assert sandbox.processes() == []
    assert done.seconds < 15  # about one second on a quiet machine


def test_on_a_terminal_it_shows_the_same_without_colours(sandbox: Sandbox) -> None:
    rc, out, err = sandbox.on_terminal(CAPTURE, "demo")
    assert (rc, err) == (0, "")
    assert "\x1b" not in out
    assert "5. Undo" in out


@pytest.mark.parametrize("arguments", [("--wrong",), ("extra",)])
def test_bad_usage_exits_with_2(sandbox: Sandbox, arguments: tuple[str, ...]) -> None:
    assert sandbox.capture(None, "demo", *arguments).rc == 2
