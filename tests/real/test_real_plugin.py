"""What ``install`` writes, and the plugin, in the real agents: each on its own and both at once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from real import agents
from real.loopback import Loopback, Rule
from support import adr_texts, programs
from support.sandbox import CAPTURE, Sandbox

pytestmark = pytest.mark.real_cli

PLUGIN = Path(__file__).parents[2]
INNER = "Context and Problem Statement"  # only the prompt of a capture names this heading
DRAFT = adr_texts.block("Use SQLite for the cache")
TURN = ("-p", "--model", "sonnet", "--permission-mode", "acceptEdits", "FIRST-REQUEST: write the app")
WITH_PLUGIN = ("--plugin-dir", str(PLUGIN))


@pytest.fixture
def model(sandbox: Sandbox) -> Iterator[Loopback]:
    """A server that answers the outer session with an edit, and a capture with one block."""
    app = str(sandbox.root / "src" / "app.py")
    edit = Rule("FIRST-REQUEST", "Chose SQLite over Redis: it is embedded.", (app, "CACHE = 1\n"))
    with Loopback(Rule(INNER, DRAFT), edit) as server:
        yield server


def environment(sandbox: Sandbox, model: Loopback, **env: str) -> dict[str, str]:
    return agents.environment(sandbox, model.url, {"ADR_LANGUAGE": "en", **env})


def off_path(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a desktop launch: our scripts are not on the search path."""
    folders = environ["PATH"].split(os.pathsep)
    return {**environ, "PATH": os.pathsep.join(f for f in folders if f != str(programs.SCRIPTS))}


def session(sandbox: Sandbox, environ: Mapping[str, str], *flags: str) -> None:
    said = agents.call(sandbox, ["claude", *flags, *TURN], environ)
    assert said.rc == 0, said
    assert (sandbox.root / "src" / "app.py").exists()
    sandbox.settle()


def install(sandbox: Sandbox, *flags: str) -> None:
    done = sandbox.run(CAPTURE, None, "install", *flags)
    assert done.rc == 0, done


def assert_one_draft(sandbox: Sandbox, model: Loopback) -> None:
    (text,) = sandbox.drafts().values()
    assert "## ADR Use SQLite for the cache" in text
    assert len(model.matching(INNER)) == 1
    assert sandbox.log(CAPTURE).count("wrote: ") == 1


# -- the entry in the settings


def test_the_installed_entry_leaves_one_draft_though_the_programs_are_not_on_the_path(
    sandbox: Sandbox, model: Loopback
) -> None:
    install(sandbox, "--claude", "--backend", "claude")
    session(sandbox, off_path(environment(sandbox, model)))
    assert_one_draft(sandbox, model)


def test_a_colleague_without_the_package_sees_nothing(sandbox: Sandbox, model: Loopback) -> None:
    install(sandbox, "--claude", "--backend", "claude")
    (sandbox.own_state / "bin").unlink()
    session(sandbox, off_path(environment(sandbox, model)))
    assert sandbox.drafts() == {}
    assert sandbox.log(CAPTURE) == ""
    (stored,) = (sandbox.home / ".claude" / "projects").rglob("*.jsonl")
    assert "hook_non_blocking_error" not in stored.read_text()


def test_the_slash_command_reaches_the_model(sandbox: Sandbox, model: Loopback) -> None:
    install(sandbox, "--claude")
    environ = environment(sandbox, model, ADR_HOOKS_SKIP="1")
    assert agents.call(sandbox, ["claude", "-p", "/n-adr-normalize"], environ).rc == 0
    assert model.matching("Run `normalize-decisions plan`")


# -- the plugin


def test_the_plugin_is_valid(sandbox: Sandbox, model: Loopback) -> None:
    environ = environment(sandbox, model)
    command = ["claude", "plugin", "validate"]
    strict = agents.call(sandbox, [*command, "--strict", str(PLUGIN)], environ)
    assert strict.rc == 0, strict
    if "--profile" in agents.call(sandbox, [*command, "--help"], environ).stdout:
        directory = agents.call(sandbox, [*command, "--profile", "directory", str(PLUGIN)], environ)
        assert directory.rc == 0, directory


