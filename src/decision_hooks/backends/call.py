"""The LLM programs that we call: how they are found, their exact command lines, and a call."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from decision_hooks.backends.answers import Answer, read_result
from decision_hooks.settings import GUARDS, CaptureSettings, NormalizeSettings, capture_settings
from decision_hooks.system import process

WORKSPACE = "{workspace}"  # stands in an argv for the empty folder of the call

_PI_CAPTURE = (
    "-p --no-session --mode text --no-tools --no-context-files --no-extensions --no-skills "
    "--no-prompt-templates --offline"
).split()
_PI_NORMALIZE = "--no-prompt-templates --no-tools --no-session --no-context-files --no-skills".split()
_CLAUDE_HERMETIC = (
    "--safe-mode",
    "--tools",
    "",
    "--no-session-persistence",
    "--strict-mcp-config",
    "--output-format",
    "json",
)
_NO_HOOKS = ("--settings", '{"disableAllHooks":true}')
_LOCAL_PI = (
    "node_modules/.bin/pi",
    "node_modules/@7n/rules/node_modules/.bin/pi",
    "node_modules/@nitra/cursor/node_modules/.bin/pi",
)
_USUAL_PLACES = (
    "~/.local/bin",
    "~/.npm-global/bin",
    "~/.bun/bin",
    "~/.volta/bin",
    "~/.claude/local",
    "/opt/homebrew/bin",
    "/usr/local/bin",
)
# What ties a child to the session that called us. Never login or provider variables.
_SESSION_TIES = frozenset(
    "CLAUDECODE CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_SESSION_ID CLAUDE_CODE_ENTRYPOINT CLAUDE_PROJECT_DIR "
    "CLAUDE_PID CLAUDE_EFFORT CLAUDE_CODE_SESSION_ATTENDED "
    "CLAUDE_CODE_CHILD_NOTES_DIR CLAUDE_PLUGIN_ROOT CLAUDE_PLUGIN_DATA CLAUDE_ENV_FILE "
    "CLAUDE_CODE_SSE_PORT AI_AGENT CURSOR_PROJECT_DIR CURSOR_TRANSCRIPT_PATH CURSOR_TRACE_ID CURSOR_AGENT "
    "PI_CODING_AGENT CODEX_SANDBOX PWD OLDPWD".split()
)
_OLD_PROGRAM = re.compile(
    r"unknown (?:option|argument|flag)|unrecognized (?:option|argument)|unexpected argument", re.I
)


class Form(NamedTuple):
    """One way to call a program; ``in_root``: in the project's root, not in an empty folder."""

    argv: tuple[str, ...]
    in_root: bool = False


class Backend(NamedTuple):
    """A program that can be called; later forms are for one that is too old for an earlier form's flags."""

    name: str  # pi | claude | cursor-agent
    model: str
    label: str  # as the log names it
    forms: tuple[Form, ...]


class Absent(NamedTuple):
    """A backend that cannot be called, and why, in the words of the log."""

    reason: str


def find_program(name: str, root: str, environ: Mapping[str, str]) -> str:
    """The path of ``pi``, ``claude`` or ``cursor-agent``; "" when it is nowhere."""
    import shutil

    if name == "pi":
        for place in _LOCAL_PI:
            path = os.path.join(root, place)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return path
    home = environ.get("HOME", "")
    usual = [p.replace("~", home, 1) for p in _USUAL_PLACES if home or not p.startswith("~")]
    for path in (environ.get("PATH", os.defpath), os.pathsep.join(usual)):
        found = shutil.which(name, path=path)
        if found and os.path.isabs(found):
            return found
    return ""


def capture_backend(
    name: str, settings: CaptureSettings, root: str, environ: Mapping[str, str]
) -> Backend | Absent:
    """The backend of that name for capture; the program is looked for before the model."""
    program = find_program(name, root, environ)
    if name == "pi":
        if not program:
            return Absent("pi not found")
        if not settings.pi_model:
            return Absent("no local policy model configured")
        argv = (program, *_PI_CAPTURE, "--model", settings.pi_model)
        return Backend("pi", settings.pi_model, "pi", (Form(argv),))
    if name == "claude":
        return _claude(program, settings.claude_model)
    return _cursor(program, settings.cursor_model)


