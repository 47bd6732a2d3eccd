"""One function runs programs: bytes in and out, a limit in time, and nothing of the process group left behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from decision_hooks.system import process
from support import processes


def python(code: str, tmp_path: Path, **options: object) -> process.Result:
    """Run a piece of Python as a program."""
    given: dict[str, object] = {"cwd": str(tmp_path), "env": {"A": "1"}, "timeout": 20.0, **options}
    return process.run([sys.executable, "-I", "-S", "-c", code], **given)  # type: ignore[arg-type]


def test_status_and_both_streams_are_told(tmp_path: Path) -> None:
    found = python("import sys; print('out'); sys.stderr.write('err'); sys.exit(3)", tmp_path)
    assert (found.status, found.stdout, found.stderr, found.timed_out) == (3, b"out\n", b"err", False)
    assert 0 < found.seconds < 20


def test_bytes_go_in_and_come_out_as_they_are(tmp_path: Path) -> None:
    data = bytes(range(256)) * 4000
    code = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    assert python(code, tmp_path, stdin=data).stdout == data


def test_the_program_has_the_given_place_and_environment_alone(tmp_path: Path) -> None:
    found = python(
        "import os; print(os.getcwd(), sorted(os.environ)); print(os.getpid() == os.getsid(0))", tmp_path
    )
    assert found.stdout.decode().splitlines()[0].startswith(f"{os.path.realpath(tmp_path)} ['A'")
    assert found.stdout.decode().splitlines()[1] == "True"


def test_a_signal_is_a_negative_status(tmp_path: Path) -> None:
    assert python("import os; os.kill(os.getpid(), 9)", tmp_path).status == -9


@pytest.mark.parametrize("argv", [["/nowhere/program"], ["/"], ["a\0b"]])
def test_what_cannot_start_has_no_status(tmp_path: Path, argv: list[str]) -> None:
    found = process.run(argv, cwd=str(tmp_path), env={}, timeout=5)
    assert (found.status, found.stdout, found.timed_out) == (None, b"", False)
    assert found.stderr
    gone = process.run([sys.executable], cwd=str(tmp_path / "gone"), env={}, timeout=5)
    assert gone.status is None


def test_handlers_are_put_back(tmp_path: Path) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]
    python("pass", tmp_path)
    process.run(["/nowhere"], cwd=str(tmp_path), env={}, timeout=5)
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)] == before


def test_a_signal_while_a_program_starts_ends_that_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import subprocess

    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def start(*words: object, **options: object) -> subprocess.Popen[bytes]:
        started.append(real(*words, **options))  # type: ignore[call-overload]
        os.kill(os.getpid(), signal.SIGTERM)
        return started[0]

    def leave(number: int, frame: object) -> None:
        raise SystemExit(number)

    before = signal.signal(signal.SIGTERM, leave)
    monkeypatch.setattr(subprocess, "Popen", start)
    try:
        with pytest.raises(SystemExit):
            python("import time; time.sleep(600)", tmp_path)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert started[0].returncode is not None


def test_it_works_beside_the_main_thread(tmp_path: Path) -> None:
    found: list[process.Result] = []
    thread = threading.Thread(target=lambda: found.append(python("print(1)", tmp_path)))
    thread.start()
    thread.join()
    assert found[0].stdout == b"1\n"


@pytest.mark.parametrize("stubborn", [False, True])
def test_the_limit_ends_the_whole_group(tmp_path: Path, stubborn: bool) -> None:
    code = (
        "import os, signal, time\n"
        f"stubborn = {stubborn}\n"
        "if stubborn: signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = os.fork()\n"
        "if child: print(os.getpid(), child, flush=True)\n"
        "time.sleep(600)"
    )
    begun = time.monotonic()
    found = python(code, tmp_path, timeout=0.7)
    assert found.timed_out
    assert time.monotonic() - begun < 5
    pids = [int(word) for word in found.stdout.split()]
    assert len(pids) == 2
    assert all(processes.wait_until_gone(pid) for pid in pids)


def test_a_grandchild_that_keeps_a_stream_open_does_not_hold_us(tmp_path: Path) -> None:
    begun = time.monotonic()
    found = python("import os, time\nif not os.fork(): time.sleep(600)\nprint(1)", tmp_path)
    assert found.status == 0
    assert time.monotonic() - begun < 5


def test_what_is_written_to_stderr_can_be_watched(tmp_path: Path) -> None:
    seen: list[bytes] = []
    code = "import sys, time\nfor n in range(3): sys.stderr.write(f'{n}\\n'); sys.stderr.flush(); time.sleep(0.3)"
    found = python(code, tmp_path, on_stderr=seen.append)
    assert b"".join(seen) == found.stderr == b"0\n1\n2\n"
    assert len(seen) > 1


def test_a_flood_is_ended(tmp_path: Path) -> None:
    begun = time.monotonic()
    found = python("import os\nwhile True: os.write(1, b'x' * 65536)", tmp_path, most=1 << 20)
    assert (found.timed_out, found.too_long) == (True, True)
    assert len(found.stdout) == 1 << 20
    assert time.monotonic() - begun < 5


def test_no_temporary_file_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    python("print(1)", tmp_path)
    assert os.listdir(tmp_path) == []