def test_the_plugin_leaves_one_draft_where_there_are_records(sandbox: Sandbox, model: Loopback) -> None:
    sandbox.write("docs/adr/README.md", "# Records\n")
    environ = environment(sandbox, model, CAPTURE_DECISIONS_BACKEND="claude")
    session(sandbox, environ, *WITH_PLUGIN)
    assert_one_draft(sandbox, model)


def test_the_plugin_does_nothing_in_a_project_without_records(sandbox: Sandbox, model: Loopback) -> None:
    environ = environment(sandbox, model, CAPTURE_DECISIONS_BACKEND="claude")
    session(sandbox, environ, *WITH_PLUGIN)
    assert sorted(sandbox.snapshot(without=(".git",))) == ["README.md", "src/app.py"]
    assert model.matching(INNER) == []


def test_settings_and_plugin_at_once_leave_one_draft(sandbox: Sandbox, model: Loopback) -> None:
    sandbox.write("docs/adr/README.md", "# Records\n")
    install(sandbox, "--claude", "--backend", "claude")
    session(sandbox, environment(sandbox, model), *WITH_PLUGIN)
    assert_one_draft(sandbox, model)


def test_the_slash_command_of_the_plugin_reaches_the_model(sandbox: Sandbox, model: Loopback) -> None:
    environ = environment(sandbox, model)
    command = ["claude", *WITH_PLUGIN, "-p", "/decision-hooks:n-adr-normalize"]
    assert agents.call(sandbox, command, environ).rc == 0
    assert model.matching("Run `normalize-decisions plan`")


# -- the extension of pi


def pi_turn(sandbox: Sandbox, model: Loopback, *flags: str, seconds: float = 90.0, **env: str) -> agents.Said:
    name = agents.configure_pi(sandbox, model.url)
    settings = {"CAPTURE_DECISIONS_BACKEND": "pi", "CAPTURE_DECISIONS_PI_MODEL": name, **env}
    environ = off_path(environment(sandbox, model, **settings))
    command = ["pi", "-p", *flags, "--model", name, "FIRST-REQUEST: write the app"]
    said = agents.call(sandbox, command, environ, seconds=seconds)
    sandbox.settle()
    return said


@pytest.mark.parametrize("flags", [(), ("--no-session",)], ids=["session", "no session"])
def test_the_extension_of_pi_leaves_one_draft_though_pi_has_exited(
    sandbox: Sandbox, model: Loopback, flags: tuple[str, ...]
) -> None:
    install(sandbox, "--pi")
    said = pi_turn(sandbox, model, *flags)
    assert (said.rc, said.stderr) == (0, "")
    assert "Chose SQLite" in said.stdout
    assert_one_draft(sandbox, model)


def test_pi_does_not_wait_for_the_capture(sandbox: Sandbox, model: Loopback) -> None:
    install(sandbox, "--pi")
    model.rules.insert(0, Rule(INNER, DRAFT, delay=6.0))
    said = pi_turn(sandbox, model)
    assert said.rc == 0
    assert_one_draft(sandbox, model)
    plain = pi_turn(sandbox, model, ADR_HOOKS_SKIP="1")
    assert said.seconds < plain.seconds + 3.0


def test_a_failed_turn_of_pi_leaves_no_draft(sandbox: Sandbox, model: Loopback) -> None:
    install(sandbox, "--pi")
    model.rules = [Rule(INNER, DRAFT), Rule("FIRST-REQUEST", "Credit balance is too low", status=400)]
    pi_turn(sandbox, model)
    assert sandbox.drafts() == {}
    assert model.matching(INNER) == []


def test_a_guard_keeps_the_extension_of_pi_silent(sandbox: Sandbox, model: Loopback) -> None:
    install(sandbox, "--pi")
    assert pi_turn(sandbox, model, ADR_HOOKS_SKIP="1").rc == 0
    assert sandbox.log(CAPTURE) == ""
    assert model.matching(INNER) == []
