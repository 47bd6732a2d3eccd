"""What a hook costs: the guard's exit, the hand-over, and captures of 1 MB and of 50 MB, against a bare interpreter.

    python bench/hook.py [FOLDER]

Runs the installed scripts beside this interpreter with a backend that answers at once and, run by run in turn, those
in the ``bin`` FOLDER of another version. Each figure is the best of several runs. A first capture of 1 MB may cost
75 ms beyond the bare interpreter and the backend, one of 50 MB 130 ms.
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

FOLDERS = [Path(sys.executable).parent, *map(Path, sys.argv[1:2])]
MEGABYTE = 1024 * 1024
BUDGETS = {1: 75, 50: 130}  # milliseconds by megabytes
RUNS = 15


def seconds(argv: list[str], env: dict[str, str]) -> float:
    """How long one run took."""
    begun = time.perf_counter()
    subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun


def best(
    name: str, argv: Callable[[Path, str], list[str]], env: dict[str, str], runs: int = RUNS
) -> list[float]:
    """Seconds of the fastest run of each version; ``argv`` is given the script and the name of the run."""
    times: list[list[float]] = [[] for _ in FOLDERS]
    for number in range(runs):
        for place, folder in enumerate(FOLDERS):
            times[place].append(seconds(argv(folder / "capture-decisions", f"{name}-{place}-{number}"), env))
    return [min(taken) for taken in times]


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
        bare = min(seconds([sys.executable, "-c", "pass"], env) for _ in range(RUNS))
        backend = min(seconds([str(fake)], env) for _ in range(RUNS))
        print(f"bare interpreter           {_shown([bare])}")
        print(f"backend                    {_shown([backend])}")
        guard = best("guard", lambda script, _: [str(script)], env | {"ADR_HOOKS_SKIP": "1"})
        print(f"guard exit                 {_shown(guard)}")

        def capture(size: int, *flags: str) -> Callable[[Path, str], list[str]]:
            path = base / f"{size}.jsonl"
            if not path.exists():
                session(path, size)

            def argv(script: Path, name: str) -> list[str]:
                root = base / name
                root.mkdir()
                return [str(script), *flags, "--project-root", str(root), "--transcript", str(path)]

            return argv

        print(f"hand-over (--detach)       {_shown(best('handed', capture(1000, '--detach'), env))}")
        print(f"capture, small session     {_shown(best('small', capture(1000), env))}")
        for size, budget in BUDGETS.items():
            taken = best(f"of-{size}", capture(size * MEGABYTE), env)
            beyond = [time - bare - backend for time in taken]
            print(f"capture, {size:2} MB beyond both  {_shown(beyond)}  (at most {budget} ms)")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(
            f"most memory of a run       {peak / (1024 * (1024 if sys.platform == 'darwin' else 1)):7.1f} MiB"
        )


def _shown(times: list[float]) -> str:
    """Milliseconds of this version and, where there is another, of that and the ratio."""
    text = f"{times[0] * 1000:7.1f} ms"
    return (
        text
        if len(times) == 1
        else f"{text}, other {times[1] * 1000:.1f} ms, ratio {times[0] / times[1]:.2f}"
    )


if __name__ == "__main__":
    main()
