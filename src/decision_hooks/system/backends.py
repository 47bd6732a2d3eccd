"""The LLM programs that we call: how they are found, their exact command lines, what their answers mean."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from decision_hooks.settings import GUARDS, CaptureSettings, NormalizeSettings, capture_settings
from decision_hooks.system import process

WORKSPACE = "{workspace}"  # stands in an argv for the empty folder of the call
SPENT_NOTHING = ("credit", "login", "rate", "start")  # troubles that cost no interval of normalisation
BREAKING = ("credit", "login", "rate")  # troubles that open the circuit breaker

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
_SHORT = 300  # characters: a longer reply is never taken for an error text
_TROUBLES = (
    (
        "credit",
        r"credit balance is too low|insufficient[ _](?:funds|credits?|quota)|billing[ _]error|payment required"
        r"|exceeded your current quota|\b402\b",
    ),
    (
        "login",
        r"not logged in|please run /login|/login\b|invalid (?:x-)?api[ _-]?key|invalid_api_key|authentication[ _]error"
        r"|authentication required|not authenticated|no api key (?:found|for)|oauth token|token (?:has )?expired"
        r"|unauthori[sz]ed|\b401\b",
    ),
    (
        "rate",
        r"rate[ _-]?limit|usage limit|session limit|weekly limit|5-hour limit|limit (?:will )?reset|limit reached"
        r"|hit your (?:\w+ )?limit|out of (?:extra )?usage|too many requests|overloaded|\b(?:429|529)\b|quota",
    ),
    (
        "failed",
        r"prompt is too long|^execution error\b|workspace trust required|^api error\b|^error\b|connection error"
        r"|request timed out|internal server error|unknown option|unrecognized arguments|model not found"
        r"|no model(?:s)? (?:selected|available|configured)|failed to authenticate|context[ _]length",
    ),
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


class Answer(NamedTuple):
    """What a call gave: ``trouble`` is "" or credit, login, rate, start, timeout, failed."""

    text: str
    trouble: str = ""
    detail: str = ""  # the error's own first words, not masked
    cost: float | None = None  # US dollars, where the program tells
    seconds: float = 0.0
    note: str = ""  # what the local pipeline says of its work, one line


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


def read_result(result: process.Result, is_answer: Callable[[str], bool]) -> Answer:
    """What the end of a program means: its text, or the trouble it had."""
    if result.status is None:
        return Answer("", "start", result.stderr.decode("utf-8", "replace"))
    text = result.stdout.decode("utf-8-sig", "replace")
    if result.timed_out:
        return Answer("", "timeout", f"ended after {result.seconds:.0f} s")
    envelope = _envelope(text)
    cost = None
    failed = result.status != 0
    if envelope is not None:
        inner = envelope.get("result")
        failed = failed or envelope.get("is_error") is True or not isinstance(inner, str)
        text = _words(envelope) if failed else str(inner)
        spent = envelope.get("total_cost_usd")
        cost = float(spent) if isinstance(spent, (int, float)) and not isinstance(spent, bool) else None
    if failed:
        words = text.strip() or result.stderr.decode("utf-8", "replace").strip()
        both = text[:2000] + "\n" + result.stderr[-4000:].decode("utf-8", "replace")
        return Answer("", known_trouble(both) or "failed", words or f"exit {result.status}", cost)
    stripped = text.strip()
    if len(stripped) <= _SHORT and not is_answer(stripped):
        trouble = known_trouble(stripped)
        if trouble:
            return Answer("", trouble, stripped, cost)
    return Answer(text, cost=cost)


def known_trouble(text: str) -> str:
    """The kind of trouble that a text of a backend speaks of, "" when it is none that we know."""
    for kind, pattern in _TROUBLES:
        if re.search(pattern, text, re.IGNORECASE | re.MULTILINE):
            return kind
    return ""


def _words(envelope: dict[str, object]) -> str:
    """What a failed result object tells: its result, and whatever else names an error."""
    given = [envelope.get(name) for name in ("result", "error", "errors", "api_error_status", "subtype")]
    told = [words for words in given if words not in (None, "", "success")]
    return "\n".join(
        words if isinstance(words, str) else json.dumps(words, ensure_ascii=False) for words in told
    )


def _envelope(text: str) -> dict[str, object] | None:
    """The result object of ``--output-format json``; None for plain text, operations included.

    Notices may stand on lines before it.
    """
    for candidate in (text, text.rstrip().rpartition("\n")[2]):
        found = _result_object(candidate)
        if found is not None:
            return found
    return None


def _result_object(text: str) -> dict[str, object] | None:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list) and value:
        value = value[-1]
    if isinstance(value, dict) and "is_error" in value and ("result" in value or "subtype" in value):
        return value
    return None


# -- the command of the local backend

# Never ``-m``: it would look for the package in the working directory, the user's root, first.
_OWN_PIPELINE = (
    "import sys\n"
    "if sys.path[:1] == ['']: del sys.path[0]\n"
    "from decision_hooks.cli import normalize_main\n"
    "sys.exit(normalize_main())"
)


def ask_local(
    command: str,
    model: str,
    *,
    batch: list[str],
    clean: tuple[str, ...],
    adr: str,
    root: str,
    environ: Mapping[str, str],
    timeout: float,
    on_stderr: Callable[[bytes], None] | None,
) -> Answer:
    """Run the command of the ``local`` backend (our own pipeline when it is ""), which prints operations.

    It works in the root, with the names of drafts and records in two files, one a line.
    """
    import tempfile

    words = _local_words(command, model, root, environ)
    if isinstance(words, Absent):
        return Answer("", "start", words.reason)
    env = child_environ(environ, "")
    with tempfile.TemporaryDirectory(prefix="decision-hooks-") as folder:
        paths = [os.path.join(folder, name) for name in ("batch", "clean")]
        for path, names in zip(paths, (batch, clean), strict=True):
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
                stream.writelines(f"{name}\n" for name in names)
        argv = [*words, "--batch", paths[0], "--clean", paths[1], "--adr-dir", adr]
        result = process.run(argv, cwd=root, env=env, timeout=timeout, on_stderr=on_stderr)
    answer = read_result(result, lambda text: text.lstrip()[:1] in ("{", "["))._replace(
        seconds=result.seconds
    )
    return answer if command else _with_note(answer, result)


def _local_words(command: str, model: str, root: str, environ: Mapping[str, str]) -> list[str] | Absent:
    import shlex

    if not command:
        absent = local_backend(model, root, environ)
        if isinstance(absent, Absent):
            return absent
        return [sys.executable, "-c", _OWN_PIPELINE, "local-pipeline", "--project-root", root]
    try:
        words = shlex.split(command)
    except ValueError as error:
        return Absent(f"ADR_NORMALIZE_LOCAL_CMD: {error}")
    return words or Absent("ADR_NORMALIZE_LOCAL_CMD is empty")


def _with_note(answer: Answer, result: process.Result) -> Answer:
    """The answer with the last line of our pipeline's stderr, and of its failure the line before as the reason."""
    lines = result.stderr[-4096:].decode("utf-8", "replace").strip().splitlines()
    note = lines.pop() if lines and lines[-1].startswith("local: ") else ""
    failed = answer.trouble not in ("", "timeout", "start") and lines
    return answer._replace(note=note, detail=lines[-1] if failed else answer.detail)
