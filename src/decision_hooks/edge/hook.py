"""The edge of the program: stdin, environ, clock, terminal, and the one error boundary."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decision_hooks.hosts.event import Flags, HookEvent
    from decision_hooks.system.runlog import RunLog
    from decision_hooks.system.world import World

_STDIN_SECONDS = 5.0  # without a byte
_STDIN_MOST = 30.0  # seconds for all of it
_STDIN_STEP = (
    0.5  # seconds after which a host that leaves the pipe open has said all, if it is a whole object
)
_MOST_PAYLOAD = 16 * 1024 * 1024


# -- subcommands


def subcommand(program: str, argv: Sequence[str]) -> int:
    """Run a subcommand: 0 fine, 1 finding or refusal, 2 usage, I/O, or a defect of ours."""
    from decision_hooks.commands import dispatch
    from decision_hooks.errors import DecisionHooksError

    _end_on_signals()
    _utf8_streams()
    world = _world(program)
    try:
        code = dispatch.run(program, argv, world)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except DecisionHooksError as error:
        world.err(f"{program}: {error}")
        return 2
    except BrokenPipeError:
        _drop_stdout()
        return 0
    except OSError as error:
        world.err(f"{program}: {error}")
        _drop_stdout()
        return 2
    except KeyboardInterrupt:
        world.err(f"{program}: interrupted")
        return 130
    except Exception as error:  # noqa: BLE001 - the boundary of the program
        import traceback

        world.err(f"{traceback.format_exc()}{program}: fault: {type(error).__name__}: {error}")
        return 2


def _drop_stdout() -> None:
    """What could not be written to stdout goes nowhere: at the interpreter's end it would fail once more."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _utf8_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(encoding="utf-8", errors="replace")


# -- hook mode


def hook(program: str, argv: Sequence[str]) -> int:
    """One stop: stdout stays empty and the exit code is 0 whatever happens."""
    log: list[RunLog] = []
    try:
        _end_on_signals()
        _run_hook(program, argv, log)
    except (SystemExit, KeyboardInterrupt):
        pass
    except BaseException as error:  # noqa: BLE001 - the boundary of the program
        _fault(program, log, error)
    if log and log[0].last and sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"{program}: {log[0].last}\n")
    return 0


def _run_hook(program: str, argv: Sequence[str], opened: list[RunLog]) -> None:
    from decision_hooks.hosts import event as hook_event
    from decision_hooks.system import project
    from decision_hooks.system.runlog import log_of

    world = _world(program)
    flags, wrong = _flags(argv)
    if argv and argv[0] in ("-h", "--help", "--version"):
        from decision_hooks.commands import dispatch

        world.err(dispatch.usage(program) if argv[0] != "--version" else dispatch.version(program))
        return
    payload = {} if wrong else hook_event.read_payload(_stdin())
    event = hook_event.read_event(payload, flags, world.environ, cwd=world.cwd, git_top=project.git_top)
    root = project.first_folder(event.root_candidates)
    if not root:  # the working directory was removed, and nothing else is told: there is no place for a log
        return
    log = log_of(root, program, world.now)
    opened.append(log)
    if wrong:
        log.write(f"unknown flag {wrong}: nothing was done")
    elif program == "capture-decisions":
        _capture(world, event, root, log, flags.detach)
    else:
        _normalize(world, root, log, flags.detach)


def _capture(world: World, event: HookEvent, root: str, log: RunLog, detach: bool) -> None:
    from decision_hooks.capture import queue as capture_queue
    from decision_hooks.errors import DecisionHooksError
    from decision_hooks.settings import capture_settings
    from decision_hooks.system.project import project

    try:
        settings = capture_settings(world.environ)
        place = project(root, settings.adr_dir)
        stop = capture_queue.enter(world, settings, place, log, event)
    except DecisionHooksError as error:
        log.write(str(error))
        return
    if stop is None:
        return
    entered = stop

    def job() -> None:
        from decision_hooks.capture import worker as capture_worker
        from decision_hooks.system import facts

        capture_worker.work(entered, sleep=facts.pause, foreground=not detach)

    _now_or_detached(world, log, detach, job)


def _normalize(world: World, root: str, log: RunLog, detach: bool) -> None:
    from decision_hooks.errors import DecisionHooksError
    from decision_hooks.normalize import job as normalize

    try:
        due = normalize.gates(world, root, log)
    except DecisionHooksError as error:
        log.write(str(error))
        return
    if due is None:
        return
    ready = due
    _now_or_detached(world, log, detach, lambda: normalize.hook_run(ready), keep=(ready.lock.fd,))


