"""The local pipeline as a program: what pi is asked, and what becomes of drafts when it is careful, lazy or broken."""

from __future__ import annotations

import json
import signal
import time
from typing import Any

import pytest

from support.adr_texts import block, draft, record
from support.agents import FakeAgent, Reply
from support.processes import is_alive
from support.sandbox import NORMALIZE, Sandbox

LOCAL = {
    "ADR_LANGUAGE": "en",
    "N_LOCAL_MIN_MODEL": "tiny",
    "ADR_NORMALIZE_THRESHOLD": "1",
    "ADR_NORMALIZE_MIN_INTERVAL_HOURS": "0",
}
CACHE, BOUND, TYPO, SEVERAL = (
    f"260304-050{n}-{name}.md" for n, name in enumerate(("cache", "bound", "typo", "two"), 1)
)
QUEUE = "260301-0900-queue.md"
FLAGS = (
    "-p", "--no-session", "--mode", "text", "--no-tools", "--no-context-files", "--no-extensions", "--no-skills",
    "--no-prompt-templates", "--offline", "--model", "tiny",
)  # fmt: skip

JSON = 'Chosen option: "JSON", because tools read it.'

# A model that reads: the bounded queue belongs to the queue, the typo is trivial, the rest stands alone.
CAREFUL = """
import base64, json
prompt = base64.b64decode(call["stdin"]).decode()
if '"additions"' in prompt:
    reply["stdout"] = json.dumps({"additions": ["The queue is bounded, memory stays flat"]})
elif '"outcome"' in prompt:
    reply["stdout"] = "```json\\n" + json.dumps({
        "title": "Logs as JSON", "context": "Tools read the logs", "options": ["JSON", "text"],
        "outcome": 'Chosen option: "JSON", because tools read it', "consequences": [], "more": ""}) + "\\n```"
elif "same decision" in prompt:
    reply["stdout"] = "Yes." if "Bound the queue" in prompt and "Title: Use a queue" in prompt else "No."
else:
    reply["stdout"] = "no" if "Fix a typo" in prompt else "yes"
"""


def fill(sandbox: Sandbox) -> None:
    """Four drafts of four sessions and one record."""
    bound = {
        "context": "The queue grows.",
        "options": ("A bound", "None"),
        "consequences": "* Good, memory stays flat.",
    }
    bound["outcome"] = 'Chosen option: "A bound", because then the queue is bounded.'
    typo = {"context": "A word was wrong.", "outcome": "The typo in the readme was mended."}
    logs = {"context": "Tools read the logs.", "options": ("JSON", "text"), "outcome": JSON}
    rotated = block("Rotate logs", outcome="Rotated each day.")
    texts = {
        CACHE: draft(session="s1"),
        BOUND: draft("Bound the queue", session="s2", **bound),
        TYPO: draft("Fix a typo", session="s3", **typo),
        SEVERAL: draft("Logs as JSON", session="s4", **logs) + "\n" + rotated,
    }
    for name, text in texts.items():
        sandbox.write(f"docs/adr/{name}", text)
    body = block(
        context="Work waits.", options=("A queue",), outcome='Chosen option: "A queue", because work waits.'
    )
    sandbox.write(f"docs/adr/{QUEUE}", record("Use a queue", body=body.split("\n\n", 1)[1]))


def pi(sandbox: Sandbox, reply: Reply | str) -> FakeAgent:
    fill(sandbox)
    return sandbox.fake("pi").always(reply)


def by_hand(sandbox: Sandbox, *names: str, env: dict[str, str] | None = None, seconds: float = 60.0) -> Any:
    sandbox.write("batch", "".join(f"{name}\n" for name in names or (CACHE, BOUND, TYPO, SEVERAL)))
    sandbox.write("clean", f"docs/adr/{QUEUE}\n")
    arguments = ("local-pipeline", "--batch", "batch", "--clean", "clean", "--adr-dir", "docs/adr")
    return sandbox.normalize(None, *arguments, env={**LOCAL, **(env or {})}, seconds=seconds)


def operations(done: Any) -> dict[str, dict[str, str]]:
    return {one["file"]: one for one in json.loads(done.stdout)["operations"]}


