"""The table of hooks: which argv a guard stops, which ends with 0 whatever happens, and which may print."""

from __future__ import annotations

import sys

import pytest

from decision_hooks import cli
from decision_hooks.settings import GUARDS
from support import programs
from support.sandbox import CAPTURE, Sandbox

# A third hook of a program, as a later version may have one: a row of the table and a story.
_THIRD = """
import sys
from decision_hooks import cli
from decision_hooks.edge import hook
cli.HOOKS = (*cli.HOOKS, ("capture-decisions", ("watch", "--hook"), "watch", {speaks}))
def watch(world, event, root, log, detach):
    world.out('{{"seen": "%s"}}' % event.session_id)
    {body}
hook._STORIES["watch"] = watch
sys.argv = ["capture-decisions", *sys.argv[1:]]
sys.exit(cli.capture_main())
"""


def third(
    sandbox: Sandbox, *argv: str, speaks: bool = True, body: str = "pass", env: dict[str, str] | None = None
) -> tuple[object, ...]:
    code = _THIRD.format(speaks=speaks, body=body)
    environ = sandbox.environment() | (env or {})
    process = programs.start([sys.executable, "-c", code, *argv], environ=environ, cwd=sandbox.root)
    return tuple(programs.finish(process, {"session_id": "abc"}, 20)[:3])


def test_the_guards_of_the_entry_points_are_those_of_the_settings() -> None:
    assert cli._GUARDS == GUARDS


@pytest.mark.parametrize(
    ("argv", "words", "matches"),
    [
        ([], (), True),
        (["--detach"], (), True),
        (["--no-such-flag"], (), True),
        (["status"], (), False),
        (["watch", "--hook"], ("watch", "--hook"), True),
        (["watch", "--hook", "--detach"], ("watch", "--hook"), True),
        (["watch"], ("watch", "--hook"), False),
        (["watch", "--hooks"], ("watch", "--hook"), False),
        (["watch", "--hook", "file"], ("watch", "--hook"), False),
    ],
)
def test_an_argv_is_a_hook_by_its_first_words(argv: list[str], words: tuple[str, ...], matches: bool) -> None:
    assert cli._calls(argv, words) is matches


def test_a_hook_with_words_of_its_own_runs_its_story(sandbox: Sandbox) -> None:
    assert third(sandbox, "watch", "--hook") == (0, '{"seen": "abc"}\n', "")


def test_a_hook_that_may_not_print_prints_nothing(sandbox: Sandbox) -> None:
    assert third(sandbox, "watch", "--hook", speaks=False) == (0, "", "")


@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_stops_every_hook(sandbox: Sandbox, guard: str) -> None:
    assert third(sandbox, "watch", "--hook", env={guard: "1"}) == (0, "", "")


def test_a_fault_in_any_hook_ends_with_0_and_is_logged(sandbox: Sandbox) -> None:
    assert third(sandbox, "watch", "--hook", speaks=False, body="raise RuntimeError('broken')")[0] == 0
    assert "fault: RuntimeError: broken" in sandbox.log(CAPTURE)


def test_an_unknown_flag_of_any_hook_ends_with_0(sandbox: Sandbox) -> None:
    assert third(sandbox, "watch", "--hook", "--no-such-flag") == (0, "", "")
    assert "unknown flag --no-such-flag" in sandbox.log(CAPTURE)


def test_other_words_are_subcommands_and_may_fail(sandbox: Sandbox) -> None:
    assert third(sandbox, "watch")[0] == 2
