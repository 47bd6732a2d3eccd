"""The one function that runs programs, and the one that starts our worker."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, NamedTuple

from decision_hooks.system.scratch import unnamed_file

if TYPE_CHECKING:
    import subprocess

_MOST_OUTPUT = 32 * 1024 * 1024
_GRACE = 2.0  # seconds between TERM and KILL
_GRACE_STOPPED = 0.5  # the same when we are being terminated ourselves


class Result(NamedTuple):
    """How a program ended: ``status`` is its exit code, negative for a signal, None when it did not start."""

    status: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool
    seconds: float
    too_long: bool = False  # it was ended for too much output
    quiet: bool = False  # it had written nothing for at least half of its time


def run(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    timeout: float,
    stdin: bytes = b"",
    on_stderr: Callable[[bytes], None] | None = None,
    stopped: Callable[[], bool] | None = None,
    most: int = _MOST_OUTPUT,
) -> Result:
    """Run a program to its end, or end its whole process group after ``timeout`` seconds or ``most`` bytes of output.

    Output goes to unnamed files, so that a grandchild that keeps a stream open cannot make us wait. ``on_stderr``
    gets new bytes of stderr while the program runs. When we are terminated (``SystemExit``, ``KeyboardInterrupt``)
    the group is ended first. In a thread, which no signal reaches, ``stopped`` ends the program early.
    """
    import subprocess

    start = time.monotonic()
    try:
        out, err = unnamed_file(env), unnamed_file(env)
    except OSError as error:  # no room, no folder for temporary files, no file handles
        return Result(None, b"", str(error).encode("utf-8", "replace"), False, 0.0)
    with out, err:
        held = HeldSignals()  # a signal between the fork and the ``try`` would leave the child behind
        try:
            child = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                cwd=cwd,
                env=dict(env),
                start_new_session=True,
            )
        except (OSError, ValueError, MemoryError, subprocess.SubprocessError) as error:
            held.let_go()
            return Result(None, b"", str(error).encode("utf-8", "replace"), False, 0.0)
        try:
            held.let_go()
            _feed(child, stdin)
            done, grew = _wait(child, start + timeout, out, err, on_stderr, stopped, most)
        except RuntimeError as error:  # no thread can be started
            return Result(None, b"", str(error).encode("utf-8", "replace"), False, 0.0)
        finally:
            _end_group(child, _GRACE_STOPPED if stopped and stopped() else _GRACE)
        seconds = time.monotonic() - start
        return Result(
            child.returncode, _read(out, most), _read(err, most), not done, seconds,
            too_long=_size(out) > most, quiet=grew <= start + seconds / 2,
        )  # fmt: skip


def is_program(path: str) -> bool:
    """Whether ``path`` is a file that can be run."""
    try:
        return os.path.isfile(path) and os.access(path, os.X_OK)
    except ValueError:
        return False


def on_path(name: str, folders: Iterable[str], may_run: Callable[[str], bool]) -> str:
    """The absolute path of a program in the folders of a search path, "" when it is not there.

    Relative and empty names of folders are passed over, and programs that ``may_run`` denies.
    """
    for folder in folders:
        found = os.path.join(folder, name)
        if os.path.isabs(folder) and is_program(found) and may_run(found):
            return found
    return ""


class HeldSignals:
    """Delays TERM, HUP and INT while something must not be interrupted."""

    def __init__(self) -> None:
        import threading

        self._came: list[int] = []
        main = threading.current_thread() is threading.main_thread()  # only it may set handlers
        numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT) if main else ()
        self._before = {int(number): signal.signal(number, self._note) for number in numbers}

    def _note(self, number: int, frame: object) -> None:
        self._came.append(number)

    def __enter__(self) -> None:
        """The signals are delayed since the object was made."""

    def __exit__(self, *_: object) -> None:
        self.let_go()

    def let_go(self) -> None:
        """Put the handlers back and deliver the first signal that came meanwhile."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        for number in self._came[:1]:
            signal.raise_signal(number)


def _feed(child: subprocess.Popen[bytes], data: bytes) -> None:
    import threading

    def write() -> None:
        stream = child.stdin
        if stream is None:
            return
        try:
            stream.write(data)
            stream.close()
        except (OSError, ValueError):  # the program did not read to the end
            pass

    threading.Thread(target=write, daemon=True).start()


def _wait(
    child: subprocess.Popen[bytes],
    until: float,
    out: IO[bytes],
    err: IO[bytes],
    on_stderr: Callable[[bytes], None] | None,
    stopped: Callable[[], bool] | None,
    most: int,
) -> tuple[bool, float]:
    """Whether the program ended by itself, and when its output last grew (by the monotonic clock)."""
    import subprocess

    seen = size = 0
    grew = time.monotonic()
    step = 0.1 if on_stderr or stopped else 0.5
    while True:
        left = until - time.monotonic()
        if left <= 0 or (stopped and stopped()):
            return False, grew
        try:
            child.wait(min(step, left))
            done = True
        except subprocess.TimeoutExpired:
            done = False
        if on_stderr:
            new = os.pread(err.fileno(), 65536, seen)
            seen += len(new)
            if new:
                on_stderr(new)
        if done:
            return True, grew
        if _size(out, err) != size:
            size, grew = _size(out, err), time.monotonic()
        if _size(out) > most or size > most + _MOST_OUTPUT:
            return False, grew


def _size(*streams: IO[bytes]) -> int:
    return sum(os.fstat(stream.fileno()).st_size for stream in streams)


def _end_group(child: subprocess.Popen[bytes], grace: float) -> None:
    """End what is left of the child's process group: TERM, a grace, KILL."""
    if child.poll() is None:
        _signal(child.pid, signal.SIGTERM)
        until = time.monotonic() + grace
        while child.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
    _signal(child.pid, signal.SIGKILL)
    child.wait()


def _signal(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        pass


def _read(stream: IO[bytes], most: int) -> bytes:
    stream.seek(0)
    return stream.read(most)


def become_worker(work: Callable[[], None], keep: Collection[int] = ()) -> None:
    """Start ``work`` in a process of its own session with closed stdio; returns at once in the caller.

    The child is a fork, which saves a second start of the interpreter; it ends by ``os._exit``. It closes all open
    files but ``keep``, which are its locks.
    """
    if os.fork():
        return
    status = 1
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        first = 3  # the host may wait until whatever it left open is closed
        for kept in [*sorted(keep), 256]:
            os.closerange(first, kept)
            first = kept + 1
        os.chdir("/")
        work()
        status = 0
    finally:
        os._exit(status)
