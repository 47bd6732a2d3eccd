"""What a capture may cost: a very large transcript in memory and against a small one, the guards against Python."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import decision_hooks
from support import programs
from support.capture_runs import decision, log, part_of, ready, session, stems
from support.claude_session import ClaudeSession
from support.sandbox import CAPTURE, Sandbox

MakeSandbox = Callable[..., Sandbox]
LARGE = 50 * 1024 * 1024
MEASURE = (
    "import os, resource, sys\n"
    "pid = os.fork()\n"
    "if not pid: os.execv(sys.argv[1], sys.argv[1:])\n"
    "_, status, usage = os.wait4(pid, 0)\n"
    "print(usage.ru_maxrss * (1 if sys.platform == 'darwin' else 1024), usage.ru_utime + usage.ru_stime)\n"
)


def grow(made: ClaudeSession, size: int, *, spaced: bool = False) -> None:
    """Add tool calls with results, as the bulk of a long session holds, until the file has that size."""
    result = "line of output with a name and a number 12345\n" * 400
    with made.path.open("ab") as stream:
        sample = ClaudeSession(made.path.parent / "sample", made.cwd)
        for number in range(6):
            sample.tool("Bash", {"command": f"run the tests {number}"}, result)
            sample.tool("Read", {"file_path": str(made.cwd / "big.py")}, result)
            sample.assistant("I look further. " * 20)
        records = [json.loads(line) for line in sample.path.read_text().splitlines()]
        separators = (", ", ": ") if spaced else (",", ":")
        number = 0
        while stream.tell() < size:
            for record in records:
                number += 1
                record["uuid"] = f"00000000-0000-4000-8000-{number:012d}"
                stream.write(json.dumps(record, separators=separators).encode() + b"\n")


def cost(sandbox: Sandbox, payload: dict[str, object]) -> tuple[int, float]:
    """The most memory (bytes) and the processor time (seconds) of one capture in the foreground."""
    command = [sys.executable, "-S", "-c", MEASURE, programs.script(CAPTURE)]
    process = programs.start(command, environ=sandbox.environment(), cwd=sandbox.root)
    rc, out, err, _ = programs.finish(process, payload, 60)
    assert (rc, err) == (0, "")
    memory, seconds = out.split()
    return int(memory), float(seconds)


def large(sandbox: Sandbox, *, spaced: bool = False, edited: str = "src/first.py") -> ClaudeSession:
    """A session of 50 MB with an edit and a request at its beginning, a request in the middle, and an end."""
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("the first request, put it into SQLite")
    made.edit(edited if edited.startswith("/") else sandbox.root / edited)
    grow(made, LARGE // 2, spaced=spaced)
    made.user("the request of the middle")
    grow(made, LARGE, spaced=spaced)
    made.user("the last request")
    made.assistant("the last answer")
    return made


def test_a_very_large_transcript_stays_within_60_mib_and_near_a_small_one(make_sandbox: MakeSandbox) -> None:
    small, big = make_sandbox("small"), make_sandbox("big")
    for world in (small, big):
        ready(world).answers(decision())
    small_memory, small_seconds = cost(small, session(small).payload())
    big_memory, big_seconds = cost(big, large(big).payload())
    assert stems(small) == stems(big) == ["decision-1"]
    assert big_memory < 60 * 1024 * 1024
    assert big_memory < 2.5 * small_memory
    assert big_seconds < 6 * small_seconds


def test_claims_that_a_large_session_does_not_show_are_looked_up_in_one_pass(
    make_sandbox: MakeSandbox,
) -> None:
    few, many = make_sandbox("few"), make_sandbox("many")
    spent = {}
    for world, count in ((few, 1), (many, 20)):
        named = " ".join(f"`invented_{number}`" for number in range(count))
        ready(world).answers(decision() + f"\nSee {named}.\n")
        spent[count] = cost(world, large(world).payload())[1]
        (text,) = world.drafts().values()
        assert text.count("- invented_") == count
    assert spent[20] < 3 * spent[1]  # the search itself, but not the reading, is done for each


@pytest.mark.parametrize("spaced", [False, True], ids=["dense", "spaced"])
def test_requests_and_edits_of_a_very_large_part_are_found_whatever_its_white_space(
    sandbox: Sandbox, spaced: bool
) -> None:
    pi = ready(sandbox).answers(decision())
    sandbox.capture(large(sandbox, spaced=spaced).payload())
    part = part_of(pi.only_call.prompt)
    for wanted in ("the first request", "the last request", "the last answer"):
        assert wanted in part
    assert len(part) <= 120_000


def test_an_edit_at_the_beginning_of_a_very_large_part_tells_another_project(sandbox: Sandbox) -> None:
    pi = ready(sandbox)
    sandbox.capture(large(sandbox, edited="/elsewhere/a.py").payload())
    assert log(sandbox) == "skipping ADR capture: cross-project session [cross-project]"
    assert pi.calls == []


def test_a_second_stop_after_a_very_large_part_reads_only_what_is_new(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision(1), decision(2))
    made = large(sandbox)
    sandbox.capture(made.payload())
    made.user("one request more")
    made.assistant("one answer more")
    memory, _ = cost(sandbox, made.payload())
    assert memory < 45 * 1024 * 1024
    assert part_of(pi.calls[1].prompt).strip() == "[user]\none request more\n\n[assistant]\none answer more"
    assert "the first request" in pi.calls[1].prompt


def test_a_line_of_many_megabytes_is_passed_over(sandbox: Sandbox) -> None:
    size = 8 * 1024 * 1024
    pi = ready(sandbox).answers(decision())
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("before the image")
    made.tool("Read", {"file_path": "image.png"}, "iVBORw0KGgo" * (size // 11))
    made.user("after the image")
    made.assistant("done")
    memory, _ = cost(sandbox, made.payload())
    part = part_of(pi.only_call.prompt)
    assert "after the image" in part
    assert "before the image" in part
    assert memory < 60 * 1024 * 1024


def spent_by_children() -> float:
    """The processor time, in seconds, of the processes that have ended: a busy machine does not change it much."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def test_the_guards_cost_no_more_than_python_itself(sandbox: Sandbox) -> None:
    env = {**sandbox.environment(), "ADR_HOOKS_SKIP": "1"}
    script, bare = [programs.script(CAPTURE)], [sys.executable, "-c", "pass"]
    best: dict[str, float] = {}
    for name, command in (("guard", script), ("python", bare)) * 15:
        before = spent_by_children()
        subprocess.run(command, env=env, check=True, stdin=subprocess.DEVNULL)
        best[name] = min(best.get(name, 9.0), spent_by_children() - before)
    assert best["guard"] < 1.9 * best["python"]


def test_a_stop_with_nothing_to_do_loads_nothing_slow(sandbox: Sandbox) -> None:
    code = (
        "import sys; from decision_hooks import cli; sys.argv = ['capture-decisions']; cli.capture_main()\n"
        "slow = {'yaml', 'slugify', 'dataclasses', 'logging', 'subprocess', 'tempfile', 'argparse', 'pathlib'}\n"
        "import os; os.write(2, repr(sorted(slow & set(sys.modules))).encode())"
    )
    command = [sys.executable, "-S", "-c", code]
    env = {**sandbox.environment(), "PYTHONPATH": str(Path(decision_hooks.__file__).parent.parent)}
    done = subprocess.run(command, env=env, input=b"{}", capture_output=True, cwd=sandbox.root, check=True)
    assert done.stderr == b"[]"
