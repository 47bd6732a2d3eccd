"""The hooks that ``install`` writes for Codex, in the real agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from real import agents
from real.loopback import Loopback, Rule
from real.test_real_plugin import DRAFT, INNER, assert_one_draft, install, off_path
from support.sandbox import CAPTURE, Sandbox

pytestmark = pytest.mark.real_cli

PROVIDER = (
    '{{ name = "local", base_url = "{url}/v1", wire_api = "responses", env_key = "OPENAI_API_KEY", '
    "request_max_retries = 0, stream_max_retries = 0 }}"
)


@pytest.fixture
def model() -> Iterator[Loopback]:
    """A server that answers the outer session with a choice, and a capture with one block."""
    with Loopback(Rule(INNER, DRAFT), Rule("FIRST-REQUEST", "Chose SQLite: it is embedded.")) as server:
        yield server


def turn(sandbox: Sandbox, model: Loopback, *flags: str) -> agents.Said:
    """One turn of ``codex exec`` in the project."""
    provider = PROVIDER.format(url=model.url)
    command = [
        *("codex", "exec", *flags, "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5-codex"),
        *("-c", 'model_provider="local"', "-c", f"model_providers.local={provider}"),
        "FIRST-REQUEST: which cache do we take?",
    ]
    said = agents.call(sandbox, command, environment(sandbox, model))
    sandbox.settle()
    return said


def environment(sandbox: Sandbox, model: Loopback) -> Mapping[str, str]:
    """The world of Codex: a home in which the project is trusted, our scripts not on the search path."""
    home = sandbox.home / ".codex"
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(f'[projects."{sandbox.root}"]\ntrust_level = "trusted"\n')
    settings = {"CODEX_HOME": str(home), "OPENAI_API_KEY": "dummy", "CAPTURE_DECISIONS_BACKEND": "claude"}
    return off_path(agents.environment(sandbox, model.url, {"ADR_LANGUAGE": "en", **settings}))


def test_a_trusted_hook_of_codex_leaves_one_draft_though_codex_has_exited(
    sandbox: Sandbox, model: Loopback
) -> None:
    install(sandbox, "--codex")
    said = turn(sandbox, model, "--dangerously-bypass-hook-trust")
    assert said.rc == 0, said
    assert "Chose SQLite" in said.stdout
    assert "Failed" not in said.stdout + said.stderr
    assert_one_draft(sandbox, model)


def test_codex_passes_a_hook_over_that_is_not_trusted(sandbox: Sandbox, model: Loopback) -> None:
    install(sandbox, "--codex")
    assert turn(sandbox, model).rc == 0
    assert sandbox.log(CAPTURE) == ""
    assert sandbox.drafts() == {}
