"""pi as backend: the installed hook of a real Claude session drafts with a model of one's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from real import agents
from real.loopback import Loopback, Rule
from real.test_real_claude import INNER, first_turn, inner, stops, world
from support import adr_texts
from support.sandbox import CAPTURE, Sandbox

pytestmark = pytest.mark.real_cli

CAPTURE_FLAGS = (
    *("-p", "--no-session", "--mode", "text", "--no-tools", "--no-context-files", "--no-extensions"),
    *("--no-skills", "--no-prompt-templates", "--offline"),
)
NORMALIZE_FLAGS = (
    "-p",
    "--no-prompt-templates",
    "--no-tools",
    "--no-session",
    "--no-context-files",
    "--no-skills",
)


@pytest.fixture
def model() -> Iterator[Loopback]:
    """A server for both APIs."""
    with Loopback() as server:
        yield server


def pi_world(sandbox: Sandbox, model: Loopback) -> dict[str, str]:
    name = agents.configure_pi(sandbox, model.url)
    environ = world(sandbox, model, CAPTURE_DECISIONS_BACKEND="pi", CAPTURE_DECISIONS_PI_MODEL=name)
    (sandbox.home / ".pi" / "agent" / "AGENTS.md").write_text("MARK-PI-MEMORY\n")
    sandbox.write("AGENTS.md", "MARK-PI-MEMORY\n")
    return environ


def test_a_session_that_edits_leaves_exactly_one_draft(sandbox: Sandbox, model: Loopback) -> None:
    environ = pi_world(sandbox, model)
    first_turn(sandbox, environ)
    sandbox.settle()
    (text,) = sandbox.drafts().values()
    assert "## ADR Use SQLite for the cache" in text
    assert "using pi (model: local/tiny)" in sandbox.log(CAPTURE)


def test_the_inner_call_is_hermetic(sandbox: Sandbox, model: Loopback) -> None:
    first_turn(sandbox, pi_world(sandbox, model))
    sandbox.settle()
    (asked,) = inner(model)
    assert asked.api == "chat"
    assert asked.tools == ()
    assert "FIRST-REQUEST" in asked.raw
    marks = ("MARK-PROJECT-MEMORY", "MARK-USER-MEMORY", "MARK-OF-A-FILE", "MARK-PI-MEMORY")
    assert [mark for mark in marks if mark in asked.raw] == []
    assert len(stops(sandbox)) == 1
    assert list((sandbox.home / ".pi").rglob("*.jsonl")) == [], "the inner call was stored"


def test_a_second_turn_sends_only_what_is_new(sandbox: Sandbox, model: Loopback) -> None:
    environ = pi_world(sandbox, model)
    first_turn(sandbox, environ)
    sandbox.settle()
    other = str(sandbox.root / "src" / "limit.py")
    cap = adr_texts.block("Cap the cache at 64 MB", context="It grows.")
    model.rules = [
        Rule(INNER + ".*SECOND-REQUEST", cap),
        Rule("SECOND-REQUEST", "It is capped now.", (other, "SECOND-CONTENT = 2\n")),
        *model.rules,
    ]
    agents.claude_turn(sandbox, environ, "SECOND-REQUEST: cap it at 64 MB", again=True)
    sandbox.settle()
    first, second = inner(model)
    assert "FIRST-CONTENT" in first.raw
    assert "FIRST-CONTENT" not in second.raw
    assert "SECOND-CONTENT" in second.raw
    assert len(sandbox.drafts()) == 2


def test_an_error_of_the_api_leaves_no_draft_and_the_part_waits(sandbox: Sandbox, model: Loopback) -> None:
    environ = pi_world(sandbox, model)
    model.rules.insert(0, Rule(INNER, "Credit balance is too low", status=400))
    first_turn(sandbox, environ)
    sandbox.settle()
    assert sandbox.drafts() == {}
    assert len(list((sandbox.own_state / "pending").iterdir())) == 1


def ask(sandbox: Sandbox, model: Loopback, flags: Sequence[str], prompt: str) -> agents.Said:
    name = agents.configure_pi(sandbox, model.url)
    environ = agents.environment(sandbox, model.url)
    return agents.call(sandbox, ["pi", *flags, "--model", name], environ, stdin=prompt)


@pytest.mark.parametrize("flags", [CAPTURE_FLAGS, NORMALIZE_FLAGS], ids=["capture", "normalize"])
def test_pi_takes_every_flag_that_we_give(sandbox: Sandbox, model: Loopback, flags: Sequence[str]) -> None:
    sandbox.write("README.md", "MARK-OF-A-FILE\n")
    sandbox.write("AGENTS.md", "MARK-PI-MEMORY\n")
    model.rules = [Rule("QUESTION", "## ADR Відповідь")]
    said = ask(sandbox, model, flags, "QUESTION: Яка база? @README.md")
    assert (said.rc, said.stdout.strip(), said.stderr) == (0, "## ADR Відповідь", "")
    (request,) = model.requests
    assert request.tools == ()
    assert "MARK" not in request.raw


def test_pi_passes_a_long_prompt_on(sandbox: Sandbox, model: Loopback) -> None:
    prompt = "QUESTION " + "рішення " * 20_000
    assert ask(sandbox, model, CAPTURE_FLAGS, prompt).rc == 0
    assert any(prompt.strip() in user for user in model.requests[-1].users)


def test_pi_tells_an_error_of_the_api_by_its_exit_and_on_stderr(sandbox: Sandbox, model: Loopback) -> None:
    model.rules = [Rule("QUESTION", "Credit balance is too low", status=400)]
    said = ask(sandbox, model, CAPTURE_FLAGS, "QUESTION")
    assert (said.rc, said.stdout) == (1, "")
    assert "Credit balance is too low" in said.stderr