# -- in the hook


def test_a_careful_model_normalises_a_batch(sandbox: Sandbox) -> None:
    agent = pi(sandbox, Reply(python=CAREFUL))
    done = sandbox.normalize({}, env=LOCAL)
    assert (done.rc, done.stdout) == (0, "")
    assert not sandbox.drafts()
    assert sorted(sandbox.records()) == [
        QUEUE, "260304-0501-use-sqlite-for-the-cache.md", "260304-0504-logs-as-json.md",
    ]  # fmt: skip
    assert "## Update 2026-03-04\n\n* The queue is bounded, memory stays flat" in sandbox.records()[QUEUE]
    assert "* Rotate logs: Rotated each day." in sandbox.records()["260304-0504-logs-as-json.md"]
    assert f"delete: {TYPO} (it holds no decision worth keeping)" in done.messages
    assert f"local: {len(agent.calls)} questions, 0 retries, " in done.log
    assert " s, 4 operations\n" in done.log


def test_each_question_goes_to_pi_as_a_capture_does(sandbox: Sandbox) -> None:
    agent = pi(sandbox, Reply(python=CAREFUL))
    sandbox.write("docs/adr/260304-0501-cache.md", draft(session="s1", more="Token ghp_" + "a1B2" * 9))
    sandbox.normalize({}, env={**LOCAL, "CLAUDECODE": "1", "CAPTURE_DECISIONS_PI_MODEL": "other"})
    for call in agent.calls:
        assert call.argv == FLAGS
        assert call.listing == ()
        assert call.environ["CAPTURE_DECISIONS_RUNNING"] == call.environ["ADR_NORMALIZE_RUNNING"] == "1"
        assert "CLAUDECODE" not in call.environ
        assert len(call.prompt) < 11_000
        assert "ghp_" not in call.prompt
        assert call.prompt.count("DATA-") >= 3


def test_the_questions_of_a_batch_count_as_one_call(sandbox: Sandbox) -> None:
    pi(sandbox, Reply(python=CAREFUL))
    sandbox.normalize({}, env=LOCAL)
    ledger = [path for path in (sandbox.own_state).rglob("*.jsonl") if '"local"' in path.read_text()]
    assert len(ledger[0].read_text().splitlines()) == 1


@pytest.mark.parametrize("module", ["decision_hooks/__init__.py", "decision_hooks.py", "json.py", "yaml.py"])
def test_code_of_the_users_root_is_never_run(sandbox: Sandbox, module: str) -> None:
    pi(sandbox, Reply(python=CAREFUL))
    sandbox.write(module, "open('was-run', 'w').close()\nraise SystemExit(9)\n")
    sandbox.normalize({}, env=LOCAL)
    assert not (sandbox.root / "was-run").exists()
    assert not sandbox.drafts()


@pytest.mark.parametrize(
    ("missing", "why"), [("pi", "pi not found"), ("model", "N_LOCAL_MIN_MODEL is not set")]
)
def test_without_pi_or_a_model_it_is_no_attempt(sandbox: Sandbox, missing: str, why: str) -> None:
    agent = pi(sandbox, "yes")
    env = {**LOCAL, "ADR_NORMALIZE_BACKEND": "local"}
    if missing == "pi":
        agent.remove()
    else:
        env["N_LOCAL_MIN_MODEL"] = ""
    done = sandbox.normalize({}, env=env)
    assert done.messages == [f"local: {why} [no backend]"]
    assert not (sandbox.hooks / ".normalize-state").exists()
    assert by_hand(sandbox, env=env).rc == 2


def test_a_login_that_is_missing_is_asked_once_and_costs_no_interval(sandbox: Sandbox) -> None:
    agent = pi(sandbox, Reply(stderr="Not logged in. Please run /login\n", exit=1))
    done = sandbox.normalize({}, env={**LOCAL, "ADR_NORMALIZE_LOCAL_JOBS": "1"})
    assert len(agent.calls) == 1
    assert any(line.startswith("local: login: ") for line in done.messages)
    assert not (sandbox.hooks / ".normalize-state").exists()
    assert len(sandbox.drafts()) == 4


