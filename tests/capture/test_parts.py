"""Only what is new is sent, with its context; forks, rewritten files and edits that settle the relevance."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from support.adr_texts import block
from support.capture_runs import (
    decision,
    edit_state,
    log,
    part_of,
    pending,
    positions,
    ready,
    session,
    stems,
    transcript_of,
    turn,
)  # fmt: skip
from support.claude_session import ClaudeSession
from support.cursor_session import CursorSession
from support.sandbox import Sandbox

CROSS, TOOLING = (
    f"skipping ADR capture: {kind} session [{kind}]" for kind in ("cross-project", "tooling-only")
)


# -- the part and its context


def test_the_first_part_has_no_context(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    sandbox.capture(session(sandbox).payload())
    assert "[context" not in pi.only_call.prompt


def test_a_later_part_comes_with_what_was_judged_already(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(block("The first title"), "NONE", decision(3))
    made = session(sandbox)
    sandbox.capture(made.payload())
    made.user("which store?")
    made.assistant("I offer SQLite or Redis")
    sandbox.capture(made.payload())
    made.user("the first one")
    made.assistant("SQLite it is")
    sandbox.capture(made.payload())
    context, _, part = transcript_of(pi.calls[2].prompt).partition("[end of context]")
    assert "already judged" in context
    for wanted in ("request 1 of 1", "The first title", "I offer SQLite or Redis", "which store?"):
        assert wanted in context
        assert wanted not in part
    assert part.strip() == "[user]\nthe first one\n\n[assistant]\nSQLite it is"


def test_the_context_has_at_most_8000_characters(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision(1), decision(2))
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("first words " * 3000)
    made.assistant("offers " * 9000)
    sandbox.capture(made.payload())
    turn(made, 2)
    sandbox.capture(made.payload())
    context = transcript_of(pi.calls[1].prompt).partition("[end of context]")[0]
    assert 2000 < len(context) <= 8000


def test_incremental_off_sends_the_whole_and_keeps_the_position_all_the_same(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision(1), decision(2), decision(3))
    made = session(sandbox)
    sandbox.capture(made.payload())
    turn(made, 2)
    sandbox.capture(made.payload(), env={"CAPTURE_DECISIONS_INCREMENTAL": "0"})
    part = part_of(pi.calls[1].prompt)
    assert "request 1 of 1" in part
    assert "request 2 of 1" in part
    turn(made, 3)
    sandbox.capture(made.payload())
    assert "request 2 of 1" not in part_of(pi.calls[2].prompt)
    done = sandbox.capture(made.payload(), env={"CAPTURE_DECISIONS_INCREMENTAL": "0"})
    assert done.messages == ["nothing new in the session [nothing new]"]


def test_a_block_of_equal_title_and_outcome_is_not_written_again(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(
        decision(1),
        decision(1).replace("Good, because", "Bad, because") + "\n" + decision(2),
        decision(1).replace("was asked", "is  needed"),
    )
    made = session(sandbox)
    for number in (2, 3, 4):
        sandbox.capture(made.payload())
        turn(made, number)
    assert len(pi.calls) == 3
    assert stems(sandbox) == ["decision-1", "decision-1-2", "decision-2"]


def test_the_same_block_in_one_reply_is_written_once(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision(1) + "\n" + decision(1))
    sandbox.capture(session(sandbox).payload())
    assert stems(sandbox) == ["decision-1"]


def test_another_session_may_decide_the_same(sandbox: Sandbox) -> None:
    ready(sandbox).always(decision(1))
    for number in (1, 2):
        sandbox.capture(session(sandbox, number).payload())
    assert len(sandbox.drafts()) == 2


def test_none_moves_the_position_too(sandbox: Sandbox) -> None:
    pi = ready(sandbox).always("NONE")
    made = session(sandbox)
    assert sandbox.capture(made.payload()).messages[-1] == "NONE"
    assert sandbox.capture(made.payload()).messages == ["nothing new in the session [nothing new]"]
    assert len(pi.calls) == 1
    assert sandbox.adr_names() == []


# -- the file is not what it was


def test_a_file_that_was_rewritten_is_taken_up_after_the_last_captured_record(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision(1), decision(2))
    made = session(sandbox, turns=3)
    sandbox.capture(made.payload())
    lines = made.path.read_text().splitlines()
    made.path.write_text("\n".join(['{"type":"summary","summary":"shorter"}', *lines[4:]]) + "\n")
    turn(made, 4)
    sandbox.capture(made.payload())
    part = part_of(pi.calls[1].prompt)
    assert "request 4" in part
    assert "request 3" not in part


def test_a_file_that_holds_nothing_of_what_was_captured_starts_over(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision(1), decision(2))
    made = CursorSession(sandbox.home, sandbox.root)
    for text in ("one", "two"):
        made.user(f"request {text}")
        made.assistant(f"answer {text}")
    sandbox.capture(made.payload())
    made.path.write_bytes(b"")
    made.user("request three")
    made.assistant("answer three")
    sandbox.capture(made.payload())
    assert "request three" in part_of(pi.calls[1].prompt)
    assert len(pi.calls) == 2


def test_a_fork_starts_after_the_last_record_that_was_captured(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision(1), decision(2))
    made = session(sandbox, turns=2)
    sandbox.capture(made.payload())
    fork = made.fork("5e551011-0000-4000-8000-0000000000f0")
    turn(fork, 3)
    sandbox.capture(fork.payload())
    part = part_of(pi.calls[1].prompt)
    assert "request 3" in part
    assert "request 2" not in part
    assert "request 1 of 1" in transcript_of(pi.calls[1].prompt)  # as context


def test_a_fork_of_what_was_never_captured_starts_at_its_beginning(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision(1))
    fork = session(sandbox, turns=2).fork("5e551011-0000-4000-8000-0000000000f0")
    sandbox.capture(fork.payload())
    assert "request 1 of 1" in part_of(pi.only_call.prompt)


def test_the_original_goes_on_after_its_fork(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision(1), decision(2), decision(3))
    made = session(sandbox)
    sandbox.capture(made.payload())
    fork = made.fork("5e551011-0000-4000-8000-0000000000f0")
    turn(fork, 2)
    sandbox.capture(fork.payload())
    turn(made, 3)
    sandbox.capture(made.payload())
    assert "request 3" in part_of(pi.calls[2].prompt)
    assert "request 2" not in pi.calls[2].prompt


def test_a_position_that_cannot_be_read_loses_nothing_and_repeats_nothing(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision(1), decision(2))
    made = session(sandbox)
    sandbox.capture(made.payload())
    for path in (sandbox.own_state / "positions").iterdir():
        path.write_text('{"offset": "x"')
    turn(made, 2)
    sandbox.capture(made.payload())
    part = part_of(pi.calls[1].prompt)
    assert "request 2" in part
    assert "request 1" not in part


@pytest.mark.parametrize("ahead", [36 * 3600, 10 * 86400, 10**9])
def test_a_position_of_a_clock_that_was_ahead_still_says_what_was_captured(
    sandbox: Sandbox, ahead: int
) -> None:
    pi = ready(sandbox).answers(decision(1), decision(2))
    made = CursorSession(sandbox.home, sandbox.root)
    made.user("first request")
    made.assistant("first answer")
    sandbox.capture(made.payload())
    edit_state(sandbox, "positions", lambda value: value.update(time=time.time() + ahead))
    made.user("second request")
    made.assistant("second answer")
    sandbox.capture(made.payload())
    assert len(pi.calls) == 2
    assert "second" in part_of(pi.calls[1].prompt)
    assert "first" not in part_of(pi.calls[1].prompt)


def test_positions_over_60_days_old_go_once_their_transcripts_are_gone(sandbox: Sandbox) -> None:
    ready(sandbox).always("NONE")
    made = [session(sandbox, number) for number in (1, 2, 3)]
    for each in made[:2]:
        sandbox.capture(each.payload())
    for path in (sandbox.own_state / "positions").iterdir():
        os.utime(path, (time.time() - 61 * 86400,) * 2)
    made[0].path.unlink()
    (sandbox.own_state / "swept").unlink()
    sandbox.capture(made[2].payload())
    left = {Path(each["path"]).stem for each in positions(sandbox)}
    assert left == {each.session_id for each in made[1:]}


# -- relevance


def relevant(sandbox: Sandbox, *paths: str, host: type[ClaudeSession] = ClaudeSession) -> str:
    """Capture a session that edits those paths; "captured", or the reason why it was skipped."""
    pi = ready(sandbox).always("NONE")
    made = host(sandbox.home, sandbox.root)
    made.user("do it")
    for path in paths:
        made.edit(path if path.startswith(("/", "~")) else sandbox.root / path)
    made.assistant("done")
    done = sandbox.capture(made.payload())
    assert pending(sandbox) == []
    if pi.calls:
        return "captured"
    assert len(done.messages) == 1
    return done.messages[0]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ((), "captured"),
        (("/elsewhere/a.py",), CROSS),
        (("/elsewhere/a.py", "src/a.py"), "captured"),
        (("docs/adr/x.md", "CHANGELOG.md"), TOOLING),
        (("package.json",), "captured"),
    ],
)
def test_the_edited_files_tell_whether_a_session_is_captured(
    sandbox: Sandbox, paths: tuple[str, ...], expected: str
) -> None:
    assert relevant(sandbox, *paths) == expected


@pytest.mark.parametrize(
    ("name", "after", "expected"),
    [
        ("package.json", '{\n  "version": "1.0.1",\n  "name": "x"\n}\n', TOOLING),
        ("packages/a/package.json", '{\n  "version": "1.0.1",\n  "name": "x"\n}\n', TOOLING),
        ("package.json", '{\n  "version": "1.0.1",\n  "name": "y"\n}\n', "captured"),
        ("package.json", '{\n  "version": "1.0.0",\n  "name": "x"\n}\n', "captured"),
    ],
)
def test_a_package_json_is_tooling_when_only_its_version_differs_from_head(
    sandbox: Sandbox, name: str, after: str, expected: str
) -> None:
    sandbox.write(name, '{\n  "version": "1.0.0",\n  "name": "x"\n}\n')
    sandbox.commit_all()
    sandbox.write(name, after)
    assert relevant(sandbox, name) == expected


def test_git_of_the_calling_hook_does_not_mislead_the_diff(sandbox: Sandbox) -> None:
    sandbox.write("package.json", '{\n  "version": "1.0.0"\n}\n')
    sandbox.commit_all()
    sandbox.write("package.json", '{\n  "version": "1.0.1"\n}\n')
    sandbox.environ.update(GIT_DIR="/nonexistent", GIT_INDEX_FILE="/nonexistent/index", GIT_WORK_TREE="/")
    assert relevant(sandbox, "package.json") == TOOLING


@pytest.mark.parametrize(
    ("paths", "variable"),
    [
        (("/elsewhere/a.py",), "ADR_CAPTURE_SKIP_CROSS_PROJECT"),
        ((".cspell.json",), "ADR_NORMALIZE_SKIP_TOOLING_ONLY"),
    ],
)
def test_each_skip_can_be_turned_off(sandbox: Sandbox, paths: tuple[str, ...], variable: str) -> None:
    sandbox.environ[variable] = "0"
    assert relevant(sandbox, *paths) == "captured"


def test_adr_dir_moves_what_counts_as_a_record(sandbox: Sandbox) -> None:
    sandbox.environ["ADR_DIR"] = "notes"
    assert relevant(sandbox, "notes/x.md") == TOOLING


def test_an_edit_that_failed_or_was_denied_does_not_count(sandbox: Sandbox) -> None:
    pi = ready(sandbox).always("NONE")
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("do it")
    made.edit("/elsewhere/a.py")
    made.edit(sandbox.root / "a.py", ok=False)
    made.write(sandbox.root / "b.py", ok=False)
    made.assistant("done")
    assert sandbox.capture(made.payload()).messages == [CROSS]
    assert pi.calls == []


def test_an_edit_through_a_link_counts_where_it_leads(sandbox: Sandbox) -> None:
    outside = sandbox.base / "outside"
    outside.mkdir()
    (sandbox.root / "linked").symlink_to(outside)
    assert relevant(sandbox, "linked/a.py") == CROSS


def test_edits_of_a_subagent_count(sandbox: Sandbox) -> None:
    pi = ready(sandbox).always("NONE")
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("do it")
    made.edit("/elsewhere/a.py")
    agent = made.subagent()
    agent.edit(sandbox.root / "a.py")
    made.assistant("done")
    sandbox.capture(made.payload())
    assert len(pi.calls) == 1


def test_edits_of_a_subagent_count_once(sandbox: Sandbox) -> None:
    pi = ready(sandbox).always("NONE")
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("do it")
    made.subagent().edit(sandbox.root / "a.py")
    made.assistant("done")
    sandbox.capture(made.payload())
    made.user("now elsewhere")
    made.edit("/elsewhere/a.py")
    made.assistant("done there")
    assert sandbox.capture(made.payload()).messages == [CROSS]
    assert len(pi.calls) == 1


@pytest.mark.parametrize(("first", "calls"), [("src/a.py", 2), ("/elsewhere/a.py", 0), (".cspell.json", 0)])
def test_a_part_without_edits_has_the_verdict_of_the_last_part_with_edits(
    sandbox: Sandbox, first: str, calls: int
) -> None:
    pi = ready(sandbox).always("NONE")
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("do it")
    made.edit(first if first.startswith("/") else sandbox.root / first)
    made.assistant("done")
    sandbox.capture(made.payload())
    made.user("and why?")
    made.assistant("because")
    sandbox.capture(made.payload())
    assert len(pi.calls) == calls


def test_a_skipped_part_counts_as_captured(sandbox: Sandbox) -> None:
    pi = ready(sandbox).always("NONE")
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("elsewhere")
    made.edit("/elsewhere/a.py")
    made.assistant("done there")
    sandbox.capture(made.payload())
    assert sandbox.capture(made.payload()).messages == ["nothing new in the session [nothing new]"]
    made.user("and here")
    made.edit(sandbox.root / "a.py")
    made.assistant("done here")
    sandbox.capture(made.payload())
    part = part_of(pi.only_call.prompt)
    assert "done here" in part
    assert "done there" not in part


# -- what is kept


def test_the_position_holds_what_the_next_stop_needs(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    made = session(sandbox)
    made.subagent().edit(sandbox.root / "a.py")
    sandbox.capture(made.payload())
    (position,) = positions(sandbox)
    assert position["path"] == str(made.path)
    assert position["offset"] == made.path.stat().st_size
    assert position["uuid"] == json.loads(made.path.read_text().splitlines()[-1])["uuid"]
    assert position["verdict"] == "own"
    assert [title for title, _ in position["titles"]] == ["Decision 1"]
    assert [name for name, _ in position["subagents"]] == ["agent-a0000001.jsonl"]


def test_what_was_said_is_not_kept_when_the_part_is_captured(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    sandbox.capture(session(sandbox).payload())
    kept = b"".join(sandbox.snapshot(of=sandbox.own_state, without=()).values())
    assert b"answer 1 of 1" not in kept
    assert b"request 1 of 1" not in kept
    assert "request" not in log(sandbox)
