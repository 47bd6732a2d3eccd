"""``status``: one screen of what waits, what was done and what it cost."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.commands.report import columns, counted, shortened
from decision_hooks.commands.status.activity import read_activity
from support.adr_texts import draft, record
from support.sandbox import Sandbox

STAMP = "2026-03-04T05:06:07+00:00"


def status(sandbox: Sandbox, **options: Any) -> dict[str, Any]:
    done = sandbox.capture(None, "status", "--json", **options)
    assert done.rc == 0, done.stderr
    shown: dict[str, Any] = json.loads(done.stdout)
    return shown


def log(sandbox: Sandbox, program: str, *texts: str) -> None:
    lines = "".join(f"{STAMP} {text}\n" for text in texts)
    sandbox.write(f".claude/hooks/{program}-decisions.log", lines)


def ledger(sandbox: Sandbox, *lines: dict[str, Any]) -> None:
    base = {"time": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()), "program": "capture-decisions"}
    base |= {"backend": "claude", "model": "sonnet", "characters_in": 1000, "characters_out": 100}
    base |= {"seconds": 1.5, "cost": 0.01, "result": "ok"}
    text = "".join(json.dumps(base | line, separators=(",", ":")) + "\n" for line in lines)
    sandbox.open_state()
    sandbox.write(f".claude/hooks/.decision-hooks/ledger/{time.strftime('%Y-%m', time.gmtime())}.jsonl", text)


def test_an_empty_project_has_a_status_and_nothing_is_written(sandbox: Sandbox) -> None:
    before = sandbox.snapshot(without=(".git",))
    done = sandbox.capture(None, "status")
    assert done.rc == 0
    assert "none wait" in done.stdout
    assert done.stderr == ""
    assert sandbox.snapshot(without=(".git",)) == before


def test_drafts_are_counted_with_the_oldest_and_their_sessions(sandbox: Sandbox) -> None:
    sandbox.write("docs/adr/260304-0506-b.md", draft("B", session="s2"))
    sandbox.write("docs/adr/20260301-040506-a.md", draft("A", session="s1"))
    sandbox.write("docs/adr/260305-0506-c.md", draft("C", session="s1"))
    sandbox.write("docs/adr/260101-0101-old.md", record())
    sandbox.write("docs/adr/README.md", "# Records\n")
    shown = status(sandbox)
    assert shown["drafts"] == {"count": 3, "threshold": 30, "oldest": "20260301-040506-a.md", "sessions": 2}
    assert shown["records"] == 1
    screen = sandbox.capture(None, "status").stdout
    assert "3 drafts of 2 sessions (normalised from 30), oldest 20260301-040506-a.md" in screen


def test_the_last_run_and_the_skips_are_read_from_the_log(sandbox: Sandbox) -> None:
    log(
        sandbox,
        "capture",
        "skipping ADR capture: tooling-only session [tooling-only]",
        "skipping ADR capture: cross-project session [cross-project]",
        "skipping ADR capture: tooling-only session [tooling-only]",
        "using claude CLI (model: sonnet)",
        "wrote: /p/docs/adr/a.md",
        "wrote: /p/docs/adr/b.md",
    )
    log(sandbox, "normalize", "2 drafts, threshold 30: nothing was done [threshold]")
    shown = status(sandbox)
    assert shown["capture"]["skips"] == {"tooling-only": 2, "cross-project": 1}
    assert shown["capture"]["last"] == {"time": STAMP, "text": "wrote 2 drafts"}
    assert shown["capture"]["drafts_written"] == 2
    assert shown["normalize"]["last"]["text"] == "nothing: threshold"
    screen = sandbox.capture(None, "status").stdout
    assert "tooling-only 2, cross-project 1 (since 2026-03-04 05:06)" in screen


def test_what_the_hooks_skip_is_counted(sandbox: Sandbox) -> None:
    for _ in range(2):
        sandbox.capture({})
    sandbox.write("docs/adr/260304-0506-b.md", draft("B"))
    sandbox.normalize({})
    shown = status(sandbox)
    assert shown["capture"]["skips"] == {"no transcript": 2}
    assert shown["normalize"]["skips"] == {"threshold": 1}


def test_only_the_end_of_a_long_log_is_read(sandbox: Sandbox) -> None:
    old = f"{STAMP} skipping ADR capture: cross-project session [cross-project]\n" * 20_000
    sandbox.write(".claude/hooks/capture-decisions.log", old + f"{STAMP} NONE\n")
    skips = status(sandbox)["capture"]["skips"]
    assert skips["no decision in it"] == 1
    assert 0 < skips["cross-project"] < 5_000


def test_calls_are_counted_for_today_and_for_the_month(sandbox: Sandbox) -> None:
    ledger(
        sandbox,
        {},
        {"cost": None, "result": "rate", "characters_out": 0},
        {"time": time.strftime("%Y-%m", time.gmtime()) + "-00T00:00:00+00:00", "cost": 1.0},
    )
    calls = status(sandbox)["calls"]
    assert calls["today"] == {
        "calls": 2,
        "characters_in": 2000,
        "characters_out": 100,
        "cost": 0.01,
        "cost_unknown": 1,
        "failed": 1,
    }
    assert calls["month"]["calls"] == 3
    assert calls["month"]["cost"] == pytest.approx(1.01)
    screen = sandbox.capture(None, "status").stdout
    assert "2 of 200 allowed, 1 failed, 2,000 characters in, 100 out, $0.01 and 1 unknown" in screen


def test_waiting_parts_given_up_parts_and_breakers_are_shown(sandbox: Sandbox) -> None:
    entry = {"key": "k", "transcript": "/t", "session_id": "s1", "host": "claude", "first": 1.0, "tries": 2}
    state = ".claude/hooks/.decision-hooks"
    sandbox.open_state()
    sandbox.write(f"{state}/pending/k.json", json.dumps(entry))
    sandbox.write(f"{state}/given-up/k-0.json", json.dumps(entry | {"begin": 0, "end": 5}))
    breaker = {"name": "claude sonnet", "until": time.time() + 600, "step": 900, "why": "Credit is too low"}
    sandbox.write(f"{state}/breaker/x.json", json.dumps(breaker))
    shown = status(sandbox)
    assert [(one["session"], one["tries"]) for one in shown["pending"]] == [("s1", 2)]
    assert shown["given_up"] == 1
    assert [one["why"] for one in shown["breakers"]] == ["Credit is too low"]
    screen = sandbox.capture(None, "status").stdout
    for part in ("1 part of sessions", "2 tries", "backfill --retry", "Credit is too low"):
        assert part in screen


def test_of_hundreds_of_waiting_parts_all_are_counted_and_some_are_listed(sandbox: Sandbox) -> None:
    sandbox.open_state()
    for number in range(250):
        entry = {"key": f"k{number}", "session_id": "s", "host": "pi", "first": 1.0 + number, "tries": 1}
        sandbox.write(f".claude/hooks/.decision-hooks/pending/k{number}.json", json.dumps(entry))
    shown = status(sandbox)
    assert (shown["waiting"], len(shown["pending"])) == (250, 200)
    assert "250 parts of sessions" in sandbox.capture(None, "status").stdout
    assert "at least 200 tries" in sandbox.capture(None, "status").stdout
    assert "250 parts of sessions wait" in sandbox.capture(None, "doctor").stdout


def test_the_next_attempt_of_normalisation_is_told(sandbox: Sandbox) -> None:
    sandbox.write(".claude/hooks/.normalize-state", f"{int(time.time()) - 3600}\n")
    shown = status(sandbox)["normalize"]
    assert shown["last_attempt"] < shown["next_attempt"]
    assert (
        status(sandbox, env={"ADR_NORMALIZE_MIN_INTERVAL_HOURS": "0.5"})["normalize"]["next_attempt"] is None
    )


def test_a_fault_is_shown_with_its_text(sandbox: Sandbox) -> None:
    log(
        sandbox,
        "capture",
        "fault: KeyError: 'x'\nTraceback (most recent call last):\n  File x",
        "NONE [no decision in it]",
    )
    shown = status(sandbox)["capture"]
    assert shown["fault"] == {"time": STAMP, "text": "fault: KeyError: 'x'"}
    assert shown["last"]["text"] == "nothing: no decision in it"
    assert "KeyError" in sandbox.capture(None, "status").stdout


def test_a_bad_setting_is_told_and_the_rest_is_shown_all_the_same(sandbox: Sandbox) -> None:
    shown = status(sandbox, env={"ADR_NORMALIZE_BATCH": "ten"})
    assert shown["drafts"]["threshold"] is None
    assert ["ADR_NORMALIZE_BATCH" in problem for problem in shown["problems"]] == [True]


def test_a_damaged_state_is_no_fault(sandbox: Sandbox) -> None:
    state = ".claude/hooks/.decision-hooks"
    sandbox.open_state()
    for name in (
        "pending/k.json",
        "breaker/b.json",
        "given-up/g.json",
        "normalize.json",
        "runs/r/journal.json",
    ):
        for text in ("[[[", '{"key": [], "until": "x", "steps": 3}', "\0\xff"):
            sandbox.write(f"{state}/{name}", text.encode("latin-1"))
            done = sandbox.capture(None, "status")
            assert (done.rc, done.stderr) == (0, ""), name


@pytest.mark.parametrize("arguments", [("--wrong",), ("extra",), ("--project-root", "/no/such/folder")])
def test_bad_usage_exits_with_2(sandbox: Sandbox, arguments: tuple[str, ...]) -> None:
    done = sandbox.capture(None, "status", *arguments)
    assert done.rc == 2
    assert done.stdout == ""
    assert done.stderr


def test_the_project_is_named_by_flag_environment_or_the_folder_around(sandbox: Sandbox) -> None:
    inner = sandbox.root / "src" / "deep"
    inner.mkdir(parents=True)
    other = sandbox.base / "other"
    other.mkdir()
    assert status(sandbox, cwd=inner)["project"] == str(sandbox.root)
    assert status(sandbox, cwd=inner, env={"CLAUDE_PROJECT_DIR": str(other)})["project"] == str(other)
    assert status(sandbox, env={"CLAUDE_PROJECT_DIR": "/no/such"})["project"] == str(sandbox.root)
    done = sandbox.capture(None, "status", "--json", "--project-root", str(other), cwd=inner)
    assert json.loads(done.stdout)["project"] == str(other)


@pytest.mark.parametrize(
    ("lines", "skips"),
    [
        (["pi not found", "using claude CLI (model: sonnet)", "wrote: x"], {}),
        (["pi not found", "no backend available [no backend]"], {"no backend": 1}),
        (["NONE [no decision in it]", "NONE"], {"no decision in it": 2}),
        (["NONE - but not alone", "NONE of it"], {}),
        (["claude: credit: ask [email] [backend: credit]"], {"backend: credit": 1}),
        (["a line of an older log without a reason", "NONE"], {"no decision in it": 1}),
        (["refused: merge of [email]", "dry run: delete: a.md ([email])", "fault: [x]", "wrote: [x]"], {}),
        (["[x]", "text [a [b]]", "text [a] b"], {}),
        (["done: 3 operations, 0 refused, 0 drafts wait", "undone: r1"], {}),
    ],
)
def test_skips_are_counted_by_the_reason_at_the_end_of_their_line(
    lines: list[str], skips: dict[str, int]
) -> None:
    assert dict(read_activity(f"{STAMP} {line}" for line in lines).skips) == skips


@pytest.mark.parametrize("line", ["", "no time", "2026-03-04", "2026-03-04T05:06:07+00:00", "\0", "x" * 9999])
def test_lines_that_are_no_event_are_ignored(line: str) -> None:
    assert read_activity([line]) == read_activity([])


@given(st.lists(st.text() | st.text("wrote: NONE\n").map(lambda text: f"{STAMP} {text}")))
def test_any_log_can_be_read(lines: list[str]) -> None:
    found = read_activity(lines)
    assert found.written + sum(count for _, count in found.skips) <= len(lines)


@given(st.lists(st.lists(st.text(), max_size=4), max_size=5))
def test_a_table_has_one_line_a_row_whatever_the_cells_hold(rows: list[list[str]]) -> None:
    assert len("\n".join(columns(rows)).splitlines()) <= max(1, len(rows))


def test_columns_are_aligned_and_hold_one_line_each() -> None:
    assert columns([("a", "b"), ("long", "x\ny")]) == ["a     b", "long  x\\ny"]
    assert counted(1, "draft") + counted(2, "try", "tries") == "1 draft2 tries"
    assert shortened("a  b\nc" + "d" * 99, 7) == "a b cd…"


@pytest.mark.parametrize("end", ["contact [email_address]", "no block: [1, 2]", "[]", "x [A b]"])
def test_brackets_of_foreign_text_are_no_reason(end: str) -> None:
    lines = [f"2026-11-30T10:00:00+00:00 claude: failed: {end}"]
    assert read_activity(lines).skips == ()
