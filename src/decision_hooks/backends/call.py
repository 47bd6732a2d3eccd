"""Finds a backend's program and calls it, in an environment without ties to the session that called us."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from decision_hooks.backends import flags
from decision_hooks.backends.answers import MOST_OUTPUT, Answer, read_result
from decision_hooks.backends.base import MODEL, WORKSPACE, Backend, Card, Form
from decision_hooks.backends.table import LOCAL_CARD
from decision_hooks.errors import BackendError
from decision_hooks.settings import GUARDS
from decision_hooks.system import git, process
from decision_hooks.system.scratch import empty_folder

_USUAL_PLACES = (
    "~/.local/bin ~/.npm-global/bin ~/.bun/bin ~/.volta/bin ~/.claude/local /opt/homebrew/bin /usr/local/bin"
).split()
# What ties a child to the session that called us. Never login or provider variables.
_SESSION_TIES = frozenset(
    "CLAUDECODE CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_SESSION_ID CLAUDE_CODE_ENTRYPOINT CLAUDE_PROJECT_DIR "
    "CLAUDE_PID CLAUDE_EFFORT CLAUDE_CODE_SESSION_ATTENDED "
    "CLAUDE_CODE_CHILD_NOTES_DIR CLAUDE_PLUGIN_ROOT CLAUDE_PLUGIN_DATA CLAUDE_ENV_FILE "
    "CLAUDE_CODE_SSE_PORT AI_AGENT CURSOR_PROJECT_DIR CURSOR_TRANSCRIPT_PATH CURSOR_TRACE_ID CURSOR_AGENT "
    "PI_CODING_AGENT CODEX_SANDBOX PWD OLDPWD".split()
)


def find_program(card: Card, root: str, environ: Mapping[str, str]) -> str:
    """The path of a backend's program; "" when it is nowhere. None that the repository brought."""
    return git.find(card.name, _places(card, root, environ), root, environ)


def passed_over(card: Card, root: str, environ: Mapping[str, str]) -> str:
    """The first program of a backend that is not used because the repository brought it, "" when there is none."""
    found = process.on_path(card.name, _places(card, root, environ), lambda path: True)
    return found if found and not git.may_run(root, found, environ) else ""


def _places(card: Card, root: str, environ: Mapping[str, str]) -> list[str]:
    home = environ.get("HOME", "")
    own = [os.path.dirname(os.path.join(root, path)) for path in card.project_paths]
    usual = [p.replace("~", home, 1) for p in _USUAL_PLACES if home or not p.startswith("~")]
    return [*own, *git.search_path(environ), *usual]


def find_backend(
    card: Card, forms: tuple[Form, ...], model: str, root: str, environ: Mapping[str, str]
) -> Backend:
    """A backend with its program and model; raises ``BackendError`` with the reason when either is missing."""
    program = find_program(card, root, environ)
    if not program:
        raise BackendError(card.absent)
    if not model:
        raise BackendError(card.no_model)
    return Backend(card.name, model, card.label, program, forms)


def local_backend(model: str, root: str, environ: Mapping[str, str]) -> Backend:
    """The backend that answers the questions of the local pipeline; raises ``BackendError``."""
    found = find_backend(LOCAL_CARD, LOCAL_CARD.capture, model, root, environ)
    return found._replace(setting="N_LOCAL_MIN_MODEL")


def child_environ(environ: Mapping[str, str], program: str, root: str = "") -> dict[str, str]:
    """The user's environment with both guards, without what ties the child to the calling session.

    Its search path has no relative folders, and none of the project at ``root``: a script would start what lies
    there in the place of ``node``.
    """
    env = {
        name: value
        for name, value in environ.items()
        if name not in _SESSION_TIES and not name.startswith("CLAUDE_CODE_MESSAGING_")
    }
    env[GUARDS[0]] = env[GUARDS[1]] = "1"
    env["CLAUDE_CODE_DISABLE_ATTACHMENTS"] = "1"
    env["CLAUDE_CODE_MAX_RETRIES"] = "2"
    folder = os.path.dirname(program)
    path = [
        item
        for item in git.search_path(env)
        if os.path.isabs(item) and not (root and git.is_in_project(root, os.path.realpath(item), environ))
    ]
    if folder and folder not in path:  # `node` lies beside it, where the PATH is minimal
        path.append(folder)
    return {**env, "PATH": os.pathsep.join(path) or os.defpath}


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

    A short text that looks like an error counts as a reply when ``is_answer`` says so. A call from a thread ends
    early when ``stopped`` says so.
    """
    env = child_environ(environ, backend.program, root)
    data = prompt.encode("utf-8", "replace")
    left = timeout
    known = old = flags.lacking(backend.program, environ)
    while True:
        form = known.form_of(backend.forms)
        words = form.without(known.flags)
        try:
            with empty_folder(environ) as empty:
                values = {MODEL: backend.model, WORKSPACE: empty}
                argv = [backend.program, *(values.get(word, word) for word in words)]
                result = process.run(
                    argv,
                    cwd=root if form.in_root else empty,
                    env=env,
                    timeout=left,
                    stdin=data,
                    stopped=stopped,
                    most=MOST_OUTPUT,
                )
        except OSError as error:  # no folder for temporary files
            return Answer("", "start", str(error), seconds=timeout - left)
        left -= result.seconds
        answer = read_result(result, is_answer)
        further = flags.after(known, backend.forms, result) if answer.trouble and left > 1 else None
        if further is None:
            break
        known = further
    if answer.trouble == "model" and backend.setting:
        answer = answer._replace(detail=f"set {backend.setting} (now {backend.model}): {answer.detail}")
    if known != old and not answer.trouble:
        flags.remember(backend.program, environ, known)
        missing = " ".join(flags.missing(backend.forms, known))
        answer = answer._replace(note=f"{backend.name} does not know {missing}: {flags.NOT_CLOSED}")
    return answer._replace(seconds=timeout - left)
