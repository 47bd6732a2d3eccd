"""The system calls of a stop: what it never reads again, and what it never does to git."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from support import programs
from support.adr_texts import operations, record
from support.guard import STRACE
from support.inbox import CLAUDE, NOW, ONE, all_three, fill, fill_after_edit
from support.sandbox import NORMALIZE, Sandbox

READS_ONLY = {
    "cat-file",
    "check-ignore",
    "ls-files",
    "ls-tree",
}  # none of them runs a filter, a driver or a hook
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|rename|unlink|mkdir|link\(")


def test_a_stop_that_is_not_due_reads_no_file_of_the_folder(sandbox: Sandbox) -> None:
    fill(sandbox)
    sandbox.write(".claude/hooks/.normalize-state", f"{int(time.time())}\n")
    opened = traced(sandbox, "openat", {**CLAUDE, "ADR_NORMALIZE_THRESHOLD": "1"})
    assert "interval 6 h" in sandbox.log(NORMALIZE)
    assert not [line for line in opened if ".md" in line]


def test_of_a_record_that_has_not_changed_nothing_is_read_again(sandbox: Sandbox) -> None:
    fill(sandbox)
    for number in range(20):
        sandbox.write(
            f"docs/adr/260301-10{number:02d}-record.md", record(f"Record {number}", body="text " * 5000)
        )
    fake = sandbox.fake("claude")
    fake.always(operations())
    sandbox.normalize({}, env=NOW)
    sandbox.write("docs/adr/260301-1003-record.md", record("Changed", body="About a price cache. " * 900))
    found = (re.search(r"adr/([^>]+\.md)>.*= (\d+)$", line) for line in traced(sandbox, "read", NOW))
    assert {match[1] for match in found if match and int(match[2]) > 4096} == {"260301-1003-record.md"}
    assert all("260301-1003-record.md" in call.prompt for call in fake.calls)


def test_no_command_of_git_writes_and_no_file_of_git_is_opened_to_be_written(sandbox: Sandbox) -> None:
    sandbox.write("package.json", '{\n  "name": "x",\n  "version": "1.0.0"\n}\n')
    sandbox.write("src/a.py", "a\n")
    sandbox.commit_all()
    fill(sandbox)
    version_only(sandbox)
    os.utime(sandbox.root / "src/a.py")  # git would refresh its index for this
    sandbox.fake("claude").answers(all_three())
    before = sandbox.snapshot(of=sandbox.root / ".git", without=())
    index = (sandbox.root / ".git/index").stat().st_mtime_ns
    lines = traced(sandbox, "execve,openat,rename,unlink,link,mkdir", NOW)
    assert f"tooling-only delete: {ONE}" in sandbox.log(NORMALIZE)
    assert "merge-into: " in sandbox.log(NORMALIZE)
    called = [
        re.findall(r'"((?:[^"\\]|\\.)*)"', line) for line in lines if 'execve("' in line and '/git"' in line
    ]
    assert called
    for words in called:
        command = next(word for word in words[2:] if not word.startswith("-") and "=" not in word)
        assert command in READS_ONLY
    writing = [line for line in lines if "/.git/" in line and WRITES.search(line)]
    assert writing == []
    assert sandbox.snapshot(of=sandbox.root / ".git", without=()) == before
    assert (sandbox.root / ".git/index").stat().st_mtime_ns == index


def version_only(sandbox: Sandbox) -> None:
    """The first draft is of a session that raised the version in package.json and did no more."""
    sandbox.write("package.json", '{\n  "name": "x",\n  "version": "1.0.1"\n}\n')
    fill_after_edit(sandbox, "package.json")


def traced(sandbox: Sandbox, calls: str, env: dict[str, str]) -> list[str]:
    """The system calls of a stop and of all that it starts, a line each; a file descriptor with its path."""
    assert STRACE, "strace is needed: install it (apt-get install strace)"
    log = sandbox.base / "strace.log"
    names = ",".join(f"?{name}" for name in [*calls.split(","), *(f"{name}at" for name in calls.split(","))])
    options = ["-f", "-y", "-qq", "-s", "400", "-o", str(log), "-e", f"trace={names}"]
    command = [STRACE, *options, programs.script(NORMALIZE)]
    process = programs.start(command, environ=sandbox.environment(env), cwd=sandbox.root)
    rc, out, _, _ = programs.finish(process, {}, 60)
    assert (rc, out) == (0, "")
    return Path(log).read_text("utf-8", "replace").splitlines()
