"""Claude Code as host and as backend: the installed hook in a real session, against a server on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest

from real import agents
from real.loopback import Loopback, Request, Rule
from support import adr_texts
from support.sandbox import CAPTURE, Sandbox

pytestmark = pytest.mark.real_cli

INNER = "Context and Problem Statement"  # only the prompt of a capture names this heading
TOO_LOW = "Credit balance is too low"
RULE = Rule(INNER, adr_texts.block("Use SQLite for the cache"))


@pytest.fixture
def model() -> Iterator[Loopback]:
    """A server that answers the outer session with an edit, and a capture with one block."""
    with Loopback() as server:
        yield server


def hook_settings(sandbox: Sandbox) -> None:
    """The Stop hook of the project; and one of the user, which every session fires, that notes each event."""
    note = f"cat >> {sandbox.temporary}/stops.jsonl; echo >> {sandbox.temporary}/stops.jsonl"
    sandbox.write(".claude/settings.json", json.dumps(_stop_hook("capture-decisions --detach", 180)))
    (sandbox.home / ".claude").mkdir(exist_ok=True)
    (sandbox.home / ".claude" / "settings.json").write_text(json.dumps(_stop_hook(note, 10)))


def _stop_hook(command: str, seconds: int) -> dict[str, object]:
    hook = {"type": "command", "command": command, "timeout": seconds}
    return {"hooks": {"Stop": [{"hooks": [hook]}]}}


def stops(sandbox: Sandbox) -> list[dict[str, object]]:
    path = sandbox.temporary / "stops.jsonl"
    return (
        [json.loads(line) for line in path.read_text().splitlines() if line.strip()] if path.exists() else []
    )


def inner(model: Loopback) -> list[Request]:
    return model.matching(INNER)


def world(sandbox: Sandbox, model: Loopback, **env: str) -> dict[str, str]:
    hook_settings(sandbox)
    sandbox.write("CLAUDE.md", "MARK-PROJECT-MEMORY\n")
    sandbox.write("notes.txt", "MARK-OF-A-FILE\n")
    (sandbox.home / ".claude" / "CLAUDE.md").write_text("MARK-USER-MEMORY\n")
    app = str(sandbox.root / "src" / "app.py")
    model.rules = [
        RULE,
        Rule(
            "FIRST-REQUEST",
            "Done: chose SQLite over Redis because it is embedded.",
            (app, "FIRST-CONTENT = 1\n"),
        ),
    ]
    settings = {"CAPTURE_DECISIONS_BACKEND": "claude", "ADR_LANGUAGE": "en", **env}
    return agents.environment(sandbox, model.url, settings)


def first_turn(sandbox: Sandbox, environ: dict[str, str]) -> agents.Said:
    prompt = f"FIRST-REQUEST: please write the app with a cache, see @{sandbox.root}/notes.txt"
    return agents.claude_turn(sandbox, environ, prompt)


def test_a_session_that_edits_leaves_exactly_one_draft_after_claude_has_exited(
    sandbox: Sandbox, model: Loopback
) -> None:
    environ = world(sandbox, model)
    model.rules.insert(0, Rule(INNER, RULE.text, delay=2.0))
    said = first_turn(sandbox, environ)
    assert "chose SQLite" in said.stdout
    assert sandbox.drafts() == {}, "claude waited for the capture"
    sandbox.settle()
    assert (sandbox.root / "src" / "app.py").exists()
    (text,) = sandbox.drafts().values()
    assert "## ADR Use SQLite for the cache" in text
    assert stops(sandbox)[0]["session_id"] in text
    assert sandbox.log(CAPTURE).count("wrote: ") == 1


def test_the_inner_call_is_hermetic(sandbox: Sandbox, model: Loopback) -> None:
    first_turn(sandbox, world(sandbox, model))
    sandbox.settle()
    outer = model.matching("FIRST-REQUEST")[0]
    (asked,) = inner(model)
    marks = ("MARK-PROJECT-MEMORY", "MARK-USER-MEMORY", "MARK-OF-A-FILE")
    assert [mark for mark in marks if mark not in outer.raw] == [], "the marks must reach the outer session"
    assert [mark for mark in marks if mark in asked.raw] == []
    assert outer.tools != ()
    assert asked.tools == ()
    assert "FIRST-REQUEST" in asked.raw
    assert len(stops(sandbox)) == 1, "the inner call has fired the hook"
    assert len(list((sandbox.home / ".claude" / "projects").rglob("*.jsonl"))) == 1, (
        "the inner call was stored"
    )


def test_a_second_turn_sends_only_what_is_new(sandbox: Sandbox, model: Loopback) -> None:
    environ = world(sandbox, model)
    first_turn(sandbox, environ)
    sandbox.settle()
    other = str(sandbox.root / "src" / "limit.py")
    cap = adr_texts.block("Cap the cache at 64 MB", context="It grows.")
    model.rules = [
        Rule(INNER + ".*SECOND-REQUEST", cap),
        RULE,
        Rule("SECOND-REQUEST", "It is capped now.", (other, "SECOND-CONTENT = 2\n")),
        *model.rules,
    ]
    agents.claude_turn(sandbox, environ, "SECOND-REQUEST: cap it at 64 MB", again=True)
    sandbox.settle()
    first, second = inner(model)
    assert "FIRST-CONTENT" in first.raw
    assert "FIRST-CONTENT" not in second.raw
    assert "SECOND-CONTENT" in second.raw
    assert second.raw.count("FIRST-REQUEST") == 1, (
        "the first request stands in the second prompt once, as context"
    )
    assert second.raw.index("FIRST-REQUEST") < second.raw.index("SECOND-REQUEST")
    assert len(sandbox.drafts()) == 2
    assert len({stop["session_id"] for stop in stops(sandbox)}) == 1


def test_a_third_stop_without_news_makes_no_call(sandbox: Sandbox, model: Loopback) -> None:
    environ = world(sandbox, model)
    first_turn(sandbox, environ)
    sandbox.settle()
    (stop,) = stops(sandbox)
    again = sandbox.capture(stop, "--detach", env=environ)
    assert (again.rc, again.stdout) == (0, "")
    assert len(inner(model)) == len(sandbox.drafts()) == 1


def test_an_error_of_the_api_leaves_no_draft_and_the_part_waits(sandbox: Sandbox, model: Loopback) -> None:
    environ = world(sandbox, model)
    model.rules.insert(0, Rule(INNER, TOO_LOW, status=400))
    first_turn(sandbox, environ)
    sandbox.settle()
    assert len(inner(model)) >= 1
    assert sandbox.drafts() == {}
    assert len(list((sandbox.own_state / "pending").iterdir())) == 1
    assert TOO_LOW.lower() in sandbox.log(CAPTURE).lower()


def test_a_session_that_ends_in_an_error_of_the_api_fires_no_stop(sandbox: Sandbox, model: Loopback) -> None:
    environ = world(sandbox, model)
    model.rules.insert(0, Rule("FIRST-REQUEST", TOO_LOW, status=400))
    command = ["claude", "-p", "--model", "sonnet", "FIRST-REQUEST"]
    said = agents.call(sandbox, command, environ)
    sandbox.settle()
    assert (said.rc, said.stdout) == (1, f"{TOO_LOW}\n")
    assert (stops(sandbox), inner(model), sandbox.drafts()) == ([], [], {})


def test_a_part_that_waited_is_captured_once_the_account_is_paid(sandbox: Sandbox, model: Loopback) -> None:
    environ = world(sandbox, model)
    model.rules.insert(0, Rule(INNER, "Internal trouble", status=400))
    first_turn(sandbox, environ)
    sandbox.settle()
    assert sandbox.drafts() == {}
    del model.rules[0]
    sandbox.capture(stops(sandbox)[0], "--detach", env=environ)
    assert len(sandbox.drafts()) == 1
    assert list((sandbox.own_state / "pending").iterdir()) == []


HERMETIC = (
    *("-p", "--model", "sonnet", "--safe-mode", "--tools", "", "--no-session-persistence"),
    *("--strict-mcp-config", "--output-format", "json"),
)


def ask(sandbox: Sandbox, model: Loopback, flags: Sequence[str], prompt: str, **env: str) -> agents.Said:
    environ = agents.environment(sandbox, model.url, {"CLAUDE_CODE_DISABLE_ATTACHMENTS": "1", **env})
    return agents.call(sandbox, ["claude", *flags], environ, stdin=prompt)


def test_claude_takes_every_flag_that_we_give_and_answers_in_json(sandbox: Sandbox, model: Loopback) -> None:
    model.rules = [Rule("QUESTION", "## ADR Відповідь")]
    said = ask(sandbox, model, HERMETIC, "QUESTION: Яка база? @notes.txt")
    assert (said.rc, said.stderr) == (0, "")
    value = json.loads(said.stdout)
    assert (value["is_error"], value["result"]) == (False, "## ADR Відповідь")
    assert model.requests[-1].tools == ()


def test_claude_takes_the_plain_form_for_older_versions(sandbox: Sandbox, model: Loopback) -> None:
    flags = ["-p", "--model", "sonnet", "--settings", '{"disableAllHooks":true}']
    hook_settings(sandbox)
    assert ask(sandbox, model, flags, "QUESTION", CAPTURE_DECISIONS_RUNNING="1")[:2] == (0, "Done.\n")
    assert stops(sandbox) == []


@pytest.mark.parametrize("size", [120_000, 300_000])  # characters: a whole digest, a whole batch with targets
def test_claude_passes_a_long_prompt_on_byte_for_byte(sandbox: Sandbox, model: Loopback, size: int) -> None:
    prompt = "QUESTION " + "рішення " * (size // 8)
    said = ask(sandbox, model, HERMETIC, prompt)
    assert said.rc == 0
    assert any(prompt.strip() in user for user in model.requests[-1].users)


def test_claude_tells_an_error_of_the_api_by_its_exit_and_in_json(sandbox: Sandbox, model: Loopback) -> None:
    model.rules = [Rule("QUESTION", TOO_LOW, status=400)]
    said = ask(sandbox, model, HERMETIC, "QUESTION")
    assert said.rc == 1
    assert json.loads(said.stdout)["is_error"] is True
    assert TOO_LOW in said.stdout


def test_claude_refuses_a_flag_it_does_not_know_in_the_words_we_look_for(
    sandbox: Sandbox, model: Loopback
) -> None:
    said = ask(sandbox, model, ["-p", "--no-such-flag"], "QUESTION")
    assert (said.rc, said.stdout) == (1, "")
    assert "unknown option" in said.stderr