def test_other_commands_can_stand_in_its_place(sandbox: Sandbox) -> None:
    fill(sandbox)
    mine = sandbox.fake("mine").answers(
        json.dumps({"operations": [{"op": "delete", "file": TYPO, "reason": "x"}]})
    )
    sandbox.normalize({}, env={**LOCAL, "ADR_NORMALIZE_LOCAL_CMD": "mine"})
    assert [mine.only_call.argv[n] for n in (0, 2, 4)] == ["--batch", "--clean", "--adr-dir"]
    assert TYPO not in sandbox.drafts()


# -- models of all kinds


def test_a_lazy_model_that_always_says_yes_loses_nothing(sandbox: Sandbox) -> None:
    pi(sandbox, "yes")
    before = sandbox.drafts()
    sandbox.normalize({}, env=LOCAL)
    assert sandbox.drafts() == before  # all the same as the record, but no additions: the drafts stay
    assert sorted(sandbox.records()) == [QUEUE]


@pytest.mark.parametrize(
    "reply",
    [
        "Both texts speak of software, which is a wide field.",
        "",
        '{"additions": ["The queue',
        "\x00\xff" * 50,
        "так чи ні",
    ],
)
def test_a_broken_model_decides_nothing(sandbox: Sandbox, reply: str) -> None:
    agent = pi(sandbox, reply)
    before = sandbox.snapshot()
    done = sandbox.normalize({}, env=LOCAL)
    assert sandbox.snapshot() == before
    assert any(line.startswith("local: failed: ") for line in done.messages)
    assert len(agent.calls) < 12  # it is given up


def test_a_reply_that_does_not_parse_is_asked_for_once_more(sandbox: Sandbox) -> None:
    fill(sandbox)
    agent = sandbox.fake("pi").answers("Hm.").always(Reply(python=CAREFUL))
    done = by_hand(sandbox, BOUND, env={"ADR_NORMALIZE_LOCAL_JOBS": "1"})
    assert agent.calls[0].prompt.split("DATA-")[0] == agent.calls[1].prompt.split("DATA-")[0]
    assert operations(done)[BOUND]["target"] == QUEUE
    assert "local: 3 questions, 1 retries, " in done.stderr.splitlines()[-1]


def test_what_one_dead_question_concerns_stays_a_draft(sandbox: Sandbox) -> None:
    fill(sandbox)
    dies = Reply(match='"additions"', signal=int(signal.SIGKILL), times=None)
    sandbox.fake("pi").answers(dies).always(Reply(python=CAREFUL))
    sandbox.normalize({}, env=LOCAL)
    assert set(sandbox.drafts()) == {BOUND}


@pytest.mark.parametrize("death", [Reply(exit=1, stderr="segfault"), Reply(signal=int(signal.SIGKILL))])
def test_a_model_that_dies_each_time_is_given_up_and_the_drafts_stay(sandbox: Sandbox, death: Reply) -> None:
    agent = pi(sandbox, death)
    done = sandbox.normalize({}, env=LOCAL)
    assert len(sandbox.drafts()) == 4
    assert any(line.startswith("local: failed: ") for line in done.messages)
    assert len(agent.calls) <= 4


def test_a_slow_model_is_ended_within_the_time_of_the_run(sandbox: Sandbox) -> None:
    agent = pi(sandbox, Reply(hang=True, ignore_term=True))
    begun = time.monotonic()
    sandbox.normalize({}, env={**LOCAL, "ADR_NORMALIZE_TIMEOUT": "5"})
    assert time.monotonic() - begun < 9
    assert len(sandbox.drafts()) == 4
    assert not [call.pid for call in agent.calls if is_alive(call.pid)]


def test_a_model_that_becomes_slow_loses_only_what_it_did_not_answer(sandbox: Sandbox) -> None:
    fill(sandbox)
    slow = Reply(match='"outcome": what', hang=True, times=None)
    sandbox.fake("pi").answers(slow).always(Reply(python=CAREFUL))
    done = by_hand(sandbox, env={"ADR_NORMALIZE_TIMEOUT": "8"})
    assert set(operations(done)) == {CACHE, BOUND, TYPO}
    assert f"left: {SEVERAL}: its sections could not be read" in done.stderr