def _now_or_detached(
    world: World, log: RunLog, detach: bool, job: Callable[[], None], keep: tuple[int, ...] = ()
) -> None:
    """Do the job here, or in a worker of our own that holds on to the files of ``keep``."""
    from decision_hooks.errors import DecisionHooksError

    def guarded() -> None:
        try:
            job()
        except DecisionHooksError as error:
            log.write(str(error))

    if not detach:
        guarded()
        return
    from decision_hooks.system import process

    def detached() -> None:
        try:
            guarded()
        except (SystemExit, KeyboardInterrupt):
            pass
        except BaseException as error:  # noqa: BLE001 - the boundary of the worker
            _fault(world.program, [log], error)

    process.become_worker(detached, keep)


def _fault(program: str, log: Sequence[RunLog], error: BaseException) -> None:
    """One log line with the fault, its traceback on the lines after; a fault in telling is silent."""
    try:
        import time
        import traceback

        from decision_hooks.system.runlog import RunLog

        to = log[0] if log else RunLog(os.path.join(_cwd(), ".claude", "hooks", f"{program}.log"), time.time)
        to.write(f"fault: {type(error).__name__}: {error}", traceback.format_exc())
    except Exception:  # noqa: BLE001, S110 - the last boundary: nothing is left to tell it to
        pass


# -- the world


def _world(program: str) -> World:
    import time

    from decision_hooks.system.world import World

    def out(line: str) -> None:
        sys.stdout.write(line + "\n")

    def err(line: str) -> None:
        try:
            sys.stderr.write(line + "\n")
            sys.stderr.flush()
        except (OSError, ValueError):  # there is nobody left to tell
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

    def ask(question: str) -> str:
        if not sys.stdin or not sys.stdin.isatty():
            return ""
        sys.stderr.write(question + " ")
        sys.stderr.flush()
        return sys.stdin.readline().strip()

    return World(
        program=program,
        script=os.path.abspath(sys.argv[0]) if sys.argv[0] else "",
        environ=dict(os.environ),
        cwd=_cwd(),
        now=time.time,
        out=out,
        err=err,
        ask=ask,
        watched=sys.stderr is not None and sys.stderr.isatty(),
    )


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:  # the folder was removed under us
        return ""


def _flags(argv: Sequence[str]) -> tuple[Flags, str]:
    """The flags of hook mode, and the first word that is none of them ("" = all are known)."""
    from decision_hooks.hosts.event import Flags

    given: dict[str, str] = {}
    rest, detach, wrong = list(argv), False, ""
    while rest and not wrong:
        name, equals, value = rest.pop(0).partition("=")
        if name == "--detach" and not equals:
            detach = True
        elif name in ("--project-root", "--transcript", "--session-id") and (equals or rest):
            given[name] = value if equals else rest.pop(0)
        else:
            wrong = name
    flags = Flags(
        detach=detach,
        project_root=given.get("--project-root", ""),
        transcript=given.get("--transcript", ""),
        session_id=given.get("--session-id", ""),
    )
    return flags, wrong


def _stdin() -> bytes:
    """What stands on stdin: b"" from a terminal, a closed stdin, or a pipe that gives nothing for 5 s."""
    try:
        fd = sys.stdin.fileno() if sys.stdin else -1
        if fd < 0 or os.isatty(fd):
            return b""
        return _read_payload(fd)
    except (OSError, ValueError):
        return b""


def _read_payload(fd: int) -> bytes:
    import select
    from time import monotonic

    from decision_hooks.hosts import event as hook_event

    data, quiet, until = b"", 0.0, monotonic() + _STDIN_MOST
    while len(data) < _MOST_PAYLOAD and monotonic() < until:
        if select.select([fd], [], [], _STDIN_STEP)[0]:
            block = os.read(fd, 1 << 16)
            if not block:
                break
            data, quiet = data + block, 0.0
            continue
        quiet += _STDIN_STEP
        if quiet >= _STDIN_SECONDS or (data.rstrip().endswith(b"}") and hook_event.read_payload(data)):
            break
    return data


def _end_on_signals() -> None:
    """SIGTERM and SIGHUP end the run in order: backends are ended, nothing is left half done."""
    import signal

    numbers = (signal.SIGTERM, signal.SIGHUP)

    def leave(number: int, frame: object) -> None:
        for one in numbers:  # a second one must not break into the ending
            signal.signal(one, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for number in numbers:
        signal.signal(number, leave)
