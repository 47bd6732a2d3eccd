"""``run``, ``plan`` and ``undo`` by hand: what a person sees, and the exit codes that scripts go by."""

from __future__ import annotations

import shutil
import time

import pytest

from decision_hooks.state.normalize import NormalState
from decision_hooks.system.project import project_at
from support import programs
from support.adr_texts import draft, operations, record
from support.agents import Reply
from support.inbox import (
    CLAUDE,
    CLEAN,
    DELETE_ALL,
    NOW,
    ONE,
    THREE,
    TWO,
    all_three,
    delete,
    fill,
    fill_after_edit,
    merge,
    rewrite,
)
from support.sandbox import NORMALIZE, Sandbox

NEW = "260304-0501-price-cache.md"


def many(sandbox: Sandbox, count: int) -> None:
    """So many drafts, each of a session of its own."""
    for number in range(count):
        name = f"docs/adr/260304-05{number:02d}-d{number}.md"
        sandbox.write(name, draft(f"D{number}", context=f"About {number * 7919}.", session=f"s{number}"))


def run_id(text: str) -> str:
    """The id of the run that a command told of."""
    return text.rsplit("undo ", 1)[1].split("`")[0]


def test_what_a_person_sees_of_a_run(sandbox: Sandbox) -> None:
    fill(sandbox)
    bad = {"op": "delete", "file": CLEAN, "reason": "mine"}
    sandbox.fake("claude").answers(operations(rewrite(), merge(), delete(), bad))
    done = sandbox.run(NORMALIZE, None, "run", env=CLAUDE)
    assert (done.rc, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"rewrite: {ONE} -> {NEW}",
        f"merge-into: {TWO} -> {CLEAN}",
        f"delete: {THREE} (a typo)",
        f"refused: delete {CLEAN}: the file is no draft of the batch",
        f"run {run_id(done.stdout)}: see `git diff`, take it back with "
        f"`normalize-decisions undo {run_id(done.stdout)}`",
    ]


def test_on_a_terminal_progress_is_shown_while_it_works(sandbox: Sandbox) -> None:
    fill(sandbox)
    sandbox.fake("claude").answers(all_three())
    rc, out, err = sandbox.on_terminal(NORMALIZE, "run", env=CLAUDE)
    assert rc == 0
    assert "asking claude CLI about 3 drafts" in err
    assert "answered after" in err
    assert f"rewrite: {ONE} -> {NEW}" in out


def test_the_plan_is_shown_and_nothing_is_changed(sandbox: Sandbox) -> None:
    fill(sandbox)
    before = sandbox.snapshot()
    sandbox.fake("claude").answers(all_three(), all_three())
    for words in (("plan",), ("run", "--dry-run")):
        done = sandbox.run(NORMALIZE, None, *words, env=CLAUDE)
        assert done.rc == 0
        assert f"merge-into: {TWO} -> {CLEAN}" in done.stdout
        assert "nothing was changed" in done.stdout
    assert sandbox.snapshot() == before


def test_a_dry_setting_makes_a_plan_of_a_run_and_shows_a_kept_one_again(sandbox: Sandbox) -> None:
    fill(sandbox)
    before = sandbox.snapshot()
    fake = sandbox.fake("claude").answers(all_three())
    dry = {**CLAUDE, "ADR_NORMALIZE_DRY": "1"}
    shown = sandbox.run(NORMALIZE, None, "run", env=dry).stdout
    plan = shown.split("--plan ")[1].split("`")[0]
    assert sandbox.run(NORMALIZE, None, "run", "--plan", plan, env=dry).stdout == shown
    assert len(fake.calls) == 1
    assert sandbox.snapshot() == before


