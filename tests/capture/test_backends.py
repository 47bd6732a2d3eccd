"""Calls of the backends: exact command lines, hermetic surroundings, fallbacks, and errors that are never content."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from support.agents import FakeAgent, Reply, claude_json
from support.capture_runs import decision, log, part_of, pending, ready, session, stems
from support.claude_session import ClaudeSession
from support.programs import SCRIPTS
from support.sandbox import Sandbox

PI = (
    "-p --no-session --mode text --no-tools --no-context-files --no-extensions --no-skills "
    "--no-prompt-templates --offline --model {model}"
)
CLAUDE_HERMETIC = [
    "--safe-mode", "--tools", "", "--no-session-persistence", "--strict-mcp-config", "--output-format", "json",
]  # fmt: skip
TIES = (
    "CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN",
)  # fmt: skip
KEPT = (
    "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CONFIG_DIR", "CURSOR_API_KEY", "OPENAI_API_KEY", "PI_CODING_AGENT_DIR", "MY_OWN",
)  # fmt: skip
CREDIT = "Credit balance is too low"


def calls_of(sandbox: Sandbox, backend: str, *replies: Reply | str, **env: str) -> tuple[FakeAgent, str]:
    """Capture one session with a backend; the fake and the log's messages."""
    agent = sandbox.fake(backend).answers(*replies)
    sandbox.environ.update(CAPTURE_DECISIONS_BACKEND=backend, **env)
    if backend == "pi":
        sandbox.environ.setdefault("N_LOCAL_MIN_MODEL", "m")
    done = sandbox.capture(session(sandbox).payload())
    assert (done.rc, done.stdout, done.stderr) == (0, "", "")
    return agent, "\n".join(done.messages)


# -- exact command lines


@pytest.mark.parametrize(
    ("env", "model"),
    [
        ({"N_LOCAL_MIN_MODEL": "local/tiny"}, "local/tiny"),
        ({"CAPTURE_DECISIONS_PI_MODEL": "own"}, "own"),
        ({"CAPTURE_DECISIONS_PI_MODEL": "own", "N_LOCAL_MIN_MODEL": "local/tiny"}, "own"),
        ({"CAPTURE_DECISIONS_PI_MODEL": "", "N_LOCAL_MIN_MODEL": "local/tiny"}, "local/tiny"),
    ],
)
def test_pi_is_the_default_with_exactly_these_words(
    sandbox: Sandbox, env: dict[str, str], model: str
) -> None:
    pi = sandbox.fake("pi").answers(decision())
    done = sandbox.capture(session(sandbox).payload(), env=env)
    assert list(pi.only_call.argv) == PI.format(model=model).split()
    assert done.messages[0] == f"using pi (model: {model})"


@pytest.mark.parametrize(
    ("env", "model"), [({}, "sonnet"), ({"CAPTURE_DECISIONS_CLAUDE_MODEL": "opus"}, "opus")]
)
def test_claude_is_called_with_exactly_these_words(sandbox: Sandbox, env: dict[str, str], model: str) -> None:
    claude, told = calls_of(sandbox, "claude", claude_json(decision()), **env)
    assert list(claude.only_call.argv) == ["-p", "--model", model, *CLAUDE_HERMETIC]
    assert told.startswith(f"using claude CLI (model: {model})\n")
    assert stems(sandbox) == ["decision-1"]
    assert claude.only_call.environ["CLAUDE_CODE_DISABLE_ATTACHMENTS"] == "1"
    assert claude.only_call.environ["CLAUDE_CODE_MAX_RETRIES"] == "2"


@pytest.mark.parametrize(
    ("env", "model"),
    [({}, "claude-4.6-sonnet-medium"), ({"CAPTURE_DECISIONS_CURSOR_MODEL": "gpt-5.5"}, "gpt-5.5")],
)
def test_cursor_agent_is_called_with_exactly_these_words(
    sandbox: Sandbox, env: dict[str, str], model: str
) -> None:
    cursor, told = calls_of(sandbox, "cursor-agent", decision(), **env)
    call = cursor.only_call
    line = f"-p --mode ask --output-format text --trust --workspace {call.cwd} --model {model}"
    assert list(call.argv) == line.split(" ")
    assert told.startswith(f"using cursor-agent CLI (model: {model})\n")
    assert stems(sandbox) == ["decision-1"]


