"""What a stop below the threshold may cost: a ratio, no clock."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

from support import programs
from support.adr_texts import draft, record
from support.inbox import CLAUDE, ONE
from support.sandbox import NORMALIZE, Sandbox

FILES = 5000
READS_ONLY = {"diff", "ls-files", "check-ignore", "rev-parse", "status"}
HEADS = """
import os, sys
for name in os.listdir(sys.argv[1]):
    with open(os.path.join(sys.argv[1], name), "rb") as stream:
        b"session:" in stream.read(4096)
"""


def median(command: Sequence[str], sandbox: Sandbox, env: dict[str, str] | None = None) -> float:
    took = []
    for _ in range(5):
        begun = time.perf_counter()
        done = subprocess.run(
            command,
            input=b"{}",
            cwd=sandbox.root,
            env=sandbox.environment(env),
            capture_output=True,
            check=True,
        )
        took.append(time.perf_counter() - begun)
        assert done.stdout == b""
    return statistics.median(took)


def test_below_the_threshold_thousands_of_files_cost_little_more_than_reading_their_heads(
    sandbox: Sandbox,
) -> None:
    hook = [programs.script(NORMALIZE)]
    sandbox.write(f"docs/adr/{ONE}", draft())
    few = median(hook, sandbox, CLAUDE)
    text = record("A record", body="Слово про рішення. " * 300)
    for number in range(FILES):
        sandbox.write(f"docs/adr/2603{number % 28 + 1:02d}-0100-запис-{number}.md", text)
    empty = median([sys.executable, "-c", "pass"], sandbox)
    heads = median([sys.executable, "-c", HEADS, str(sandbox.adr)], sandbox) - empty
    assert median(hook, sandbox, CLAUDE) - few < 3 * heads
    assert "1 drafts, threshold 30" in sandbox.log(NORMALIZE)