def test_a_plan_is_applied_in_the_language_and_with_the_names_that_were_shown(sandbox: Sandbox) -> None:
    fill(sandbox)
    short = "---\ntitle: T\n---\n\n## Decision Outcome\n\nChosen.\n"
    sandbox.write(f"docs/adr/{ONE}", "---\nsession: s\n---\n\nnothing\n")
    sandbox.fake("claude").answers(operations(rewrite(content=short), rewrite(TWO, "other")))
    plan = sandbox.run(NORMALIZE, None, "plan", env=CLAUDE).stdout.split("--plan ")[1].split("`")[0]
    taken = "260304-0502-other.md"
    sandbox.write(f"docs/adr/{taken}", record("Came meanwhile"))
    done = sandbox.run(NORMALIZE, None, "run", "--plan", plan, env={**CLAUDE, "ADR_LANGUAGE": "uk"})
    assert done.rc == 0
    assert "No other options were discussed in the transcript." in sandbox.records()[NEW]
    assert sandbox.records()[taken] == record("Came meanwhile")
    assert TWO in sandbox.drafts()


def test_tooling_only_drafts_of_a_plan_stay_where_they_were_changed_since(sandbox: Sandbox) -> None:
    fill_after_edit(sandbox, ".cspell.json")
    plan = sandbox.run(NORMALIZE, None, "plan", env=CLAUDE).stdout
    assert f"tooling-only delete: {ONE}" in plan
    sandbox.write(f"docs/adr/{ONE}", draft("Changed"))
    done = sandbox.run(NORMALIZE, None, "run", "--plan", plan.split("--plan ")[1].split("`")[0], env=CLAUDE)
    assert done.rc == 0
    assert ONE in sandbox.drafts()


@pytest.mark.parametrize(
    ("reply", "halvings"),
    [("no", 1), (Reply(exit=1, stderr="broken"), 1), (Reply("Not logged in", exit=1), 0)],
)
def test_tooling_only_drafts_go_though_the_backend_failed_and_its_failure_counts(
    sandbox: Sandbox, reply: Reply | str, halvings: int
) -> None:
    fill(sandbox)
    fill_after_edit(sandbox, ".cspell.json")
    sandbox.fake("claude").answers(reply)
    done = sandbox.run(NORMALIZE, None, "run", env=CLAUDE)
    assert done.rc == 1
    assert set(sandbox.drafts()) == {TWO, THREE}
    state = NormalState(project_at(str(sandbox.root), "docs/adr"))
    assert state.halvings() == halvings
    assert sandbox.run(NORMALIZE, None, "undo").rc == 0
    assert set(sandbox.drafts()) == {ONE, TWO, THREE}


@pytest.mark.parametrize(
    ("setup", "told"),
    [
        ("busy", "git merge in progress"),
        ("cap", "daily cap of 0 calls reached"),
        ("absent", "claude CLI not found"),
    ],
)
def test_a_run_that_could_not_be_ends_with_1_and_the_reason(sandbox: Sandbox, setup: str, told: str) -> None:
    fill(sandbox)
    before = sandbox.snapshot()
    env = dict(CLAUDE)
    if setup != "absent":
        sandbox.fake("claude")
    if setup == "busy":
        sandbox.write(".git/MERGE_HEAD", "0" * 40)
    if setup == "cap":
        env["ADR_DAILY_CALLS"] = "0"
    for words in (("run",), ("plan",), ("run", "--all")):
        done = sandbox.run(NORMALIZE, None, *words, env=env)
        assert done.rc == 1
        assert told in done.stderr
    assert sandbox.snapshot() == before


def test_the_cap_is_reached_in_the_middle_of_all_batches(sandbox: Sandbox) -> None:
    many(sandbox, 6)
    sandbox.fake("claude").always(Reply(python=DELETE_ALL))
    env = {**CLAUDE, "ADR_NORMALIZE_BATCH": "2", "ADR_DAILY_CALLS": "2"}
    done = sandbox.run(NORMALIZE, None, "run", "--all", env=env)
    assert done.rc == 1
    assert "daily cap of 2 calls reached (ADR_DAILY_CALLS)" in done.stderr
    assert len(sandbox.drafts()) == 2


