"""What is installed in a host: the entries, their line of sh, the slash command; the card that says where."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

from decision_hooks.hosts.marks import MARK, sealed
from decision_hooks.settings import GUARDS

PROGRAMS = ("capture-decisions", "normalize-decisions")
BIN = ".claude/hooks/.decision-hooks/bin"  # names the script of capture-decisions; the other lies beside

# Claude Code keeps the work trees that it makes here; what git ignores is only in the main one.
_WORKTREES = "/.claude/worktrees/*"
# The commands of the line that find the root ``$r`` and say what may run. Nothing of the project is started before.
_FUNCTIONS = (
    # $t: the top of the git work tree around a folder
    'top() { t=$1; until [ -z "$t" ] || [ -e "$t/.git" ]; do t=${t%/*}; done; [ "$t" ]; }',
    # whether a file is the user's own: git, which is no program of the project, does not track it
    'own() { t=-; d=$(cd -P "${1%/*}" && pwd -P) && top "$d" && [ -z "$(cd / && g=$(command -v git) && '
    'case $g in /*) ;; *) false;; esac && case $(cd -P "${g%/*}" && pwd -P)/ in "$R"/*) home;; esac && '
    '"$g" --git-dir="$t/.git" --work-tree="$t" -c core.fsmonitor=false '
    "-c core.hooksPath=/dev/null "
    'ls-files -- ":(icase,literal)$d/${1##*/}" 2>&1 || echo "no answer")" ]; }',
    # whether a program may run: it lies outside of the project $R, or is the user's own; the home folder is
    'home() { case $(cd -P "${HOME:-/}" && pwd -P)/ in "$R"/*) ;; *) false;; esac; }',
    'may() { case $1 in /*) [ -f "$1" ] && [ -x "$1" ] && d=$(cd -P "${1%/*}" && pwd -P) || return; '
    'case $d/ in "$R"/*) home || own "$1";; esac;; *) false;; esac; }',
    'top "$PWD"',
    "r=${CLAUDE_PROJECT_DIR:-${CURSOR_PROJECT_DIR:-${t:-$PWD}}}",
    f"m=${{r%%{_WORKTREES}}}",
    'R=$(cd -P "$m" && pwd -P) && top "$R" && R=$t',
)


class Layout(NamedTuple):
    """How a host's hook file is built."""

    event: str  # the key of the stop event
    grouped: bool  # entries are in groups, and have a type
    version: bool  # the file has a number of its format


class HookEntry(NamedTuple):
    """One command that a host runs at a stop."""

    id: str  # in the mark: an entry is known by it, whatever its command
    program: str
    arguments: str  # with ``--detach`` the host does not wait for the work
    timeout: int  # seconds, the limit of the host
    command: str = ""  # the line of sh, another one for each host

    @property
    def title(self) -> str:
        """The program with its subcommand, as a person would call it."""
        words = [word for word in self.arguments.split() if not word.startswith("-")]
        return " ".join([self.program, *words])


ENTRIES = (
    HookEntry("capture", "capture-decisions", "--detach", 180),
    HookEntry("normalize", "normalize-decisions", "--detach", 600),
)
# Older versions marked an entry without an id, or not at all: it is the first one of its program.
ID_OF_PROGRAM = {entry.program: entry.id for entry in reversed(ENTRIES)}


class HookFile(NamedTuple):
    """A file of a host that others write in too."""

    name: str  # relative to the project
    layout: Layout
    entries: tuple[HookEntry, ...]
    environ: bool  # the file can set variables


class OwnFile(NamedTuple):
    """A file that is wholly ours."""

    name: str
    text: str


class Target(NamedTuple):
    """A host that the pair can be installed in: its files, how it is recognised, what its user has to do."""

    name: str
    title: str
    folder: str  # in a project that uses it
    programs: tuple[str, ...]  # on PATH where it is installed
    hooks: HookFile | None = None
    files: tuple[OwnFile, ...] = ()
    note: str = ""  # what its user does before it runs an entry at all
    entry_files: Callable[[str, Mapping[str, str]], list[str]] = lambda root, environ: []  # user's, project's
    runs_too: str = ""  # another host, whose entries it runs as its own
    transcript: bytes = b""  # in the path of a transcript: what was captured shows that the entries run
    plugin: str = ""  # how our plugin is named in its settings, up to the marketplace
    off: str = ""  # the setting that turns all hooks off


