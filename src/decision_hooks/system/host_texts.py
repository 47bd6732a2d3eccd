"""What each host is given: its entries, the line of sh in them, the pi extension, the slash commands."""

from __future__ import annotations

import json
from typing import NamedTuple

from decision_hooks.settings import GUARDS

MARK = "# decision-hooks"  # ends every command line of ours
PROGRAMS = ("capture-decisions", "normalize-decisions")
TIMEOUTS = {"capture-decisions": 180, "normalize-decisions": 600}  # seconds; the hosts' limits for the pair
STATE = ".claude/hooks/.decision-hooks"
BIN = f"{STATE}/bin"  # names the script of capture-decisions; the other lies beside it

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
    grouped: bool  # entries stand in groups of their own, with a type
    version: bool  # the file has a number of its format


class Entry(NamedTuple):
    """One command that a host runs at a stop."""

    program: str
    command: str
    timeout: int  # seconds


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


def line(program: str, *before: str, find: str = "") -> str:
    """The command line of an entry: plain sh, silent, and exit 0 where the program is not installed.

    It leaves at once on a guard, then takes the script named in ``BIN``, else the one on the search path.
    """
    guards = "".join(f"${name}" for name in GUARDS)
    steps = (
        f'[ -z "{guards}" ] || exit 0',
        _ROOT,
        *before,
        *([find] if find else _named(program)),
        f'[ -f "$p" ] && [ -x "$p" ] || p=$(command -v {program}) || exit 0',
        f'exec "$p" --detach "$@" {MARK}',
    )
    return "; ".join(steps)


def _named(program: str) -> tuple[str, ...]:
    return (
        "b=",
        f'{{ IFS= read -r b <"${{r%%{_WORKTREES}}}/{BIN}"; }} 2>/dev/null',
        f"p=${{b%/*}}/{program}",
    )


def _entries(*before: str) -> tuple[Entry, ...]:
    return tuple(Entry(program, line(program, *before), TIMEOUTS[program]) for program in PROGRAMS)


def plugin_entries() -> tuple[Entry, ...]:
    """The entries of the plugin, which is on in every project of its user.

    It acts only where there are records, leaves the work to an entry of the project, and does not trust a
    path that a foreign project names.
    """
    before = ('[ -d "$r/${ADR_DIR:-docs/adr}" ] || exit 0', _NOT_BESIDE_SETTINGS)
    return tuple(
        Entry(program, line(program, *before, find=f"p=$HOME/.local/bin/{program}"), TIMEOUTS[program])
        for program in PROGRAMS
    )


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

_COMMAND = """Normalise the decision drafts of this project into MADR records.

Run `normalize-decisions run` in the project's root, once, and wait for it (it may take some minutes). If the
shell does not find it, run the script of that name in the folder of the script that `{bin}` names.

Then tell in a few lines what it did: records written, drafts merged or removed, what was refused and why.
Exit code 1 means that it refused to work; give its reason and stop. Do not edit anything under `docs/adr`
yourself, and do not run git commands that write: the user looks at `git diff` and commits.
`normalize-decisions undo` takes the run back.
"""
_CLAUDE_HEAD = """---
description: Normalise decision drafts in docs/adr into MADR records
allowed-tools: Bash(normalize-decisions run), Bash(normalize-decisions run:*)
---

"""


def _sealed(text: str, comment: str) -> str:
    """A text of ours with a line that tells whether it is still as we wrote it."""
    return f"{text}{comment.format(f'{_SEAL}{_hash(text)}')}\n"


def is_sealed(data: bytes) -> bool:
    """Whether a file is one of ours, any version, and nobody has changed it since."""
    try:
        text = data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return False
    body, newline, last = text.rstrip("\n").rpartition("\n")
    _, found, rest = last.partition(_SEAL)
    return bool(found) and rest.startswith(_hash(body + newline))


_SEAL = "decision-hooks wrote this file: "


def _hash(text: str) -> str:
    from hashlib import blake2b

    return blake2b(text.encode("utf-8"), digest_size=6).hexdigest()