@pytest.mark.parametrize(("words", "left"), [(("--batches", "2"), 2), (("--all",), 0), ((), 4)])
def test_so_many_batches_are_done_as_were_asked_for(
    sandbox: Sandbox, words: tuple[str, ...], left: int
) -> None:
    many(sandbox, 6)
    sandbox.fake("claude").always(Reply(python=DELETE_ALL))
    done = sandbox.run(NORMALIZE, None, "run", *words, env={**CLAUDE, "ADR_NORMALIZE_BATCH": "2"})
    assert done.rc == 0
    assert len(sandbox.drafts()) == left


def test_of_all_batches_each_draft_is_in_one(sandbox: Sandbox) -> None:
    many(sandbox, 5)
    fake = sandbox.fake("claude")
    fake.always(operations())
    done = sandbox.run(NORMALIZE, None, "run", "--all", env={**CLAUDE, "ADR_NORMALIZE_BATCH": "2"})
    assert (done.rc, done.stdout) == (0, "nothing to change\n" * 3)
    assert len(fake.calls) == 3
    assert len(sandbox.drafts()) == 5


def test_all_batches_end_with_the_first_that_was_refused(sandbox: Sandbox) -> None:
    many(sandbox, 5)
    fake = sandbox.fake("claude")
    fake.always("I cannot say.")
    done = sandbox.run(NORMALIZE, None, "run", "--all", env={**CLAUDE, "ADR_NORMALIZE_BATCH": "2"})
    assert (done.rc, done.stderr) == (1, "the reply was refused: no JSON object with operations\n")
    assert len(fake.calls) == 1


def test_by_hand_an_open_breaker_is_probed_and_success_closes_it(sandbox: Sandbox) -> None:
    fill(sandbox)
    fake = sandbox.fake("claude").answers(Reply("Credit balance is too low", exit=1), all_three())
    sandbox.normalize({}, env=NOW)
    paused = sandbox.normalize({}, env={**NOW, "ADR_NORMALIZE_MIN_INTERVAL_HOURS": "0"})
    assert len(fake.calls) == 1
    assert "paused until" in paused.log or "backing off" in paused.log
    assert sandbox.run(NORMALIZE, None, "run", env=CLAUDE).rc == 0
    assert not list((sandbox.own_state / "breaker").glob("*.json"))


def test_an_open_breaker_is_no_attempt(sandbox: Sandbox) -> None:
    fill(sandbox)
    sandbox.fake("claude").answers(Reply("Credit balance is too low", exit=1))
    sandbox.run(NORMALIZE, None, "run", env=CLAUDE)
    done = sandbox.normalize({}, env=NOW)
    assert "claude paused until" in done.log
    assert not (sandbox.hooks / ".normalize-state").exists()


def test_while_a_hook_works_a_run_by_hand_says_so(sandbox: Sandbox) -> None:
    fill(sandbox)
    fake = sandbox.fake("claude").answers(Reply(all_three(), delay=2.0))
    sandbox.normalize({}, "--detach", env=NOW, wait=False)
    until = time.monotonic() + 20
    while not fake.calls and time.monotonic() < until:
        time.sleep(0.02)
    for words in (("run",), ("plan",), ("undo",)):
        done = sandbox.run(NORMALIZE, None, *words, env=CLAUDE, wait=False)
        assert (done.rc, done.stderr) == (1, "another normalize run holds the lock\n")
    sandbox.settle()
    assert len(fake.calls) == 1
    assert sandbox.adr_names() == [CLEAN, NEW]


def test_two_runs_that_begin_together_do_each_draft_once(sandbox: Sandbox) -> None:
    fill(sandbox)
    reply = Reply(
        operations(merge(ONE), merge(TWO, additions="Two."), merge(THREE, additions="Three.")), delay=0.3
    )
    fake = sandbox.fake("claude").answers(reply, reply)
    both = [sandbox.start(NORMALIZE, "run", env=CLAUDE) for _ in range(2)]
    ended = [programs.finish(one, None, 60)[0] for one in both]
    assert sorted(ended) in ([0, 1], [0, 0])  # one found the lock held, or came when all was done
    assert len(fake.calls) == 1
    assert sandbox.records()[CLEAN].count("The queue is bounded.") == 1