def test_ending_the_run_ends_the_questions(sandbox: Sandbox) -> None:
    agent = pi(sandbox, Reply(hang=True, ignore_term=True))
    process = sandbox.start(NORMALIZE, env=LOCAL)
    assert process.stdin
    process.stdin.close()
    until = time.monotonic() + 20
    while not agent.calls and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.wait(20)
    assert agent.calls
    sandbox.settle(5)
    assert not [call.pid for call in agent.calls if is_alive(call.pid)]
    assert len(sandbox.drafts()) == 4


def test_calls_run_beside_each_other_but_no_more_than_allowed(sandbox: Sandbox) -> None:
    agent = pi(sandbox, Reply(python=CAREFUL, delay=0.3))
    by_hand(sandbox, env={"ADR_NORMALIZE_LOCAL_JOBS": "3"})
    times = sorted(call.time for call in agent.calls)
    at_once = max(sum(begun <= other < begun + 0.28 for other in times) for begun in times)
    assert 2 <= at_once <= 3


# -- by hand


def test_by_hand_operations_go_to_stdout_and_progress_to_stderr(sandbox: Sandbox) -> None:
    pi(sandbox, Reply(python=CAREFUL))
    done = by_hand(sandbox, env={"ADR_HOOKS_SKIP": "1", "ADR_NORMALIZE_RUNNING": "1"})
    assert done.rc == 0
    found = operations(done)
    assert {name: one["op"] for name, one in found.items()} == {
        CACHE: "rewrite", BOUND: "merge-into", TYPO: "delete", SEVERAL: "rewrite",
    }  # fmt: skip
    lines = done.stderr.splitlines()
    assert any(line.startswith("same: ") and line.endswith(" questions") for line in lines)
    assert lines[-1].startswith("local: ")
    assert lines[-1].endswith(" s, 4 operations")
    assert len(sandbox.drafts()) == 4  # it only tells what is to be done


def test_paths_and_names_that_are_no_drafts_are_passed_over(sandbox: Sandbox) -> None:
    pi(sandbox, Reply(python=CAREFUL))
    done = by_hand(sandbox, f"{sandbox.adr}/{TYPO}", "../../README.md", "gone.md", ".hidden.md", "/")
    assert set(operations(done)) == {TYPO}
    assert "'gone.md'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "rc"),
    [
        ((), 2),
        (("--batch", "none", "--clean", "none", "--adr-dir", "docs/adr"), 2),
        (("--nonsense",), 2),
        (("-h",), 0),
    ],
)
def test_usage_that_is_wrong_ends_with_2(sandbox: Sandbox, arguments: tuple[str, ...], rc: int) -> None:
    pi(sandbox, "yes")
    done = sandbox.normalize(None, "local-pipeline", *arguments, env=LOCAL)
    assert done.rc == rc
    assert "Traceback" not in done.stderr


def test_an_empty_batch_asks_nothing(sandbox: Sandbox) -> None:
    agent = pi(sandbox, "yes")
    done = by_hand(sandbox, "")
    assert (done.rc, json.loads(done.stdout)) == (0, {"operations": []})
    assert agent.calls == []


def test_drafts_that_need_no_model_are_never_asked_about(sandbox: Sandbox) -> None:
    agent = pi(sandbox, "yes")
    text = draft(outcome="Chosen option: не обрано, because transcript обірвався")
    sandbox.write(f"docs/adr/{CACHE}", text)
    done = by_hand(sandbox, CACHE)
    assert operations(done)[CACHE]["reason"] == "nothing was decided"
    assert agent.calls == []


# -- rules


def test_rules_make_records_without_any_program(sandbox: Sandbox) -> None:
    fill(sandbox)
    sandbox.write("docs/adr/260304-0505-again.md", draft(session="s1"))
    done = sandbox.normalize({}, env={**LOCAL, "ADR_NORMALIZE_BACKEND": "rules"})
    assert "using rules (no model)" in done.messages
    assert set(sandbox.drafts()) == {SEVERAL}
    assert f"left: {SEVERAL}: it does not hold exactly one decision" in done.messages
    assert len(sandbox.records()) == 4
