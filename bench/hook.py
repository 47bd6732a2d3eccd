"""What a hook costs: the guard's exit, the hand-over, and a capture of a 50 MB session, against a bare interpreter.

    python bench/hook.py

Runs the installed scripts beside this interpreter with a backend that answers at once. Each figure is the best of
several runs, and is told as a ratio to ``python -c pass`` of the same interpreter, or as the time beyond a
small session.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

SCRIPT = Path(sys.executable).parent / "capture-decisions"
SIZE = 50 * 1024 * 1024


def best(argv: Callable[[int], list[str]], env: dict[str, str], runs: int) -> float:
    """Seconds of the fastest of several runs; ``argv`` is given the number of the run."""
    times = []
    for number in range(runs):
        words = argv(number)
        begun = time.perf_counter()
        subprocess.run(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - begun)
    return min(times)


def session(path: Path, size: int) -> None:
    """A transcript of about that size: tool results, calls that read, now and then a request."""
    number, written = 0, 0
    with path.open("w", encoding="utf-8") as stream:
        while written < size:
            number += 1
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "line of output\n" * 180}
            call = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": "/p/a.py"}}
            for role, content in (("assistant", [call]), ("user", [result])):
                record = {"type": role, "uuid": f"{role}{number}", "timestamp": "2026-03-04T05:06:07Z"}
                line = json.dumps(record | {"message": {"role": role, "content": content}}) + "\n"
                written += stream.write(line)
            if number % 40 == 1:
                asked = {"role": "user", "content": f"request {number}"}
                written += stream.write(
                    json.dumps({"type": "user", "uuid": f"q{number}", "message": asked}) + "\n"
                )


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        base = Path(folder)
        (base / "bin").mkdir()
        fake = base / "bin" / "claude"
        fake.write_text("#!/bin/sh\ncat >/dev/null\necho NONE\n")
        fake.chmod(0o755)
        env = {"PATH": f"{base / 'bin'}:/usr/bin:/bin", "HOME": folder, "CAPTURE_DECISIONS_BACKEND": "claude"}
        bare = best(lambda _: [sys.executable, "-c", "pass"], env, 20)
        guard = best(lambda _: [str(SCRIPT)], env | {"ADR_HOOKS_SKIP": "1"}, 20)
        print(f"bare interpreter           {bare * 1000:7.1f} ms")
        print(f"guard exit                 {guard * 1000:7.1f} ms  {guard / bare:.2f} of it")
        for name, size in (("small", 1000), ("large", SIZE)):
            session(base / f"{name}.jsonl", size)

        def run(name: str, *flags: str) -> float:
            def argv(number: int) -> list[str]:
                root = base / f"{name}{len(flags)}-{number}"
                root.mkdir()
                return [
                    str(SCRIPT),
                    *flags,
                    "--project-root",
                    str(root),
                    "--transcript",
                    str(base / f"{name}.jsonl"),
                ]

            return best(argv, env, 7)

        handed = run("small", "--detach")
        print(f"hand-over (--detach)       {handed * 1000:7.1f} ms  {handed / bare:.2f} of it")
        small, large = run("small"), run("large")
        print(f"capture, small session     {small * 1000:7.1f} ms")
        print(
            f"capture, 50 MB session     {large * 1000:7.1f} ms  {(large - small) * 1000:.1f} ms beyond the small one"
        )
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(
            f"most memory of a run       {peak / (1024 * (1024 if sys.platform == 'darwin' else 1)):7.1f} MiB"
        )


if __name__ == "__main__":
    main()
