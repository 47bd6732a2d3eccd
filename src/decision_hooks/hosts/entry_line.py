"""What each host is given: its entries, the line of sh in them, the pi extension, the slash commands."""

from __future__ import annotations

import json
from typing import NamedTuple

from decision_hooks.hosts.marks import sealed
from decision_hooks.hosts.pi import extension
from decision_hooks.settings import GUARDS

MARK = "# decision-hooks"  # with the entry's id after it, the end of every command line of ours
PROGRAMS = ("capture-decisions", "normalize-decisions")
BIN = ".claude/hooks/.decision-hooks/bin"  # names the script of capture-decisions; the other is beside it

# Claude Code keeps the work trees that it makes here; what git ignores is only in the main one.
_WORKTREES = "/.claude/worktrees/*"
_ROOT = "r=${CLAUDE_PROJECT_DIR:-${CURSOR_PROJECT_DIR:-$(git rev-parse --show-toplevel 2>/dev/null || pwd)}}"
# Cursor runs the hooks of Claude Code too: where it has an entry of its own, that one does the work.
_NOT_TWICE_IN_CURSOR = (
    f'[ -n "$CURSOR_VERSION" ] && [ -z "$CLAUDECODE" ] && grep -qs "{MARK}" "$r/.cursor/hooks.json" && exit 0'
)
_NOT_BESIDE_SETTINGS = (
    f'grep -qs "{MARK}" "$r/.claude/settings.json" "$r/.claude/settings.local.json" && exit 0'
)


class Layout(NamedTuple):
    """How a host's hook file is built."""

    event: str  # the key of the stop event
    grouped: bool  # entries are in groups, and have a type
    version: bool  # the file has a number of its format


class Entry(NamedTuple):
    """One command that a host runs at a stop."""

    id: str  # stands in the mark: an entry is known by it, whatever its command
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
    Entry("capture", "capture-decisions", "--detach", 180),
    Entry("normalize", "normalize-decisions", "--detach", 600),
)
# Older versions marked an entry without an id, or not at all: it is the first one of its program.
ID_OF_PROGRAM = {entry.program: entry.id for entry in reversed(ENTRIES)}


def marked_id(command: str) -> str | None:
    """The id in the mark that ends a command of ours: "" in the form of older versions, None without a mark."""
    _, mark, end = command.rstrip().rpartition(MARK)
    if not mark or not end:
        return "" if mark else None
    id = end[1:]
    return id if end[0] == " " and id.replace("-", "").isalnum() else None


class HookFile(NamedTuple):
    """A file of a host that others write in too."""

    name: str  # relative to the project
    layout: Layout
    entries: tuple[Entry, ...]
    environ: bool  # the file can set variables


class OwnFile(NamedTuple):
    """A file that is wholly ours."""

    name: str
    text: str


class Host(NamedTuple):
    """An agent that can call us: its files, how it is recognised, what its user has to do."""

    name: str
    title: str
    hooks: HookFile | None
    files: tuple[OwnFile, ...]
    programs: tuple[str, ...]  # on PATH where it is installed
    folder: str  # in a project that uses it
    note: str = ""


def line(entry: Entry, *before: str) -> str:
    """The command line of an entry: plain sh, silent, and exit 0 where the program is not installed.

    It leaves at once on a guard, then takes the script named in ``BIN``, else the one on the search path.
    """
    return _line(
        entry,
        *before,
        "b=",
        f'{{ IFS= read -r b <"${{r%%{_WORKTREES}}}/{BIN}"; }} 2>/dev/null',
        f"p=${{b%/*}}/{entry.program}",
        f'[ -f "$p" ] && [ -x "$p" ] || p=$(command -v {entry.program}) || exit 0',
    )


def _line(entry: Entry, *find: str) -> str:
    guards = "".join(f"${name}" for name in GUARDS)
    run = f'exec "$p" {entry.arguments} "$@" {MARK} {entry.id}'
    return "; ".join((f'[ -z "{guards}" ] || exit 0', _ROOT, *find, run))


def _entries(*before: str) -> tuple[Entry, ...]:
    return tuple(entry._replace(command=line(entry, *before)) for entry in ENTRIES)


def plugin_entries() -> tuple[Entry, ...]:
    """The entries of the plugin, which is on in every project of its user.

    It acts only where there are records, leaves the work to an entry of the project, and does not trust a
    path that a foreign project names.
    """
    entries = []
    for entry in ENTRIES:
        command = _line(
            entry,
            '[ -d "$r/${ADR_DIR:-docs/adr}" ] || exit 0',
            _NOT_BESIDE_SETTINGS,
            f"p=$(command -v {entry.program}) || p=$HOME/.local/bin/{entry.program}",  # a desktop's path is short
            '[ -x "$p" ] || exit 0',
        )
        entries.append(entry._replace(command=command))
    return tuple(entries)


def value(entry: Entry, layout: Layout) -> dict[str, object]:
    """An entry as the host wants it in JSON."""
    kind = {"type": "command"} if layout.grouped else {}
    return {**kind, "command": entry.command, "timeout": entry.timeout}


def event_items(entries: tuple[Entry, ...], layout: Layout) -> list[object]:
    """The items of the event's array that hold these entries."""
    values: list[object] = [value(entry, layout) for entry in entries]
    return [{"hooks": values}] if layout.grouped else values


def whole(entries: tuple[Entry, ...], layout: Layout) -> str:
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
_CLAUDE_HEAD = """---
description: Normalise decision drafts in docs/adr into MADR records
allowed-tools: Bash(normalize-decisions plan), Bash(git diff:*), Bash(git status:*)
---

"""


def slash_command(head: str = "") -> str:
    """The slash command ``/n-adr-normalize``; ``head``: what Claude Code wants before it."""
    return sealed(head + _COMMAND.format(bin=BIN) + "\n", "<!-- {} -->")


def pi_text() -> str:
    """The extension that is pi's entry."""
    return extension.source(GUARDS, [line(entry) for entry in ENTRIES])


def hosts() -> dict[str, Host]:
    """The hosts by the name of their flag."""
    command = "n-adr-normalize.md"
    found = (
        Host(
            "claude",
            "Claude Code",
            HookFile(".claude/settings.json", GROUPED, _entries(_NOT_TWICE_IN_CURSOR), environ=True),
            (OwnFile(f".claude/commands/{command}", slash_command(_CLAUDE_HEAD)),),
            ("claude",),
            ".claude",
        ),
        Host(
            "cursor",
            "Cursor",
            HookFile(".cursor/hooks.json", FLAT, _entries(), environ=False),
            (OwnFile(f".cursor/commands/{command}", slash_command()),),
            ("cursor-agent", "cursor"),
            ".cursor",
        ),
        Host(
            "codex",
            "Codex",
            HookFile(".codex/hooks.json", GROUPED, _entries(), environ=False),
            (),
            ("codex",),
            ".codex",
            "Codex: open it in this project, trust the folder, type /hooks and trust both; else they do not run.",
        ),
        Host("pi", "pi", None, (OwnFile(".pi/extensions/decision-hooks.ts", pi_text()),), ("pi",), ".pi"),
    )
    return {host.name: host for host in found}
