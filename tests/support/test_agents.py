"""The fakes are tested: a test that trusts a fake is worth what the fake is worth."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from support import processes, programs
from support.agents import FakeAgent, Reply, claude_json
from support.sandbox import Sandbox


def call(sandbox: Sandbox, fake: FakeAgent, *argv: str, stdin: str | bytes = "", seconds: float = 10):
    process = programs.start([str(fake.path), *argv], environ=sandbox.environment(), cwd=sandbox.temporary)
    return programs.finish(process, stdin, seconds)[:3]


def test_replies_come_in_the_order_of_the_queue(sandbox: Sandbox) -> None:
    fake = sandbox.fake("pi").answers("first", Reply("second", exit=3, stderr="oh"))
    assert call(sandbox, fake) == (0, "first", "")
    assert call(sandbox, fake) == (3, "second", "oh")


def test_a_call_without_a_reply_fails_loudly_and_is_counted(sandbox: Sandbox) -> None:
    fake = sandbox.fake("pi")
    rc, out, err = call(sandbox, fake)
    assert (rc, out, fake.unexpected) == (97, "", 1)
    assert "no reply is left" in err


def test_a_call_is_recorded_with_arguments_prompt_environment_and_folder(sandbox: Sandbox) -> None:
    fake = sandbox.fake("claude").answers("x")
    (sandbox.temporary / "deep").mkdir()
    (sandbox.temporary / "deep" / "file.txt").write_text("x")
    call(sandbox, fake, "-p", "--model", "sonnet", "", stdin="привіт\nsecond line")
    seen = fake.only_call
    assert seen.argv == ("-p", "--model", "sonnet", "")
    assert (seen.option("--model"), seen.option("--none")) == ("sonnet", None)
    assert seen.prompt == "привіт\nsecond line"
    assert seen.environ["HOME"] == str(sandbox.home)
    assert seen.cwd == str(sandbox.temporary)
    assert seen.listing == ("deep/", "deep/file.txt")
    assert seen.group == seen.session == seen.pid


def test_prompts_and_replies_pass_byte_for_byte(sandbox: Sandbox) -> None:
    odd = bytes(range(256)) * 2000  # larger than a pipe holds
    fake = sandbox.fake("pi").answers(odd)
    done = subprocess.run(
        [str(fake.path)], input=odd, capture_output=True, env=sandbox.environment(), check=True, timeout=20
    )
    assert done.stdout == odd
    assert fake.only_call.stdin == odd


def test_a_reply_with_a_match_is_kept_for_the_call_it_fits(sandbox: Sandbox) -> None:
    fake = sandbox.fake("pi").answers(Reply("late", match="question B"), "any")
    assert call(sandbox, fake, stdin="question A")[1] == "any"
    assert call(sandbox, fake, stdin="question C")[0] == 97
    assert call(sandbox, fake, stdin="question B")[1] == "late"


def test_a_match_sees_the_arguments_too(sandbox: Sandbox) -> None:
    fake = sandbox.fake("pi").answers(Reply("big", match=r"--model\0big"), "small")
    assert call(sandbox, fake, "--model", "small")[1] == "small"
    assert call(sandbox, fake, "--model", "big")[1] == "big"


def test_replies_can_be_given_many_times_or_always(sandbox: Sandbox) -> None:
    fake = sandbox.fake("pi").answers(Reply("twice", times=2)).always("then this")
    assert [call(sandbox, fake)[1] for _ in range(4)] == ["twice", "twice", "then this", "then this"]
    assert fake.left == 0


def test_replies_left_over_are_counted(sandbox: Sandbox) -> None:
    fake = sandbox.fake("pi").answers("a", Reply("b", times=3))
    call(sandbox, fake)
    assert fake.left == 3
    assert fake.forget().left == 0


def test_parallel_calls_get_each_reply_once(sandbox: Sandbox) -> None:
    fake = sandbox.fake("pi").answers(*[str(number) for number in range(12)])
    with ThreadPoolExecutor(4) as pool:
        given = list(pool.map(lambda _: call(sandbox, fake)[1], range(12)))
    assert sorted(given, key=int) == [str(number) for number in range(12)]
    assert len(fake.calls) == len(fake.ended) == 12


def test_an_older_version_refuses_flags_that_it_does_not_know(sandbox: Sandbox) -> None:
    fake = sandbox.fake("claude").knows_not("--safe-mode").answers("fine")
    assert call(sandbox, fake, "-p", "--safe-mode") == (1, "", "error: unknown option '--safe-mode'\n")
    assert call(sandbox, fake, "-p") == (0, "fine", "")
    assert [seen.argv for seen in fake.calls] == [("-p", "--safe-mode"), ("-p",)]


def test_a_delay_delays(sandbox: Sandbox) -> None:
    fake = sandbox.fake("pi").answers(Reply("x", delay=0.4))
    begun = time.monotonic()
    assert call(sandbox, fake)[1] == "x"
    assert time.monotonic() - begun >= 0.4


def started(fake: FakeAgent, count: int = 1) -> None:
    end = time.monotonic() + 5
    while len(fake.calls) < count:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_hanging_reply_ends_on_sigterm_and_never_comes_to_its_end(sandbox: Sandbox) -> None:
    fake = sandbox.fake("pi").answers(Reply("partial", hang=True))
    process = programs.start([str(fake.path)], environ=sandbox.environment(), cwd=sandbox.root)
    process.stdin.close()
    assert process.stdout.read(7) == b"partial"
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(5) == -signal.SIGTERM
    assert fake.ended == []


def test_a_deaf_reply_ends_on_sigkill_only(sandbox: Sandbox) -> None:
    fake = sandbox.fake("pi").answers(Reply("deaf", hang=True, ignore_term=True))
    process = programs.start([str(fake.path)], environ=sandbox.environment(), cwd=sandbox.root)
    process.stdin.close()
    assert process.stdout.read(4) == b"deaf"
    os.killpg(process.pid, signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait(5) == -signal.SIGKILL


@pytest.mark.parametrize(("kind", "same_group"), [("group", True), ("session", False)])
def test_a_grandchild_outlives_its_parent_and_is_known(sandbox: Sandbox, kind: str, same_group: bool) -> None:
    fake = sandbox.fake("pi").answers(Reply("x", grandchild=kind))
    process = programs.start([str(fake.path)], environ=sandbox.environment(), cwd=sandbox.root)
    process.stdin.close()
    assert process.wait(5) == 0
    (child,) = fake.grandchildren
    time.sleep(0.05)
    assert (os.getpgid(child) == process.pid) is same_group
    assert sandbox.processes() == [child]
    assert sandbox.close() == [child]
    assert processes.wait_until_gone(child)


def test_a_reply_may_leave_stdin_unread(sandbox: Sandbox) -> None:
    fake = sandbox.fake("pi").answers(Reply("x", read_stdin=False))
    assert call(sandbox, fake, stdin="y" * 1_000_000) == (0, "x", "")
    assert fake.only_call.stdin is None


def test_a_reply_may_end_by_a_signal(sandbox: Sandbox) -> None:
    fake = sandbox.fake("pi").answers(Reply("x", signal=signal.SIGKILL))
    assert call(sandbox, fake)[:2] == (-signal.SIGKILL, "x")


def test_a_reply_may_be_worked_out_from_the_call(sandbox: Sandbox) -> None:
    fake = sandbox.fake("pi").answers(Reply(python="reply['stdout'] = ' '.join(reversed(call['argv']))"))
    assert call(sandbox, fake, "a", "b")[1] == "b a"


def test_two_places_of_one_name_are_two_fakes(sandbox: Sandbox) -> None:
    near = sandbox.fake("pi", path=sandbox.root / "node_modules" / ".bin" / "pi").answers("near")
    far = sandbox.fake("pi").answers("far")
    assert call(sandbox, near)[1] == "near"
    assert (len(near.calls), len(far.calls)) == (1, 0)


def test_the_json_of_claude_holds_the_text_as_its_result() -> None:
    value = json.loads(claude_json("## ADR Так", is_error=True, api_error_status=400))
    assert (value["result"], value["is_error"], value["api_error_status"]) == ("## ADR Так", True, 400)
