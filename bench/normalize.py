"""What normalisation itself costs: a stop below the threshold over many files, and a batch over many records.

    python bench/normalize.py [--files 5000] [--records 2000] [--rounds 9]

The first figure is the hook's whole time less that of the bare interpreter; the second the time of a run by hand
whose agent replies at once, less that agent's own. Medians, in milliseconds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

SCRIPT = Path(sys.executable).parent / "normalize-decisions"
WORDS = (
    "черга кеш запис рішення модуль тест збірка сервер клієнт помилка версія пакет схема канал ключ".split()
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="The cost of normalisation.")
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--records", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        bare = median([sys.executable, "-c", "pass"], Path(base), {}, options.rounds)
        print(f"bare interpreter: {bare:.0f} ms")
        below(Path(base) / "below", options.files, bare, options.rounds)
        batch(Path(base) / "batch", options.records, options.rounds)


def below(root: Path, files: int, bare: float, rounds: int) -> None:
    """A stop that finds fewer drafts than the threshold among many files."""
    fill(root, files, drafts=20)
    took = median([str(SCRIPT)], root, {"ADR_NORMALIZE_BACKEND": "claude"}, rounds)
    print(f"below the threshold, {files} files: {took - bare:.0f} ms beyond the interpreter's start")


def batch(root: Path, records: int, rounds: int) -> None:
    """A batch of ten over many records: first with nothing kept, then with the kept index."""
    fill(root, records, drafts=10)
    agent = root / "bin" / "claude"
    agent.parent.mkdir()
    agent.write_text("#!/bin/sh\ncat > /dev/null\necho '[]'\n")
    agent.chmod(0o755)
    env = {"ADR_NORMALIZE_BACKEND": "claude", "PATH": f"{agent.parent}:/usr/bin:/bin"}
    bare = median([str(agent), "-p"], root, env, rounds)
    command = [str(SCRIPT), "run"]
    print(f"a batch over {records} records, cold: {median(command, root, env, 1) - bare:.0f} ms")
    print(f"a batch over {records} records, warm: {median(command, root, env, rounds) - bare:.0f} ms")


def fill(root: Path, records: int, drafts: int) -> None:
    """A project with records of about 5 KB and a few drafts."""
    folder = root / "docs" / "adr"
    folder.mkdir(parents=True)
    for number in range(records):
        name = f"2603{number % 28 + 1:02d}-{number % 24:02d}00-запис-{number}.md"
        (folder / name).write_text(
            f"---\ntype: ADR\ntitle: Запис {number}\ndescription: Опис.\n---\n\n{body(number)}"
        )
    for number in range(drafts):
        head = f"---\nsession: s{number}\ncaptured: 2026-04-01T05:00:00Z\n---\n\n"
        text = f"{head}## ADR Рішення {number}\n\n{body(number)}"
        (folder / f"260401-05{number:02d}-чернетка.md").write_text(text)


def body(seed: int) -> str:
    """About 5 KB of words, others for each seed."""
    told = (
        f"{WORDS[(seed * 7 + n * n) % len(WORDS)]}{(seed * n) % 97} `lib/{seed % 50}/{n % 9}.py`"
        for n in range(150)
    )
    return "## Context and Problem Statement\n\n" + " ".join(told) + "\n\n## Decision Outcome\n\nОбрано.\n"


def median(command: Sequence[str], cwd: Path, env: dict[str, str], rounds: int) -> float:
    """The median time of a command in milliseconds."""
    environ = {"PATH": os.defpath, "HOME": str(cwd), "CLAUDE_PROJECT_DIR": str(cwd), **env}
    took = []
    for _ in range(rounds):
        begun = time.perf_counter()
        subprocess.run(command, cwd=cwd, env=environ, input=b"{}", capture_output=True, check=False)
        took.append((time.perf_counter() - begun) * 1000)
    return statistics.median(took)


if __name__ == "__main__":
    main()
