// Decision hooks for pi: at the end of a turn the design decisions of the session become drafts.
// pi has no Stop hooks, and its pi.exec() passes on neither stdin nor environment: hence spawn.
import { spawn } from "node:child_process";
import { basename, dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const LINES = [
  "[ -z \"$CAPTURE_DECISIONS_RUNNING$ADR_NORMALIZE_RUNNING$ADR_HOOKS_SKIP\" ] || exit 0; { top() { t=$1; until [ -z \"$t\" ] || [ -e \"$t/.git\" ]; do t=${t%/*}; done; [ \"$t\" ]; }; own() { t=-; d=$(cd -P \"${1%/*}\" && pwd -P) && top \"$d\" && [ -z \"$(cd / && g=$(command -v git) && case $g in /*) ;; *) false;; esac && case $(cd -P \"${g%/*}\" && pwd -P)/ in \"$R\"/*) home;; esac && \"$g\" --git-dir=\"$t/.git\" --work-tree=\"$t\" -c core.fsmonitor=false -c core.hooksPath=/dev/null ls-files -- \":(icase,literal)$d/${1##*/}\" 2>&1 || echo \"no answer\")\" ]; }; home() { case $(cd -P \"${HOME:-/}\" && pwd -P)/ in \"$R\"/*) ;; *) false;; esac; }; may() { case $1 in /*) [ -f \"$1\" ] && [ -x \"$1\" ] && d=$(cd -P \"${1%/*}\" && pwd -P) || return; case $d/ in \"$R\"/*) home || own \"$1\";; esac;; *) false;; esac; }; top \"$PWD\"; r=${CLAUDE_PROJECT_DIR:-${CURSOR_PROJECT_DIR:-${t:-$PWD}}}; m=${r%%/.claude/worktrees/*}; R=$(cd -P \"$m\" && pwd -P) && top \"$R\" && R=$t; b=; f=$m/.claude/hooks/.decision-hooks/bin; [ -f \"$f\" ] && [ ! -L \"$f\" ] && { own \"$f\" || [ -z \"$t\" ]; } && IFS= read -r b <\"$f\"; case $b in */capture-decisions) p=${b%/*}/capture-decisions;; *) p=;; esac; may \"$p\" || { p=$(command -v capture-decisions) && may \"$p\"; } || exit 0; } 2>/dev/null; exec \"$p\" --detach \"$@\" # decision-hooks capture",
  "[ -z \"$CAPTURE_DECISIONS_RUNNING$ADR_NORMALIZE_RUNNING$ADR_HOOKS_SKIP\" ] || exit 0; { top() { t=$1; until [ -z \"$t\" ] || [ -e \"$t/.git\" ]; do t=${t%/*}; done; [ \"$t\" ]; }; own() { t=-; d=$(cd -P \"${1%/*}\" && pwd -P) && top \"$d\" && [ -z \"$(cd / && g=$(command -v git) && case $g in /*) ;; *) false;; esac && case $(cd -P \"${g%/*}\" && pwd -P)/ in \"$R\"/*) home;; esac && \"$g\" --git-dir=\"$t/.git\" --work-tree=\"$t\" -c core.fsmonitor=false -c core.hooksPath=/dev/null ls-files -- \":(icase,literal)$d/${1##*/}\" 2>&1 || echo \"no answer\")\" ]; }; home() { case $(cd -P \"${HOME:-/}\" && pwd -P)/ in \"$R\"/*) ;; *) false;; esac; }; may() { case $1 in /*) [ -f \"$1\" ] && [ -x \"$1\" ] && d=$(cd -P \"${1%/*}\" && pwd -P) || return; case $d/ in \"$R\"/*) home || own \"$1\";; esac;; *) false;; esac; }; top \"$PWD\"; r=${CLAUDE_PROJECT_DIR:-${CURSOR_PROJECT_DIR:-${t:-$PWD}}}; m=${r%%/.claude/worktrees/*}; R=$(cd -P \"$m\" && pwd -P) && top \"$R\" && R=$t; b=; f=$m/.claude/hooks/.decision-hooks/bin; [ -f \"$f\" ] && [ ! -L \"$f\" ] && { own \"$f\" || [ -z \"$t\" ]; } && IFS= read -r b <\"$f\"; case $b in */capture-decisions) p=${b%/*}/normalize-decisions;; *) p=;; esac; may \"$p\" || { p=$(command -v normalize-decisions) && may \"$p\"; } || exit 0; } 2>/dev/null; exec \"$p\" --detach \"$@\" # decision-hooks normalize",
];
const GUARDS = ["CAPTURE_DECISIONS_RUNNING", "ADR_NORMALIZE_RUNNING", "ADR_HOOKS_SKIP"];

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

/** Starts one program in a session of its own; done when it has its payload. Never fails or waits long. */
function run(line: string, flags: string[], root: string, payload: string): Promise<void> {
  return new Promise((done) => {
    const env = { ...process.env, CLAUDE_PROJECT_DIR: root };
    const child = spawn("/bin/sh", ["-c", line, "decision-hooks", ...flags], {
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
    .join("\n");
}
// decision-hooks wrote this file: 31355ef18e5f