# -- hermetic surroundings


@pytest.mark.parametrize("backend", ["pi", "claude", "cursor-agent"])
def test_the_prompt_comes_on_stdin_into_an_empty_folder(sandbox: Sandbox, backend: str) -> None:
    agent, _ = calls_of(sandbox, backend, decision())
    call = agent.only_call
    assert "request 1 of 1" in call.prompt
    assert not call.prompt.lstrip().startswith("/")
    assert not any("request" in word for word in call.argv)
    assert call.listing == ()
    assert not Path(call.cwd).exists()
    assert str(sandbox.root) not in call.cwd
    assert str(sandbox.home) not in call.cwd
    assert call.group == call.pid


def test_a_prompt_larger_than_an_argument_may_be_arrives_whole(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    made = ClaudeSession(sandbox.home, sandbox.root)
    for number in range(60):
        made.user(f"request {number} " + "слово " * 300)
        made.assistant("добре")
    sandbox.capture(made.payload())
    prompt = pi.only_call.prompt
    assert len(prompt.encode()) > 131_072
    assert len(part_of(prompt)) <= 120_000
    assert "request 59" in prompt


@pytest.mark.parametrize("backend", ["pi", "claude", "cursor-agent"])
def test_the_environment_is_the_users_without_what_ties_it_to_the_session(
    sandbox: Sandbox, backend: str
) -> None:
    ties = dict.fromkeys(TIES, "tie")
    kept = {name: f"kept {name}" for name in KEPT}
    agent, _ = calls_of(sandbox, backend, decision(), CLAUDE_PROJECT_DIR=str(sandbox.root), **ties, **kept)
    environ = agent.only_call.environ
    assert environ["CAPTURE_DECISIONS_RUNNING"] == environ["ADR_NORMALIZE_RUNNING"] == "1"
    assert {name: environ.get(name) for name in kept} == kept
    assert not set(ties) & set(environ)
    assert "CLAUDE_PROJECT_DIR" not in environ
    assert environ["HOME"] == str(sandbox.home)


def test_a_hook_of_the_inner_agent_does_nothing(sandbox: Sandbox) -> None:
    script = f"import os, subprocess\nsubprocess.run(['capture-decisions'], input=b'{{}}', cwd={str(sandbox.root)!r})"
    sandbox.environ["PATH"] += f":{SCRIPTS}"
    pi = ready(sandbox).answers(Reply(stdout=decision(), python=script))
    sandbox.capture(session(sandbox).payload())
    assert len(pi.calls) == 1
    assert log(sandbox).splitlines()[0] == "using pi (model: tiny-model)"
    assert "no transcript path" not in log(sandbox)


# -- where the program is found


@pytest.mark.parametrize(
    "place",
    [
        "node_modules/.bin/pi",
        "node_modules/@7n/rules/node_modules/.bin/pi",
        "node_modules/@nitra/cursor/node_modules/.bin/pi",
    ],
)
def test_a_pi_of_the_project_comes_before_that_of_the_path(sandbox: Sandbox, place: str) -> None:
    other = ready(sandbox)
    own = sandbox.fake("pi", path=sandbox.root / place).answers(decision())
    sandbox.capture(session(sandbox).payload())
    assert len(own.calls) == 1
    assert other.calls == []


def test_the_first_pi_of_the_project_is_taken(sandbox: Sandbox) -> None:
    ready(sandbox).remove()
    later = sandbox.fake("pi", path=sandbox.root / "node_modules/@7n/rules/node_modules/.bin/pi")
    first = sandbox.fake("pi", path=sandbox.root / "node_modules/.bin/pi").answers(decision())
    sandbox.capture(session(sandbox).payload())
    assert (len(first.calls), len(later.calls)) == (1, 0)


@pytest.mark.parametrize("backend", ["pi", "claude", "cursor-agent"])
def test_a_program_in_a_usual_place_is_found_when_the_path_is_minimal(sandbox: Sandbox, backend: str) -> None:
    agent = sandbox.fake(backend, path=sandbox.home / ".local" / "bin" / backend).answers(decision())
    env = {"CAPTURE_DECISIONS_BACKEND": backend, "N_LOCAL_MIN_MODEL": "m", "PATH": "/usr/bin:/bin"}
    sandbox.capture(session(sandbox).payload(), env=env)
    assert len(agent.calls) == 1
    assert str(agent.path.parent) in agent.only_call.environ["PATH"].split(os.pathsep)


@pytest.mark.parametrize(
    "place", ["node_modules/.bin/pi", "node_modules/@7n/rules/node_modules/.bin/pi", "tools/pi"]
)
@pytest.mark.parametrize("on_path", [False, True])
def test_a_pi_that_git_tracks_is_passed_over(sandbox: Sandbox, place: str, on_path: bool) -> None:
    other = ready(sandbox).answers(decision())
    own = sandbox.fake("pi", path=sandbox.root / place)
    sandbox.git("add", "-f", place)
    path = f"{own.path.parent}:{sandbox.environ['PATH']}" if on_path else sandbox.environ["PATH"]
    sandbox.capture(session(sandbox).payload(), env={"PATH": path})
    assert (len(own.calls), len(other.calls)) == (0, 1)


def test_a_backend_is_given_no_folder_of_the_project_on_its_search_path(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    (sandbox.base / "link").symlink_to(sandbox.root / "tools")
    mine = f"{sandbox.base}/mine"
    before = f".::node_modules/.bin:{sandbox.root}/tools:{sandbox.base}/link:{mine}:"
    sandbox.capture(session(sandbox).payload(), env={"PATH": before + sandbox.environ["PATH"]})
    given = pi.only_call.environ["PATH"].split(os.pathsep)
    assert mine in given
    assert set(given) <= {mine, str(pi.path.parent), *sandbox.environ["PATH"].split(os.pathsep)}


def test_a_file_that_cannot_be_run_is_no_program(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    sandbox.write("node_modules/.bin/pi", "no program")
    sandbox.capture(session(sandbox).payload())
    assert len(pi.calls) == 1


@pytest.mark.parametrize(
    ("backend", "line"),
    [
        ("pi", "pi not found [no backend]"),
        ("claude", "claude CLI not found [no backend]"),
        ("cursor-agent", "cursor-agent CLI not found [no backend]"),
        ("gemini", "unknown CAPTURE_DECISIONS_BACKEND=gemini [unknown backend]"),
        ("PI", "unknown CAPTURE_DECISIONS_BACKEND=PI [unknown backend]"),
    ],
)
def test_what_cannot_be_called_is_one_line(sandbox: Sandbox, backend: str, line: str) -> None:
    done = sandbox.capture(session(sandbox).payload(), env={"CAPTURE_DECISIONS_BACKEND": backend})
    assert done.messages == [line]
    assert sandbox.adr_names() == []


def test_the_program_is_looked_for_before_the_model(sandbox: Sandbox) -> None:
    assert sandbox.capture(session(sandbox).payload()).messages == ["pi not found [no backend]"]
    pi = sandbox.fake("pi")
    assert sandbox.capture(session(sandbox).payload()).messages == [
        "no local policy model configured [no model]"
    ]
    assert pi.calls == []


# -- auto


def test_auto_takes_the_first_that_is_available_and_says_why_others_are_not(sandbox: Sandbox) -> None:
    sandbox.environ["CAPTURE_DECISIONS_BACKEND"] = "auto"
    sandbox.fake("pi")
    cursor = sandbox.fake("cursor-agent").answers(decision())
    done = sandbox.capture(session(sandbox).payload())
    assert done.messages[:3] == [
        "no local policy model configured",
        "claude CLI not found",
        "using cursor-agent CLI (model: claude-4.6-sonnet-medium)",
    ]
    assert len(cursor.calls) == 1


def test_auto_prefers_pi_then_claude(sandbox: Sandbox) -> None:
    sandbox.environ["CAPTURE_DECISIONS_BACKEND"] = "auto"
    claude = sandbox.fake("claude").answers(decision())
    cursor = sandbox.fake("cursor-agent")
    sandbox.capture(session(sandbox, 1).payload())
    pi = ready(sandbox).answers(decision())
    sandbox.capture(session(sandbox, 2).payload())
    assert (len(pi.calls), len(claude.calls), len(cursor.calls)) == (1, 1, 0)


def test_auto_ends_in_a_skip_when_none_is_there(sandbox: Sandbox) -> None:
    done = sandbox.capture(session(sandbox).payload(), env={"CAPTURE_DECISIONS_BACKEND": "auto"})
    assert done.messages == [
        "pi not found", "claude CLI not found", "cursor-agent CLI not found", "no backend available [no backend]",
    ]  # fmt: skip
    assert pending(sandbox) == []


@pytest.mark.parametrize("reply", ["", "no decision here", Reply(exit=1, stderr="boom")])
def test_auto_asks_no_other_when_the_chosen_one_fails(sandbox: Sandbox, reply: Reply | str) -> None:
    sandbox.environ["CAPTURE_DECISIONS_BACKEND"] = "auto"
    ready(sandbox).answers(reply)
    others = [sandbox.fake("claude"), sandbox.fake("cursor-agent")]
    sandbox.capture(session(sandbox).payload())
    assert [agent.calls for agent in others] == [[], []]


# -- older programs


@pytest.mark.parametrize(
    ("unknown", "kept"),
    [
        (("--safe-mode",), ("--tools", "--disallowedTools", "--strict-mcp-config", "--settings")),
        (("--safe-mode", "--strict-mcp-config"), ("--tools", "--disallowedTools", "--settings")),
        (("--safe-mode", "--tools", "--strict-mcp-config"), ("--disallowedTools", "--settings")),
        (("--safe-mode", "--tools", "--disallowedTools", "--strict-mcp-config", "--settings"), ()),
    ],
)
def test_an_older_claude_keeps_each_flag_that_it_knows(
    sandbox: Sandbox, unknown: tuple[str, ...], kept: tuple[str, ...]
) -> None:
    claude = sandbox.fake("claude").knows_not(*unknown).answers(decision())
    sandbox.environ["CAPTURE_DECISIONS_BACKEND"] = "claude"
    told = sandbox.capture(session(sandbox).payload()).messages
    last = claude.calls[-1]
    assert [word for word in last.argv if word.startswith("--")] == ["--model", *kept]
    assert last.prompt == claude.calls[0].prompt
    assert last.listing == ()
    assert stems(sandbox) == ["decision-1"]
    (line,) = [line for line in told if "hermetic" in line]
    assert line.startswith("claude does not know --safe-mode")


def test_an_older_claude_is_asked_once_a_version(sandbox: Sandbox) -> None:
    claude = sandbox.fake("claude").knows_not("--safe-mode", "--tools").answers(decision(), *["NONE"] * 3)
    sandbox.environ["CAPTURE_DECISIONS_BACKEND"] = "claude"
    sandbox.capture(session(sandbox, 1).payload())
    asked = len(claude.calls)
    told = sandbox.capture(session(sandbox, 2).payload()).messages
    assert len(claude.calls) == asked + 1
    assert not any("hermetic" in line for line in told)
    told = sandbox.capture(None, "doctor").stdout.splitlines()
    assert any("hermetic" in line and "--safe-mode" in line for line in told)
    with open(claude.path, "a") as stream:  # an update
        stream.write("\n# newer\n")
    claude.knows_not()
    sandbox.capture(session(sandbox, 3).payload())
    assert "--safe-mode" in claude.calls[-1].argv


def test_an_older_cursor_agent_gets_the_seeds_line_in_the_root(sandbox: Sandbox) -> None:
    cursor = sandbox.fake("cursor-agent").knows_not("--trust", "--workspace").answers(decision())
    sandbox.environ["CAPTURE_DECISIONS_BACKEND"] = "cursor-agent"
    sandbox.capture(session(sandbox).payload())
    second = cursor.calls[1]
    line = "-p --mode ask --output-format text --model claude-4.6-sonnet-medium"
    assert list(second.argv) == line.split()
    assert second.cwd == str(sandbox.root)
    assert len(cursor.calls) == 2
    assert stems(sandbox) == ["decision-1"]


def test_another_error_is_no_reason_to_call_again(sandbox: Sandbox) -> None:
    claude, _ = calls_of(sandbox, "claude", Reply(exit=1, stderr="boom"))
    assert len(claude.calls) == 1


# -- an error is never content


CREDIT_REPLIES = [
    Reply(stdout=claude_json(CREDIT, is_error=True), exit=1),
    Reply(stdout=f"API Error: 400 {CREDIT}. Please go to Plans & Billing."),
]


@pytest.mark.parametrize("reply", CREDIT_REPLIES, ids=["json with exit 1", "text with exit 0"])
def test_no_credit_is_no_draft_and_stops_calls(sandbox: Sandbox, reply: Reply) -> None:
    claude, told = calls_of(sandbox, "claude", reply)
    assert sandbox.adr_names() == []
    assert len(pending(sandbox)) == 1
    assert "credit" in told
    sandbox.capture(session(sandbox, 2).payload())
    assert len(claude.calls) == 1


@pytest.mark.parametrize(
    ("backend", "text"),
    [
        ("claude", "Execution error"),
        ("cursor-agent", "⚠ Workspace Trust Required\n\nPass --trust to trust it"),
    ],
)
def test_a_known_error_text_is_a_failure_with_exit_0_too(sandbox: Sandbox, backend: str, text: str) -> None:
    agent, told = calls_of(sandbox, backend, text)
    assert f"{backend}: failed: " in told
    assert sandbox.adr_names() == []
    assert len(pending(sandbox)) == 1
    assert len(agent.calls) == 1


@pytest.mark.parametrize("wrap", [str, claude_json], ids=["plain", "json"])
def test_a_draft_about_rate_limits_is_no_error(sandbox: Sandbox, wrap: type[str]) -> None:
    text = "## ADR Rate limit\n\n## Decision Outcome\n\nOn 429 too many requests we wait; credit balance is too low."
    assert len(text) < 300
    calls_of(sandbox, "claude", wrap(text))
    assert stems(sandbox) == ["rate-limit"]


def test_none_is_no_error_whatever_stands_beside(sandbox: Sandbox) -> None:
    _, told = calls_of(sandbox, "claude", claude_json("NONE"))
    assert told.splitlines()[-1] == "NONE"
    assert pending(sandbox) == []


def test_an_exit_code_spoils_a_good_reply(sandbox: Sandbox) -> None:
    calls_of(sandbox, "claude", Reply(stdout=claude_json(decision()), exit=1))
    assert sandbox.adr_names() == []
    assert len(pending(sandbox)) == 1


@pytest.mark.parametrize(("backend", "reply"), [("pi", ""), ("claude", " \n\n"), ("cursor-agent", "\ufeff")])
def test_an_empty_reply_is_logged(sandbox: Sandbox, backend: str, reply: str) -> None:
    _, told = calls_of(sandbox, backend, reply)
    assert told.splitlines()[-1] == f"empty response from {backend} [empty reply]"


def test_an_empty_result_in_json_is_empty(sandbox: Sandbox) -> None:
    _, told = calls_of(sandbox, "claude", claude_json(""))
    assert told.splitlines()[-1] == "empty response from claude [empty reply]"


@pytest.mark.parametrize("reply", [b"\xff\xfe\x00", '{"is_error": 1, "result": 2}'])
def test_a_reply_of_any_bytes_leaves_no_fault(sandbox: Sandbox, reply: str | bytes) -> None:
    _, told = calls_of(sandbox, "claude", Reply(stdout=reply))
    assert "fault" not in told
    assert sandbox.adr_names() == []


def test_the_cost_that_a_program_tells_stands_in_the_ledger(sandbox: Sandbox) -> None:
    calls_of(sandbox, "claude", claude_json("NONE", cost=0.25))
    (path,) = (sandbox.own_state / "ledger").iterdir()
    assert json.loads(path.read_text())["cost"] == 0.25


# -- choices: no model


def choices(sandbox: Sandbox, language: str = "en") -> str:
    sandbox.environ.update(CAPTURE_DECISIONS_BACKEND="choices", ADR_LANGUAGE=language)
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("build it")
    made.question(
        "Which store?", [("SQLite", "embedded"), ("Redis", "a server")], "SQLite", notes="no server"
    )
    made.question("Go on?", [("Yes", "continue"), ("No", "stop")], "Yes")
    made.plan("# Cache\n1. Write it", reason="first the tests")
    made.plan("# Cache with tests\n1. Write tests")
    made.assistant("done")
    return "\n".join(sandbox.capture(made.payload()).messages)


def test_choices_drafts_real_questions_and_judged_plans_verbatim(sandbox: Sandbox) -> None:
    pi = sandbox.fake("pi")
    told = choices(sandbox)
    assert pi.calls == []
    assert told.count("wrote: ") == 3
    (store,) = [text for text in sandbox.drafts().values() if "Which store?" in text]
    assert store.partition("---\n\n")[2] == (
        "## ADR Which store?\n\n## Context and Problem Statement\n\nWhich store?\n\n"
        "## Considered Options\n\n* SQLite: embedded\n* Redis: a server\n\n"
        '## Decision Outcome\n\nChosen option: "SQLite", because no server\n\n'
        "### Consequences\n\n* Neutral, because the transcript does not confirm any consequence.\n\n"
        "## More Information\n\nThe transcript holds no further information.\n"
    )
    assert any("first the tests" in text for text in sandbox.drafts().values())
    assert not any("Go on?" in text for text in sandbox.drafts().values())


def test_choices_writes_the_phrases_of_the_language(sandbox: Sandbox) -> None:
    choices(sandbox, "uk")
    text = "\n".join(sandbox.drafts().values())
    assert "* Neutral, because transcript не містить підтвердження наслідку.\n" in text
    assert "\nДодаткової інформації в transcript не зафіксовано.\n" in text


def test_choices_without_evidence_writes_nothing_and_says_so(sandbox: Sandbox) -> None:
    env = {"CAPTURE_DECISIONS_BACKEND": "choices"}
    done = sandbox.capture(session(sandbox).payload(), env=env)
    assert len(done.messages) == 1
    assert "choices" in done.messages[0]
    assert sandbox.adr_names() == []
    assert pending(sandbox) == []


def test_choices_takes_each_answer_once(sandbox: Sandbox) -> None:
    choices(sandbox)
    before = sandbox.drafts()
    assert choices_again(sandbox) == ["nothing new in the session [nothing new]"]
    assert sandbox.drafts() == before


def choices_again(sandbox: Sandbox) -> list[str]:
    (path,) = (sandbox.home / ".claude" / "projects").glob("*/*.jsonl")
    payload = {"session_id": path.stem, "transcript_path": str(path), "cwd": str(sandbox.root)}
    return sandbox.capture(payload).messages


# -- troubles that are no reason of the part


@pytest.mark.parametrize(
    ("backend", "reply"),
    [
        (
            "cursor-agent",
            Reply(exit=1, stderr="ConnectError: [unavailable] getaddrinfo ENOTFOUND api2.cursor.sh"),
        ),
        ("claude", Reply(stdout=claude_json("API Error: Connection error.", is_error=True), exit=1)),
        ("pi", Reply(exit=1, stderr="Error: 502 status code (no body)")),
        ("pi", Reply(exit=127, stderr="/usr/bin/env: 'node': No such file or directory")),
        ("claude", Reply(exit=1, stderr="Error: ENOSPC: no space left on device, write")),
    ],
    ids=["dns", "connection", "502", "no node", "no room"],
)
def test_four_stops_without_a_network_or_an_interpreter_cost_no_try(
    sandbox: Sandbox, backend: str, reply: Reply
) -> None:
    if backend == "pi":
        ready(sandbox)
    agent, _ = calls_of(sandbox, backend, reply, reply, reply, reply, decision())
    told = [sandbox.capture(session(sandbox, 1).payload()).messages for _ in range(4)]
    assert not any("given up" in line for lines in told for line in lines)
    assert len(agent.calls) == 5
    assert stems(sandbox) == ["decision-1"]


def test_an_unknown_model_is_said_with_the_variable_and_pauses_the_calls(sandbox: Sandbox) -> None:
    agent, told = calls_of(sandbox, "claude", Reply(exit=1, stderr="Error: 404 model: sonet does not exist"))
    assert "set CAPTURE_DECISIONS_CLAUDE_MODEL" in told
    again = sandbox.capture(session(sandbox, 2).payload()).messages
    assert "paused until" in again[-1]
    assert len(agent.calls) == 1
    agent.answers(decision())
    sandbox.capture(session(sandbox, 3).payload(), env={"CAPTURE_DECISIONS_CLAUDE_MODEL": "opus"})
    assert len(agent.calls) > 1  # another model is asked at once


def test_a_program_that_answers_and_does_not_end_has_answered(sandbox: Sandbox) -> None:
    claude = sandbox.fake("claude").answers(Reply(stdout=claude_json(decision()), hang=True))
    sandbox.environ |= {"CAPTURE_DECISIONS_BACKEND": "claude", "CAPTURE_DECISIONS_TIMEOUT": "2"}
    sandbox.capture(session(sandbox).payload())
    assert len(claude.calls) == 1
    assert stems(sandbox) == ["decision-1"]