@pytest.mark.parametrize(
    "words", [("run", "--batches", "0"), ("run", "--what"), ("plan", "extra"), ("undo", "a", "b")]
)
def test_what_is_no_usage_is_2(sandbox: Sandbox, words: tuple[str, ...]) -> None:
    fill(sandbox)
    before = sandbox.snapshot()
    assert sandbox.run(NORMALIZE, None, *words, env=CLAUDE).rc == 2
    assert sandbox.snapshot() == before


def test_runs_are_listed_and_each_can_be_named(sandbox: Sandbox) -> None:
    many(sandbox, 4)
    before = sandbox.snapshot()
    sandbox.fake("claude").always(Reply(python=DELETE_ALL))
    for _ in range(2):
        sandbox.run(NORMALIZE, None, "run", env={**CLAUDE, "ADR_NORMALIZE_BATCH": "2"})
    listed = sandbox.run(NORMALIZE, None, "undo", "--list").stdout.splitlines()
    newest, oldest = (line.split()[0] for line in listed)
    assert [line.split(maxsplit=1)[1] for line in listed] == ["done     2 deleted", "done     2 deleted"]
    done = sandbox.run(NORMALIZE, None, "undo", oldest)
    assert done.stdout.splitlines() == [f"restored: 260304-050{number}-d{number}.md" for number in range(2)]
    assert sandbox.run(NORMALIZE, None, "undo").rc == 0
    assert sandbox.snapshot() == before
    listed = sandbox.run(NORMALIZE, None, "undo", "--list").stdout.splitlines()
    assert [line.split()[:2] for line in listed] == [[newest, "undone"], [oldest, "undone"]]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "no run to undo"),
        (("20260101T000000Z",), "no run '20260101T000000Z'"),
        (("../x",), "no run '../x'"),
    ],
)
def test_undo_of_nothing_is_1_and_says_so(sandbox: Sandbox, words: tuple[str, ...], told: str) -> None:
    fill(sandbox)
    done = sandbox.run(NORMALIZE, None, "undo", *words)
    assert done.rc == 1
    assert told in done.stderr


def test_undo_of_what_was_undone_is_refused(sandbox: Sandbox) -> None:
    fill(sandbox)
    sandbox.fake("claude").answers(all_three())
    run = run_id(sandbox.run(NORMALIZE, None, "run", env=CLAUDE).stdout)
    assert sandbox.run(NORMALIZE, None, "undo", run).rc == 0
    again = sandbox.run(NORMALIZE, None, "undo", run)
    assert again.rc == 1
    assert "undone" in again.stderr


def test_undo_makes_the_folder_anew_when_git_took_the_empty_one(sandbox: Sandbox) -> None:
    many(sandbox, 2)
    before = sandbox.snapshot()
    sandbox.fake("claude").always(Reply(python=DELETE_ALL))
    sandbox.run(NORMALIZE, None, "run", env=CLAUDE)
    shutil.rmtree(sandbox.root / "docs")
    assert sandbox.run(NORMALIZE, None, "undo").rc == 0
    assert sandbox.snapshot() == before


def test_undo_and_run_work_on_the_folder_that_is_set(sandbox: Sandbox) -> None:
    sandbox.write(f"doc/decisions/{ONE}", draft())
    env = {**CLAUDE, "ADR_DIR": "doc/decisions"}
    before = sandbox.snapshot()
    sandbox.fake("claude").answers(operations(rewrite()))
    assert sandbox.run(NORMALIZE, None, "run", env=env).rc == 0
    assert (sandbox.root / "doc/decisions" / NEW).exists()
    assert sandbox.run(NORMALIZE, None, "undo").rc == 1
    assert sandbox.run(NORMALIZE, None, "undo", env=env).rc == 0
    assert sandbox.snapshot() == before
