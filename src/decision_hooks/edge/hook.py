"""A stop at the border: read the payload, find the project, run the story; nothing fails loudly."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from decision_hooks.edge.world import cwd, end_on_signals, real_world

if TYPE_CHECKING:
    from decision_hooks.hosts.event import HookEvent
    from decision_hooks.system.runlog import RunLog
    from decision_hooks.system.world import World


def run(program: str, argv: Sequence[str], story: str, *, speaks: bool) -> int:
    """One stop; the exit code is 0 whatever happens.

    ``argv``: what follows the words of the hook. ``speaks``: the story may print to stdout, else it stays empty.
    """
    log: list[RunLog] = []
    try:
        end_on_signals()
        _run(program, argv, story, speaks, log)
    except (SystemExit, KeyboardInterrupt):
        pass
    except BaseException as error:  # noqa: BLE001 - the boundary of the program
        _fault(program, log, error)
    if log and log[0].last and sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"{program}: {log[0].last}\n")
    return 0


def _run(program: str, argv: Sequence[str], story: str, speaks: bool, opened: list[RunLog]) -> None:
    from decision_hooks.edge import stdin
    from decision_hooks.hosts.event import read_event, read_payload
    from decision_hooks.system import project
    from decision_hooks.system.runlog import log_of

    world = real_world(program)
    if not speaks:
        world = world._replace(out=lambda line: None)
    flags, unknown = _flags(argv)
    if argv and argv[0] in ("-h", "--help", "--version"):
        from decision_hooks.commands import dispatch

        world.err(dispatch.usage(program) if argv[0] != "--version" else dispatch.version(program))
        return
    payload = {} if unknown else read_payload(stdin.read())
    event = read_event(payload, flags, world.environ, cwd=world.cwd, git_top=project.git_top)
    root = project.first_folder(event.root_candidates)
    if not root:  # the working directory was removed and nothing names another: no folder for a log
        return
    log = log_of(root, program, world.now)
    opened.append(log)
    if unknown:
        log.skip("unknown flag", f"unknown flag {unknown}: nothing was done")
    else:
        _STORIES[story](world, event, root, log, "--detach" in flags)


def _capture(world: World, event: HookEvent, root: str, log: RunLog, detach: bool) -> None:
    from decision_hooks.capture import queue
    from decision_hooks.errors import DecisionHooksError
    from decision_hooks.settings import capture_settings
    from decision_hooks.system.project import project_at
    from decision_hooks.system.workplace import Workplace

    try:
        settings = capture_settings(world.environ)
        at = Workplace(world, project_at(root, settings.adr_dir), log)
        run = queue.CaptureRun(at, settings)
        entered = queue.enter(run, event)
    except DecisionHooksError as error:
        log.skip(error.reason, str(error))
        return
    if entered is None:
        return
    entry = entered

    def job() -> None:
        from decision_hooks.capture import worker

        worker.work(run, entry, foreground=not detach)

    _now_or_detached(world, log, detach, job)


def _normalize(world: World, event: HookEvent, root: str, log: RunLog, detach: bool) -> None:
    from decision_hooks.errors import DecisionHooksError
    from decision_hooks.normalize import hook

    try:
        due = hook.gates(world, root, log)
    except DecisionHooksError as error:
        log.skip(error.reason, str(error))
        return
    if due is None:
        return
    ready = due
    _now_or_detached(world, log, detach, lambda: hook.run(ready), keep=(ready.lock.fd,))


_STORIES = {"capture": _capture, "normalize": _normalize}  # by their names in ``cli.HOOKS``


def _now_or_detached(
    world: World, log: RunLog, detach: bool, job: Callable[[], None], keep: tuple[int, ...] = ()
) -> None:
    """Do the job here, or in a detached worker that keeps the file descriptors of ``keep`` open."""
    from decision_hooks.errors import DecisionHooksError

    def guarded() -> None:
        try:
            job()
        except DecisionHooksError as error:
            log.skip(error.reason, str(error))

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
    """Log the exception and its traceback; errors while logging are swallowed."""
    try:
        import time
        import traceback

        from decision_hooks.system.runlog import RunLog

        to = log[0] if log else RunLog(os.path.join(cwd(), ".claude", "hooks", f"{program}.log"), time.time)
        to.write(f"fault: {type(error).__name__}: {error}", traceback.format_exc())
    except Exception:  # noqa: BLE001, S110 - the last boundary: nobody is left to hear of it
        pass


def _flags(argv: Sequence[str]) -> tuple[dict[str, str], str]:
    """The flags of hook mode by name, and the first word that is none of them, "" if all are known."""
    flags: dict[str, str] = {}
    rest, unknown = list(argv), ""
    while rest and not unknown:
        name, equals, value = rest.pop(0).partition("=")
        if name == "--detach" and not equals:
            flags[name] = "yes"
        elif name in ("--project-root", "--transcript", "--session-id") and (equals or rest):
            flags[name] = value if equals else rest.pop(0)
        else:
            unknown = name
    return flags, unknown