def line(entry: HookEntry, *before: str) -> str:
    """The command line of an entry: plain sh, silent, and exit 0 where the program is not installed.

    It leaves at once on a guard, then takes the script named in ``BIN``, else the one on the search path; neither
    when the repository brought it.
    """
    return line_finding(
        entry,
        *before,
        f"b=; f=$m/{BIN}",
        '[ -f "$f" ] && [ ! -L "$f" ] && { own "$f" || [ -z "$t" ]; } && IFS= read -r b <"$f"',
        f"case $b in */{PROGRAMS[0]}) p=${{b%/*}}/{entry.program};; *) p=;; esac",
        f'may "$p" || {{ p=$(command -v {entry.program}) && may "$p"; }} || exit 0',
    )


def line_finding(entry: HookEntry, *find: str) -> str:
    """The command line of an entry that finds the program ``$p`` by these commands, ``$r`` being the root.

    The commands may ask ``may FILE``: whether that program is none that the repository brought.
    """
    guards = "".join(f"${name}" for name in GUARDS)
    start = f'[ -z "{guards}" ] || exit 0'
    run = f'exec "$p" {entry.arguments} "$@" {MARK} {entry.id}'
    return f"{start}; {{ {'; '.join((*_FUNCTIONS, *find))}; }} 2>/dev/null; {run}"


def sh_entries(*before: str) -> tuple[HookEntry, ...]:
    """The entries of a host with their lines of sh; ``before``: commands that may end the line first."""
    return tuple(entry._replace(command=line(entry, *before)) for entry in ENTRIES)


def value(entry: HookEntry, layout: Layout) -> dict[str, object]:
    """An entry as the host wants it in JSON."""
    kind = {"type": "command"} if layout.grouped else {}
    return {**kind, "command": entry.command, "timeout": entry.timeout}


def event_items(entries: tuple[HookEntry, ...], layout: Layout) -> list[object]:
    """The items of the event's array that hold these entries."""
    values: list[object] = [value(entry, layout) for entry in entries]
    return [{"hooks": values}] if layout.grouped else values


def whole(entries: tuple[HookEntry, ...], layout: Layout) -> str:
    """A file with nothing but our entries."""
    version = {"version": 1} if layout.version else {}
    tree = {**version, "hooks": {layout.event: event_items(entries, layout)}}
    return json.dumps(tree, indent=2) + "\n"


GROUPED = Layout("Stop", grouped=True, version=False)
FLAT = Layout("stop", grouped=False, version=True)

_COMMAND = """Normalise the decision drafts of this project into MADR records, with the user's consent.

1. Run `normalize-decisions plan` in the project's root, once, and wait for it (it may take some minutes). If the
   shell does not find it, use the script of that name that lies beside the one named in
   `{bin}`.
2. Show the user the plan: what becomes a record, what is merged into which record, what is removed and why, what
   was refused and why. Exit code 1 means that it refused to work: give its reason and stop. No drafts: say so and
   stop.
3. Ask whether to apply it. If not, stop: nothing has been changed.
4. Run `normalize-decisions run --plan ID` with the ID that the plan's last line names. It applies exactly this plan
   and makes no further call.
5. Show `git diff -- docs/adr` (and `git status --short docs/adr`, for new files), and tell that
   `normalize-decisions undo` takes the run back, byte for byte.

Do not edit anything under `docs/adr` yourself, and do not run git commands that write: the user commits.
"""


def slash_command(folder: str, head: str = "") -> OwnFile:
    """The slash command ``/n-adr-normalize`` in a folder; ``head``: what the host wants before it."""
    text = sealed(head + _COMMAND.format(bin=BIN) + "\n", "<!-- {} -->")
    return OwnFile(f"{folder}/n-adr-normalize.md", text)