def normalize_backend(
    name: str, settings: NormalizeSettings, root: str, environ: Mapping[str, str]
) -> Backend | Absent:
    """The backend of that name for normalisation."""
    program = find_program(name, root, environ)
    if name == "pi":
        if not program:
            return Absent("pi not found")
        argv = (program, "-p", "--model", settings.pi_model, *_PI_NORMALIZE)
        seed = (program, "-p", "--model", settings.pi_model, "--no-prompt-templates", "--no-tools")
        return Backend("pi", settings.pi_model, "pi", (Form(argv), Form(seed)))
    if name == "claude":
        return _claude(program, settings.claude_model)
    return _cursor(program, settings.cursor_model)


def local_backend(model: str, root: str, environ: Mapping[str, str]) -> Backend | Absent:
    """``pi`` with the flags of capture, whatever the variables of capture say, for the questions of ``local``."""
    settings = capture_settings({"N_LOCAL_MIN_MODEL": model})
    return capture_backend("pi", settings, root, environ)


def _claude(program: str, model: str) -> Backend | Absent:
    if not program:
        return Absent("claude CLI not found")
    plain = (program, "-p", "--model", model)
    forms = (Form((*plain, *_CLAUDE_HERMETIC)), Form((*plain, *_NO_HOOKS)), Form(plain))
    return Backend("claude", model, "claude CLI", forms)


def _cursor(program: str, model: str) -> Backend | Absent:
    if not program:
        return Absent("cursor-agent CLI not found")
    plain = (program, "-p", "--mode", "ask", "--output-format", "text")
    full = (*plain, "--trust", "--workspace", WORKSPACE, "--model", model)
    return Backend(
        "cursor-agent",
        model,
        "cursor-agent CLI",
        (Form(full), Form((*plain, "--model", model), in_root=True)),
    )


def child_environ(environ: Mapping[str, str], program: str) -> dict[str, str]:
    """The user's environment with both guards, without what ties the child to the calling session."""
    env = {
        name: value
        for name, value in environ.items()
        if name not in _SESSION_TIES and not name.startswith("CLAUDE_CODE_MESSAGING_")
    }
    env[GUARDS[0]] = env[GUARDS[1]] = "1"
    env["CLAUDE_CODE_DISABLE_ATTACHMENTS"] = "1"
    env["CLAUDE_CODE_MAX_RETRIES"] = "2"
    folder = os.path.dirname(program)
    path = env.get("PATH", os.defpath)
    if folder and folder not in path.split(os.pathsep):  # `node` lies beside it, where the PATH is minimal
        env["PATH"] = path + os.pathsep + folder
    return env


def ask(
    backend: Backend,
    prompt: str,
    *,
    root: str,
    environ: Mapping[str, str],
    timeout: float,
    is_answer: Callable[[str], bool],
    stopped: Callable[[], bool] | None = None,
) -> Answer:
    """Call a backend with the prompt on stdin; an error is never content.

    ``is_answer`` tells of a short text that looks like an error whether it holds what was asked for. A call from
    a thread ends early when ``stopped`` says so.
    """
    import tempfile

    env = child_environ(environ, backend.forms[0].argv[0])
    data = prompt.encode("utf-8", "replace")
    left = timeout
    answer = Answer("", "start", "no form")
    for form in backend.forms:
        with tempfile.TemporaryDirectory(prefix="decision-hooks-") as empty:
            argv = [empty if word == WORKSPACE else word for word in form.argv]
            where = root if form.in_root else empty
            result = process.run(argv, cwd=where, env=env, timeout=left, stdin=data, stopped=stopped)
        left -= result.seconds
        answer = read_result(result, is_answer)
        if not answer.trouble or left <= 1 or not _too_old(result):
            break
    return answer._replace(seconds=timeout - left)


def _too_old(result: process.Result) -> bool:
    return bool(
        result.status
        and not result.timed_out
        and _OLD_PROGRAM.search(result.stderr[-4096:].decode("utf-8", "replace"))
    )
