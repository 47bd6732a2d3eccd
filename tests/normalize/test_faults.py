"""A disk that is full or broken, and folders that cannot be written: nothing is lost, and the next run is whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support import programs
from support.faults import failing_from, heeding_modes
from support.inbox import CLEAN, NOW, ONE, THREE, TWO, all_three, fill
from support.sandbox import NORMALIZE, Sandbox
from support.stage import planned

MOST_CALLS = 60


def ran(sandbox: Sandbox, command: list[str], payload: dict[str, str] | None = None) -> tuple[int, str, str]:
    """Run a command in the project: exit code, stdout, stderr."""
    process = programs.start(command, environ=sandbox.environment(NOW), cwd=sandbox.root)
    rc, out, err, _ = programs.finish(process, payload, 60)
    return rc, out, err


@pytest.mark.parametrize(
    ("call", "error"),
    [("write", "ENOSPC"), ("fsync", "EIO"), ("rename", "ENOSPC"), ("link", "EIO"), ("unlink", "EIO")],
)
def test_whatever_fails_from_some_moment_on_the_next_run_is_whole(
    sandbox: Sandbox, call: str, error: str
) -> None:
    stage, plan = planned(sandbox)
    before = sandbox.snapshot()
    stage.by_hand("run", "--plan", plan)
    wanted = sandbox.snapshot()
    for number in range(1, MOST_CALLS):
        stage.again()
        command = [programs.script(NORMALIZE), "run", "--plan", plan]
        rc, _, err = ran(sandbox, failing_from(call, number, error, command))
        assert "Traceback" not in err
        now = {name: text for name, text in sandbox.snapshot().items() if not name.endswith(".tmp")}
        for name in (ONE, TWO, THREE):
            gone = f"docs/adr/{name}" not in now
            assert not gone or all(now[file] == wanted[file] for file in wanted), f"{number}: {name} is lost"
        for file, text in now.items():
            assert text in (before.get(file), wanted.get(file)), f"{number}: {file} is torn"
        stage.by_hand("run", "--plan", plan)
        assert sandbox.snapshot() == wanted, number
        # strace fails the writes to any stream: Python's own last word at its end (120) too
        assert rc in (0, 2) or (rc, call) == (120, "write")
        if rc == 0:  # what failed was no file of ours, and so it is for all later ones
            assert number > 1
            return
    raise AssertionError(f"more than {MOST_CALLS} calls of {call}")


def test_with_a_full_disk_the_hook_ends_well_and_says_what_it_could_not_write(sandbox: Sandbox) -> None:
    fill(sandbox)
    before = sandbox.snapshot()
    sandbox.fake("claude").always(all_three())
    command = failing_from("rename", 2, "ENOSPC", [programs.script(NORMALIZE)])
    rc, out, _ = ran(sandbox, command, {})
    assert (rc, out) == (0, "")
    assert "No space left on device" in sandbox.log(NORMALIZE)
    assert "fault" not in sandbox.log(NORMALIZE)
    assert {name for name in before if "docs/adr/26" in name} <= set(sandbox.snapshot())


def test_into_a_folder_that_cannot_be_written_nothing_is_asked(sandbox: Sandbox) -> None:
    fill(sandbox)
    fake = sandbox.fake("claude").answers(all_three())
    before = sandbox.snapshot()
    sandbox.adr.chmod(0o555)
    try:
        rc, out, _ = ran(sandbox, heeding_modes([programs.script(NORMALIZE)]), {})
        assert (rc, out) == (0, "")
        rc, _, err = ran(sandbox, heeding_modes([programs.script(NORMALIZE), "run"]))
    finally:
        sandbox.adr.chmod(0o755)
    assert (rc, err) == (1, "docs/adr cannot be written: nothing was done\n")
    assert sandbox.log(NORMALIZE).count("docs/adr cannot be written: nothing was done") == 2
    assert not fake.calls
    assert sandbox.snapshot() == before


def test_without_a_place_for_the_state_nothing_is_asked(sandbox: Sandbox) -> None:
    fill(sandbox)
    fake = sandbox.fake("claude").answers(all_three())
    before = sandbox.snapshot()
    (sandbox.root / ".claude").mkdir(mode=0o555)
    rc, out, _ = ran(sandbox, heeding_modes([programs.script(NORMALIZE)]), {})
    assert (rc, out) == (0, "")
    rc, _, err = ran(sandbox, heeding_modes([programs.script(NORMALIZE), "run"]))
    assert rc == 2
    assert "cannot make the folder" in err
    assert not fake.calls
    assert sandbox.snapshot() == before


def test_a_record_that_cannot_be_read_is_left_alone(sandbox: Sandbox) -> None:
    fill(sandbox)
    sandbox.fake("claude").answers(all_three())
    (sandbox.adr / CLEAN).chmod(0)
    ran(sandbox, heeding_modes([programs.script(NORMALIZE)]), {})
    (sandbox.adr / CLEAN).chmod(0o644)
    assert "Update" not in sandbox.records()[CLEAN]
    assert TWO in sandbox.drafts()
    assert not {ONE, THREE} & set(sandbox.drafts())


def test_a_folder_in_the_place_of_a_state_file_is_no_fault(sandbox: Sandbox) -> None:
    fill(sandbox)
    for name in (".normalize-state", ".decision-hooks/normalize.json", ".decision-hooks/records.index"):
        Path(sandbox.hooks, name).mkdir(parents=True)
    sandbox.fake("claude").answers(all_three())
    done = sandbox.normalize({}, env=NOW)
    assert "fault" not in done.log
    assert os.listdir(sandbox.adr)