def slash_command(head: str = "") -> str:
    """The slash command ``/n-adr-normalize``."""
    return _sealed(head + _COMMAND.format(bin=BIN), "\n<!-- {} -->")


def plugin_command() -> str:
    """The slash command as the plugin has it."""
    return _CLAUDE_HEAD + _COMMAND.format(bin=BIN)


_PI = """// Decision hooks for pi: at the end of a turn the design decisions of the session become drafts.
// pi has no Stop hooks, and its pi.exec() passes on neither stdin nor environment: hence spawn.
import { spawn } from "node:child_process";
import { basename, dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const LINES = [
LINES_HERE
];
const GUARDS = GUARDS_HERE;

export default function (pi: any) {
  pi.on("agent_end", async (event: any, ctx: any) => {
    if (GUARDS.some((name: string) => process.env[name])) return;
    // After the first await the context may be stale: all of it is read before.
    const last = lastAnswer(event);
    if (last?.stopReason === "error" || last?.stopReason === "aborted") return;
    const cwd: string = attempt(() => ctx.cwd) ?? process.cwd();
    const root = projectRoot() ?? cwd;
    const sessionId: string = attempt(() => ctx.sessionManager.getSessionId()) ?? "";
    const transcript: string = attempt(() => ctx.sessionManager.getSessionFile()) ?? "";
    const payload = JSON.stringify({
      hook_event_name: "agent_end",
      session_id: sessionId,
      transcript_path: transcript || null,
      cwd,
      last_assistant_message: textOf(last),
    });
    const flags = ["--project-root", root];
    if (transcript) flags.push("--transcript", transcript);
    if (sessionId) flags.push("--session-id", sessionId);
    await Promise.all(LINES.map((line) => run(line, flags, root, payload)));
  });
}

/** Starts one program in a session of its own; done when it has its payload, never fails, never waits long. */
function run(line: string, flags: string[], root: string, payload: string): Promise<void> {
  return new Promise((done) => {
    const env = { ...process.env, CLAUDE_PROJECT_DIR: root };
    const child = spawn("sh", ["-c", line, "decision-hooks", ...flags], {
      cwd: root,
      detached: true,
      env,
      stdio: ["pipe", "ignore", "ignore"],
    });
    const timer = setTimeout(done, 2000);
    const finish = () => {
      clearTimeout(timer);
      done();
    };
    child.on("error", finish);
    child.stdin.on("error", finish);
    child.stdin.end(payload, finish);
    child.unref();
  });
}

function attempt<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}

/** The project that this file is installed in, or nothing when it lies elsewhere. */
function projectRoot(): string | undefined {
  const folder = attempt(() => dirname(fileURLToPath(import.meta.url)));
  if (!folder || basename(folder) !== "extensions" || basename(dirname(folder)) !== ".pi") return undefined;
  return resolve(folder, "..", "..");
}

function lastAnswer(event: any): any {
  const messages = Array.isArray(event?.messages) ? event.messages : [];
  return [...messages].reverse().find((message: any) => message?.role === "assistant");
}

function textOf(message: any): string {
  if (typeof message?.content === "string") return message.content;
  const blocks = Array.isArray(message?.content) ? message.content : [];
  return blocks
    .filter((block: any) => block?.type === "text" && typeof block.text === "string")
    .map((block: any) => block.text)
    .join("\\n");
}
"""


def pi_extension() -> str:
    """The extension of pi, in TypeScript without imports beyond node."""
    lines = "\n".join(f"  {json.dumps(line(program))}," for program in PROGRAMS)
    text = _PI.replace("LINES_HERE", lines).replace("GUARDS_HERE", json.dumps(list(GUARDS)))
    return _sealed(text, "// {}")


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
            "Codex runs a hook only when it is trusted: open codex in this project, type /hooks and trust both.",
        ),
        Host("pi", "pi", None, (OwnFile(".pi/extensions/decision-hooks.ts", pi_extension()),), ("pi",), ".pi"),
    )
    return {host.name: host for host in found}
