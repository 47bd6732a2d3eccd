"""Checks of the backends: which are found, their versions and models, and, with ``--online``, their logins."""

from __future__ import annotations

import os
from collections.abc import Mapping

from decision_hooks.backends import call, flags, ledger, table
from decision_hooks.backends.base import Backend
from decision_hooks.backends.choice import BackendChoice, capture_choice, normalize_choice
from decision_hooks.commands.doctor.check import FAIL, OFF, OK, WARN, Check, Subject
from decision_hooks.commands.hook_environ import API_KEY
from decision_hooks.commands.report import minute, shortened
from decision_hooks.privacy import mask
from decision_hooks.system import process
from decision_hooks.system.runlog import iso_time

_SECONDS = 15.0  # for a program to print its version
_CALL_SECONDS = 60.0
_QUESTION = "Reply with the two letters OK and nothing else.\n"


def backend_checks(subject: Subject, *, online: bool) -> list[Check]:
    """The backends of both programs, the other programs that are found, and why calls are paused."""
    root, environ = subject.at.project.root, subject.at.world.environ
    capture = capture_choice(subject.capture, root, environ) if subject.capture else None
    normalize = normalize_choice(subject.normalize, root, environ) if subject.normalize else None
    chosen = {
        choice.backend._replace(setting="") for choice in (capture, normalize) if choice and choice.backend
    }
    ready = ", ".join(card.name for card in table.CARDS if not card.no_model)
    checks = [
        _choice_check(
            "capture with",
            capture,
            f"set CAPTURE_DECISIONS_BACKEND to {ready} or auto, or to choices for no model; "
            "for pi, set N_LOCAL_MIN_MODEL",
        ),
        _choice_check(
            "normalize with",
            normalize,
            f"install {_programs('or')}, or set ADR_NORMALIZE_BACKEND=rules",
        ),
        _programs_check(subject),
        _key_check(subject, any(backend.name == "claude" for backend in chosen)),
        _breaker_check(subject),
    ]
    if not online:
        return [*checks, Check("login", OFF, "not asked", "capture-decisions doctor --online")]
    return checks + [_login_check(subject, backend) for backend in sorted(chosen)]


def _choice_check(name: str, choice: BackendChoice | None, fix: str) -> Check:
    if choice is None:
        return Check(name, OFF, "a setting is bad")
    if not choice.name:
        return Check(name, WARN, f"nothing: {', '.join(choice.reasons)}", fix)
    passed = f" (passed over: {', '.join(choice.reasons)})" if choice.reasons else ""
    return Check(name, OK, choice.label + passed)


def _programs_check(subject: Subject) -> Check:
    root, environ = subject.at.project.root, subject.at.world.environ
    programs, brought, old = [], [], []
    for card in table.CARDS:
        path = call.find_program(card, root, environ)
        if path:
            programs.append(f"{card.name} {_version(path, root, environ)} ({path})")
            missing = flags.missing(card.capture, flags.lacking(path, environ))
            if missing:
                old.append(f"{card.name} does not know {' '.join(missing)}: {flags.NOT_CLOSED}")
        unused = call.passed_over(card, root, environ)
        if unused:
            brought.append(f"{unused} is not run: git tracks it, or does not know the project yet")
    if not programs:
        reason = "; ".join((f"none of {_programs('and')} is found", *brought))
        return Check("programs", WARN, reason, "install one of them")
    if brought or old:
        fixes = ["if it is yours, take it out of git, or install it elsewhere"] * bool(brought)
        fixes += ["update the program"] * bool(old)
        return Check("programs", WARN, "; ".join((", ".join(programs), *brought, *old)), "; ".join(fixes))
    return Check("programs", OK, ", ".join(programs))


def _programs(word: str) -> str:
    names = table.names()
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def _version(path: str, root: str, environ: Mapping[str, str]) -> str:
    env = call.child_environ(environ, path, root)
    result = process.run([path, "--version"], cwd=os.sep, env=env, timeout=_SECONDS)
    output = (result.stdout.strip() or result.stderr.strip()).decode("utf-8", "replace")
    if result.status != 0:
        return f"version unknown: {shortened(output, 80) or 'no output'}"
    return shortened(output.splitlines()[-1] if output else "version unknown", 60)


def _key_check(subject: Subject, claude: bool) -> Check:
    if not subject.at.world.environ.get(API_KEY):
        return Check("api key", OFF, f"{API_KEY} is not set")
    if not claude:
        return Check("api key", OFF, f"{API_KEY} is set, claude is not called")
    reason = f"{API_KEY} is set: claude bills it and not your login"
    return Check(
        "api key", WARN, reason, f"unset {API_KEY} where the agent is started, if the login is meant"
    )


def _breaker_check(subject: Subject) -> Check:
    breakers = ledger.breakers(subject.at.project, subject.at.world.now())
    if not breakers:
        return Check("breaker", OK, "no backend is paused")
    paused = [
        f"{breaker.name} until {minute(iso_time(breaker.until))}: {breaker.why}" for breaker in breakers
    ]
    fix = "mend the cause; capture-decisions doctor --online closes it when a call succeeds"
    return Check("breaker", WARN, "; ".join(paused), fix)


def _login_check(subject: Subject, backend: Backend) -> Check:
    answer = call.ask(
        backend,
        _QUESTION,
        root=subject.at.project.root,
        environ=subject.at.world.environ,
        timeout=_CALL_SECONDS,
        is_answer=lambda text: text.strip().strip(".").upper() == "OK",
    )
    if os.path.isdir(subject.at.project.state):
        ledger.account(subject.at, backend, len(_QUESTION), answer)
    name = f"login {backend.name}"
    if answer.trouble:
        reason = shortened(mask.mask(answer.detail[:2000]).text, 160)
        return Check(name, FAIL, f"{answer.trouble}: {reason}", _cure(backend.name, answer.trouble))
    if not answer.text.strip():
        return Check(name, FAIL, "an empty answer", f"try {backend.name} by hand")
    return Check(name, OK, f"{backend.model} answered in {answer.seconds:.1f} s")


def _cure(name: str, trouble: str) -> str:
    if trouble == "credit":
        return f"add credit to the account of {name}, or choose another backend"
    if trouble == "login":
        return next(card.login for card in table.CARDS if card.name == name)
    if trouble == "model":
        return f"set the variable to a model that {name} has"
    if trouble == "network":
        return "check the network, the proxy, or the server of the model"
    return "wait for the limit to pass" if trouble == "rate" else f"try {name} by hand"
