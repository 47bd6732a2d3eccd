"""``install`` and ``uninstall``: the pair registered with the agents of a project, and all taken back."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from decision_hooks.backends.choice import capture_choice
from decision_hooks.backends.table import capture_names
from decision_hooks.commands.options import parser, project_of
from decision_hooks.errors import SettingError
from decision_hooks.hosts.entry_line import Target
from decision_hooks.hosts.table import targets
from decision_hooks.install import merge, plan, write
from decision_hooks.install.plan import FileChange
from decision_hooks.settings import capture_settings
from decision_hooks.state.runs import take_over
from decision_hooks.system.project import Project
from decision_hooks.system.state_folder import check_state, usable
from decision_hooks.system.world import World


def run(argv: Sequence[str], world: World) -> int:
    """Run ``install`` or ``uninstall``: 0 done, 1 a file was left alone; bad usage exits with 2."""
    known = targets()
    options = _options(argv, world, known)
    project = project_of(world, options.project_root)
    if argv[0] == "uninstall":
        return _uninstall(world, project, options, known)
    return _install(world, project, options, known)


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
    if settings.backend not in capture_names():
        return f"Nothing captures: {reasons}"
    return (
        f"No backend captures yet ({reasons}): set CAPTURE_DECISIONS_BACKEND, "
        "or install with --backend auto, or with --backend choices to use no model."
    )


def _options(argv: Sequence[str], world: World, known: Mapping[str, Target]) -> argparse.Namespace:
    uninstall = argv[0] == "uninstall"
    summary = "Take back what install wrote." if uninstall else "Register both programs as Stop hooks."
    parse = parser(world, argv, summary)
    for host in known.values():
        parse.add_argument(f"--{host.name}", action="store_true", help=host.title)
    parse.add_argument("--all", action="store_true", help="every host")
    parse.add_argument("--dry-run", action="store_true", help="show the changes, write nothing")
    if not uninstall:
        what = "who drafts; written to the settings of hosts that can set variables"
        parse.add_argument("--backend", choices=capture_names(), default="", help=what)
    return parse.parse_args(list(argv[1:]))


def _named(options: argparse.Namespace, known: Mapping[str, Target]) -> list[Target]:
    return [host for name, host in known.items() if options.all or getattr(options, name)]


def _install(
    world: World,
    project: Project,
    options: argparse.Namespace,
    known: Mapping[str, Target],
) -> int:
    chosen = _named(options, known)
    if not chosen:
        used = plan.in_use(project.root, known.values(), world.environ) or list(known)[:1]
        chosen = [known[name] for name in used]
    check_state(project, world.environ, adopt=True)
    changes = plan.plan_install(project, chosen, options.backend, world.environ)
    script = write.usable_script(world.script)
    if script and write.came_with_project(project, script, world.environ):
        script = ""
    adopted = not options.dry_run and write.install(project, changes, script, world.environ)
    world.out(f"{project.root}: {', '.join(host.title for host in chosen)}")
    if adopted:
        take_over(project, world.environ)
        world.out(f"taken over   {project.state} (its content was not written on this machine)")
    _show(world, changes, dry=options.dry_run)
    for line in _advice(chosen, options.backend, script):
        world.out(line)
    world.out(backend_line(project.root, _environ(world, chosen, changes, options.backend)))
    return 1 if any(change.trouble for change in changes) else 0


def _uninstall(
    world: World, project: Project, options: argparse.Namespace, known: Mapping[str, Target]
) -> int:
    project, refused = usable(project, world.environ)
    chosen = _named(options, known) or list(known.values())
    others = [host for host in known.values() if host not in chosen]
    last = not plan.present(project, others, world.environ)
    changes = plan.plan_uninstall(project, chosen, world.environ, ignore=last)
    shown = [change for change in changes if change.needed or change.trouble]
    _show(world, shown, dry=options.dry_run)
    if not shown:
        world.out(f"{project.root}: nothing of ours in the agents' files")
    if not options.dry_run and not write.uninstall(project, changes, last=last) and not refused:
        world.out(f"kept         {project.state} (what undo and capture remember)")
    if refused:
        world.err(str(refused))
    return 1 if refused or any(change.trouble for change in changes) else 0


def _show(world: World, changes: Sequence[FileChange], *, dry: bool) -> None:
    for change in changes:
        if change.trouble:
            world.out(f"left alone   {change.name}: {change.trouble}")
        elif not change.needed:
            world.out(f"as it was    {change.name}")
        else:
            word = "removed" if change.after is None else "new" if change.before is None else "changed"
            world.out(f"{'would be ' + word if dry else word:<12} {change.name}")
        for note in change.notes:
            world.out(f"             {note}")
        if change.trouble and change.paste:
            world.out(f"             what to add to it by hand:\n{change.paste}")
        if dry and change.needed:
            world.out(_difference(change))


def _difference(change: FileChange) -> str:
    import difflib

    before, after = (
        (data or b"").decode("utf-8", "replace").splitlines() for data in (change.before, change.after)
    )
    return "\n".join(difflib.unified_diff(before, after, change.name, change.name, lineterm="", n=2))


def _advice(chosen: Sequence[Target], backend: str, script: str) -> list[str]:
    lines = [f"{host.title}: {host.note}." for host in chosen if host.note]
    if backend:
        without = [host.title for host in chosen if not (host.hooks and host.hooks.environ)]
        if without:
            names = ", ".join(without)
            lines.append(f"{names}: set {merge.BACKEND}={backend} in the environment they start with.")
    if not script:
        lines.append("The hooks will look for the programs on the search path only.")
    return lines


def _environ(
    world: World, chosen: Sequence[Target], changes: Sequence[FileChange], backend: str
) -> dict[str, str]:
    """The environment of a hook: that of the person, and what the host's settings set."""
    names = {host.hooks.name for host in chosen if host.hooks and host.hooks.environ}
    for change in changes:
        if change.name in names:
            return {**world.environ, **merge.environ_of(change.after)}
    return {**world.environ, **({merge.BACKEND: backend} if backend else {})}
