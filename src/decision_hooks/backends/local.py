"""Calls the local backend: the user's command or our own pipeline, which prints operations."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from decision_hooks.backends.answers import MOST_OUTPUT, Answer, read_result
from decision_hooks.backends.call import child_environ, local_backend
from decision_hooks.errors import BackendError
from decision_hooks.settings import NormalizeSettings
from decision_hooks.system import process
from decision_hooks.system.scratch import empty_folder
from decision_hooks.system.workplace import Workplace

# Never ``-m``: it would look for the package in the working directory, the user's root, first.
_OWN_PIPELINE = (
    "import sys\n"
    "if sys.path[:1] == ['']: del sys.path[0]\n"
    "from decision_hooks.cli import normalize_main\n"
    "sys.exit(normalize_main())"
)


def ask(
    at: Workplace,
    settings: NormalizeSettings,
    *,
    batch: list[str],
    clean: tuple[str, ...],
    on_stderr: Callable[[bytes], None] | None,
) -> Answer:
    """Run the command of the ``local`` backend (our own pipeline when it is ""), which prints operations.

    It runs in the root and reads the names of drafts and records from two files, one name a line.
    """
    try:
        words = _words(at, settings)
    except BackendError as error:
        return Answer("", "start", str(error))
    root, env = at.project.root, child_environ(at.world.environ, "")
    try:
        with empty_folder(env) as folder:
            paths = [os.path.join(folder, name) for name in ("batch", "clean")]
            for path, names in zip(paths, (batch, clean), strict=True):
                with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
                    stream.writelines(f"{name}\n" for name in names)
            argv = [*words, "--batch", paths[0], "--clean", paths[1], "--adr-dir", at.project.adr]
            result = process.run(
                argv, cwd=root, env=env, timeout=settings.timeout, on_stderr=on_stderr, most=MOST_OUTPUT
            )
    except OSError as error:  # no folder for temporary files, or no room in it
        return Answer("", "start", str(error))
    answer = read_result(result, lambda text: text.lstrip()[:1] in ("{", "["))
    answer = answer._replace(seconds=result.seconds)
    return answer if settings.local_cmd else _with_note(answer, result)


def _words(at: Workplace, settings: NormalizeSettings) -> list[str]:
    import shlex

    root = at.project.root
    if not settings.local_cmd:
        local_backend(settings.local_model, root, at.world.environ)
        return [sys.executable, "-c", _OWN_PIPELINE, "local-pipeline", "--project-root", root]
    try:
        words = shlex.split(settings.local_cmd)
    except ValueError as error:
        raise BackendError(f"ADR_NORMALIZE_LOCAL_CMD: {error}") from None
    if not words:
        raise BackendError("ADR_NORMALIZE_LOCAL_CMD is empty")
    return words


def _with_note(answer: Answer, result: process.Result) -> Answer:
    """The answer with the last line of our pipeline's stderr as its note, and a failure with the line before."""
    lines = result.stderr[-4096:].decode("utf-8", "replace").strip().splitlines()
    note = lines.pop() if lines and lines[-1].startswith("local: ") else ""
    failed = answer.trouble not in ("", "timeout", "start") and lines
    return answer._replace(note=note, detail=lines[-1] if failed else answer.detail)
