"""``install`` and ``uninstall``: the pair registered with the agents of a project, and all taken back."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence

from decision_hooks.backends.choice import CAPTURE_BACKENDS, capture_choice
from decision_hooks.commands.options import parser, project_of
from decision_hooks.errors import SettingError
from decision_hooks.hosts.entry_line import Host
from decision_hooks.install import (
    merge,
    plan,
    write,
)
from decision_hooks.install import (
    script as own_script,
)
from decision_hooks.install.hosts import hosts
from decision_hooks.install.plan import Step
from decision_hooks.settings import capture_settings
from decision_hooks.system.project import Project
from decision_hooks.system.world import World


def run(
    argv: Sequence[str],
    world: World,
    describe_backend: Callable[[str, Mapping[str, str]], str] | None = None,
) -> int:
    """Run ``install`` or ``uninstall``: 0 done, 1 a file was left alone; bad usage exits with 2.

    ``describe_backend`` is given the project's root and the environment that its hooks will have.
    """
    known = hosts()
    options = _options(argv, world, known)
    project = project_of(world, options.project_root)
    if argv[0] == "uninstall":
        return _uninstall(world, project, options, known)
    return _install(world, project, options, known, describe_backend or backend_line)


def backend_line(root: str, environ: Mapping[str, str]) -> str:
    """One sentence: which backend captures with which model, or that none does and what to set."""
    try:
        settings = capture_settings(environ)
    except SettingError as error:
        return f"Nothing captures: {error}"
    choice = capture_choice(settings, root, environ)
    if choice.name == "choices":
        return "Captures with choices: answered questions and judged plans, no model."
    if choice.name:
        return f"Captures with {choice.label}."
    reasons = ", ".join(choice.reasons)
    if settings.backend not in CAPTURE_BACKENDS:
        return f"Nothing captures: {reasons}"
    return (
        f"No backend captures yet ({reasons}): set CAPTURE_DECISIONS_BACKEND, "
        "or install with --backend auto, or with --backend choices to use no model."
    )


def _options(argv: Sequence[str], world: World, known: Mapping[str, Host]) -> argparse.Namespace:
    taking_back = argv[0] == "uninstall"
    summary = "Take back what install wrote." if taking_back else "Register both programs as Stop hooks."
    made = parser(world, argv, summary)
    for host in known.values():
        made.add_argument(f"--{host.name}", action="store_true", help=host.title)
    made.add_argument("--all", action="store_true", help="every host")
    made.add_argument("--dry-run", action="store_true", help="show the changes, write nothing")
    if not taking_back:
        made.add_argument(
            "--backend", choices=CAPTURE_BACKENDS, default="", help="who drafts, for Claude Code"
        )
    return made.parse_args(list(argv[1:]))


def _named(options: argparse.Namespace, known: Mapping[str, Host]) -> list[Host]:
    return [host for name, host in known.items() if options.all or getattr(options, name)]


def _install(
    world: World,
    project: Project,
    options: argparse.Namespace,
    known: Mapping[str, Host],
    describe: Callable[[str, Mapping[str, str]], str],
) -> int:
    chosen = _named(options, known)
    if not chosen:
        used = plan.in_use(project.root, known.values(), world.environ) or ["claude"]
        chosen = [known[name] for name in used]
    steps = plan.plan_install(project, chosen, options.backend, world.environ)
    script = own_script.running(world.script)
    if not options.dry_run:
        write.install(project, steps, script)
    world.out(f"{project.root}: {', '.join(host.title for host in chosen)}")
    _tell(world, steps, dry=options.dry_run)
    for line in _advice(chosen, options.backend, script):
        world.out(line)
    world.out(describe(project.root, _environ(world, chosen, steps, options.backend)))
    return 1 if any(step.trouble for step in steps) else 0


def _uninstall(world: World, project: Project, options: argparse.Namespace, known: Mapping[str, Host]) -> int:
    chosen = _named(options, known) or list(known.values())
    others = [host for host in known.values() if host not in chosen]
    last = not plan.present(project, others)
    steps = plan.plan_uninstall(project, chosen, ignore=last)
    _tell(world, [step for step in steps if step.changes or step.trouble], dry=options.dry_run)
    if not any(step.changes or step.trouble for step in steps):
        world.out(f"{project.root}: nothing of ours in the agents' files")
    if not options.dry_run and not write.uninstall(project, steps, last=last):
        world.out(f"kept         {project.state} (what undo and capture remember)")
    return 1 if any(step.trouble for step in steps) else 0


def _tell(world: World, steps: Sequence[Step], *, dry: bool) -> None:
    for step in steps:
        if step.trouble:
            world.out(f"left alone   {step.name}: {step.trouble}")
        elif not step.changes:
            world.out(f"as it was    {step.name}")
        else:
            word = "removed" if step.after is None else "new" if step.before is None else "changed"
            world.out(f"{'would be ' + word if dry else word:<12} {step.name}")
        for note in step.notes:
            world.out(f"             {note}")
        if step.trouble and step.paste:
            world.out(f"             what to add to it by hand:\n{step.paste}")
        if dry and step.changes:
            world.out(_difference(step))


def _difference(step: Step) -> str:
    import difflib

    before, after = (
        (data or b"").decode("utf-8", "replace").splitlines() for data in (step.before, step.after)
    )
    return "\n".join(difflib.unified_diff(before, after, step.name, step.name, lineterm="", n=2))


def _advice(chosen: Sequence[Host], backend: str, script: str) -> list[str]:
    lines = [host.note for host in chosen if host.note]
    if backend:
        without = [host.title for host in chosen if not (host.hooks and host.hooks.environ)]
        if without:
            names = ", ".join(without)
            lines.append(f"{names}: set {merge.BACKEND}={backend} in the environment they start with.")
    if not script:
        lines.append("The hooks will look for the programs on the search path only.")
    return lines


def _environ(world: World, chosen: Sequence[Host], steps: Sequence[Step], backend: str) -> dict[str, str]:
    """The environment of a hook: that of the person, and what the host's settings set."""
    environ = dict(world.environ)
    for host in chosen:
        if not (host.hooks and host.hooks.environ):
            continue
        step = next(step for step in steps if step.name == host.hooks.name)
        environ.update(merge.environ_of(step.after))
        return environ
    return {**environ, merge.BACKEND: backend} if backend else environ
