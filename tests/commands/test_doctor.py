"""``doctor``: every check with its state, the reason, and the exact fix."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from decision_hooks.commands.doctor import command as commands_doctor
from decision_hooks.system.world import World
from support import programs
from support.adr_texts import draft
from support.agents import claude_json
from support.claude_session import ClaudeSession
from support.sandbox import CAPTURE, Sandbox

STATE = ".claude/hooks/.decision-hooks"
STAMP = "2026-03-04T05:06:07+00:00"


class Doctor(NamedTuple):
    """What the doctor said."""

    rc: int
    checks: dict[str, dict[str, str]]
    mended: list[str]

    def state(self, name: str) -> str:
        """The state of one check."""
        return self.checks[name]["state"]


def doctor(
    sandbox: Sandbox, *arguments: str, env: dict[str, str] | None = None, cwd: Path | None = None
) -> Doctor:
    """Ask the doctor within this process: most tests are about one check, not about the program."""
    lines: list[str] = []
    world = World(
        program=CAPTURE,
        script=programs.script(CAPTURE),
        environ=sandbox.environment(env),
        cwd=str(cwd or sandbox.root),
        now=time.time,
        out=lines.append,
        err=lines.append,
        sleep=lambda seconds: None,
        watched=False,
    )
    return told(commands_doctor.run(["doctor", "--json", *arguments], world), "\n".join(lines))


def told(rc: int, text: str) -> Doctor:
    """What was said, with what holds of every report."""
    said = json.loads(text)
    states = [check["state"] for check in said["checks"]]
    assert set(states) <= {"ok", "warn", "fail", "off"}
    assert said["findings"] == states.count("fail")
    assert rc == (1 if "fail" in states else 0)
    for check in said["checks"]:
        assert check["reason"]
        assert check["fix"] or check["state"] in ("ok", "off"), check
    return Doctor(rc, {check["name"]: check for check in said["checks"]}, said["mended"])


@pytest.fixture
def installed(sandbox: Sandbox) -> Sandbox:
    """A world in which the hooks are installed for Claude Code."""
    assert sandbox.capture(None, "install", "--claude").rc == 0
    return sandbox


def settings(*commands: str, **more: Any) -> str:
    entries = [{"type": "command", "command": command} for command in commands]
    return json.dumps({"hooks": {"Stop": [{"hooks": entries}]}, **more})


def commands_of(sandbox: Sandbox) -> list[str]:
    tree = json.loads(sandbox.read(".claude/settings.json"))
    return [entry["command"] for group in tree["hooks"]["Stop"] for entry in group["hooks"]]


# -- the whole


def test_after_install_there_is_no_finding_and_a_missing_backend_is_a_warning(installed: Sandbox) -> None:
    done = installed.capture(None, "doctor", "--json")
    found = told(done.rc, done.stdout)
    assert (found.rc, done.stderr) == (0, "")
    assert found.state("claude code") == "ok"
    assert found.state("script") == "ok"
    assert found.state("gitignore") == "ok"
    assert found.state("capture with") == "warn"
    assert found.state("programs") == "warn"


def test_before_install_the_missing_entries_are_a_finding_with_the_fix(sandbox: Sandbox) -> None:
    found = doctor(sandbox)
    assert found.rc == 1
    assert found.checks["hooks"] == {
        "name": "hooks",
        "state": "fail",
        "reason": "no agent of this project runs the hooks",
        "fix": "capture-decisions install",
    }


def test_it_changes_nothing(installed: Sandbox) -> None:
    installed.write(".claude/hooks/capture-decisions.log", f"{STAMP} NONE\n")
    before = installed.snapshot(without=())
    assert installed.capture(None, "doctor").rc == 0
    assert installed.snapshot(without=()) == before


def test_the_text_names_each_check_with_state_reason_and_fix(sandbox: Sandbox) -> None:
    done = sandbox.capture(None, "doctor")
    assert done.rc == 1
    assert "fail  hooks " in done.stdout
    assert "fix: capture-decisions install\n" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stdout.rstrip().endswith("warnings")


def test_bad_usage_exits_with_2(sandbox: Sandbox) -> None:
    assert sandbox.capture(None, "doctor", "--wrong").rc == 2
    assert sandbox.capture(None, "doctor", "--project-root", "/no/such").rc == 2


# -- entries


def test_an_entry_of_one_program_alone_is_a_finding(installed: Sandbox) -> None:
    installed.write(".claude/settings.json", settings(commands_of(installed)[0]))
    found = doctor(installed)
    assert found.state("claude code") == "fail"
    assert "normalize-decisions is not registered" in found.checks["claude code"]["reason"]


@pytest.mark.parametrize("other", ["local", "user"])
def test_entries_in_two_files_of_claude_code_are_a_finding(installed: Sandbox, other: str) -> None:
    text = settings(*commands_of(installed))
    if other == "local":
        installed.write(".claude/settings.local.json", text)
    else:
        path = installed.home / ".claude" / "settings.json"
        path.parent.mkdir()
        path.write_text(text)
    check = doctor(installed).checks["claude code"]
    assert check["state"] == "fail"
    assert "registered more than once" in check["reason"]


def test_an_old_entry_is_a_warning_alone_and_a_finding_beside_cursor(sandbox: Sandbox) -> None:
    old = [f"bash .claude/hooks/{name}.sh" for name in ("capture-decisions", "normalize-decisions")]
    sandbox.write(".claude/settings.json", settings(*old))
    assert doctor(sandbox).state("claude code") == "warn"
    sandbox.write(".cursor/hooks.json", json.dumps({"version": 1, "hooks": {"stop": [{"command": old[0]}]}}))
    assert doctor(sandbox).state("cursor") == "fail"


def test_all_hosts_at_once_are_not_doubled_and_codex_is_told_to_need_trust(sandbox: Sandbox) -> None:
    assert sandbox.capture(None, "install", "--all").rc == 0
    found = doctor(sandbox)
    assert found.rc == 0
    assert [found.state(name) for name in ("claude code", "cursor", "codex", "pi")] == [
        "ok",
        "ok",
        "warn",
        "ok",
    ]
    assert "/hooks" in found.checks["codex"]["fix"]
    position = {"path": str(sandbox.home / ".codex/sessions/2026/03/04/rollout-x.jsonl"), "offset": 5}
    sandbox.write(f"{STATE}/positions/k.json", json.dumps(position))
    assert doctor(sandbox).state("codex") == "ok"


def test_cursor_is_served_by_the_entries_of_claude_code(installed: Sandbox) -> None:
    assert doctor(installed).state("cursor") == "off"
    (installed.root / ".cursor" / "rules").mkdir(parents=True)
    check = doctor(installed).checks["cursor"]
    assert check["state"] == "ok"
    assert "settings.json" in check["reason"]


def test_the_plugin_alone_is_enough(sandbox: Sandbox) -> None:
    sandbox.write(
        ".claude/settings.local.json", json.dumps({"enabledPlugins": {"decision-hooks@market": True}})
    )
    found = doctor(sandbox)
    assert found.checks["claude code"]["reason"] == "through the plugin"
    assert "hooks" not in found.checks


def test_switched_off_hooks_are_a_finding(installed: Sandbox) -> None:
    installed.write(".claude/settings.local.json", '{"disableAllHooks": true}')
    assert "settings.local.json" in doctor(installed).checks["hooks"]["reason"]


def test_a_settings_file_that_is_no_strict_json_is_told(installed: Sandbox) -> None:
    text = installed.read(".claude/settings.json")
    installed.write(".claude/settings.json", "// ours\n" + text)
    check = doctor(installed).checks["claude code"]
    assert check["state"] == "warn"
    assert "strict JSON" in check["reason"]


def test_a_changed_extension_of_pi_is_a_warning(sandbox: Sandbox) -> None:
    assert sandbox.capture(None, "install", "--pi").rc == 0
    name = ".pi/extensions/decision-hooks.ts"
    sandbox.write(name, sandbox.read(name).replace("spawn", "spoon", 1))
    assert doctor(sandbox).state("pi") == "warn"


# -- the script


def test_a_script_that_is_gone_is_a_finding_that_fix_mends(installed: Sandbox) -> None:
    installed.write(f"{STATE}/bin", "/no/such/capture-decisions\n")
    check = doctor(installed).checks["script"]
    assert (check["state"], check["fix"]) == ("fail", "capture-decisions install")
    found = doctor(installed, "--fix")
    assert found.state("script") == "ok"
    assert any("named the script" in what for what in found.mended)


def test_a_script_that_does_not_run_is_a_finding(installed: Sandbox) -> None:
    broken = installed.bin / "capture-decisions"
    broken.write_text("#!/no/such/python\n")
    broken.chmod(0o755)
    installed.write(f"{STATE}/bin", f"{broken}\n")
    check = doctor(installed).checks["script"]
    assert check["state"] == "fail"
    assert "does not run" in check["reason"]


# -- backends


def test_backends_are_shown_with_version_and_model(installed: Sandbox) -> None:
    installed.fake("claude").always("2.1.332 (Claude Code)\n")
    found = doctor(installed, env={"CAPTURE_DECISIONS_BACKEND": "auto"})
    assert found.checks["capture with"]["reason"] == "claude CLI, model sonnet (passed over: pi not found)"
    assert found.checks["normalize with"]["reason"] == "claude CLI, model sonnet (passed over: pi not found)"
    assert "claude 2.1.332 (Claude Code)" in found.checks["programs"]["reason"]


def test_the_backend_that_the_settings_of_claude_code_set_is_the_one_checked(sandbox: Sandbox) -> None:
    assert sandbox.capture(None, "install", "--claude", "--backend", "choices").rc == 0
    assert doctor(sandbox).checks["capture with"]["reason"] == "choices, no model"


def test_pi_without_a_model_is_a_warning(installed: Sandbox) -> None:
    installed.fake("pi").always("0.73.1\n")
    assert "no local policy model" in doctor(installed).checks["capture with"]["reason"]
    found = doctor(installed, env={"N_LOCAL_MIN_MODEL": "local/tiny"})
    assert found.checks["capture with"]["reason"] == "pi, model local/tiny"
    assert found.checks["normalize with"]["reason"] == "local"


def test_without_online_no_prompt_is_sent(installed: Sandbox) -> None:
    claude = installed.fake("claude").always("2.1.332\n")
    found = doctor(installed, env={"CAPTURE_DECISIONS_BACKEND": "claude"})
    assert found.state("login") == "off"
    assert [call.argv for call in claude.calls] == [("--version",)]


def test_online_a_live_login_is_ok_and_counted_in_the_ledger(installed: Sandbox) -> None:
    claude = installed.fake("claude").answers("2.1.332\n", claude_json("OK"))
    found = doctor(installed, "--online", env={"CAPTURE_DECISIONS_BACKEND": "claude"})
    assert found.state("login claude") == "ok"
    assert "sonnet answered" in found.checks["login claude"]["reason"]
    assert claude.left == 0
    ledger = "".join(path.read_text() for path in (installed.own_state / "ledger").iterdir())
    assert ledger.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "trouble", "fix"),
    [
        ("Not logged in · Please run /login", "login", "run claude and type /login"),
        ("Credit balance is too low", "credit", "add credit to the account of claude"),
    ],
)
def test_online_a_dead_login_is_a_finding(installed: Sandbox, text: str, trouble: str, fix: str) -> None:
    installed.fake("claude").answers("2.1.332\n", claude_json(text, is_error=True))
    found = doctor(installed, "--online", env={"CAPTURE_DECISIONS_BACKEND": "claude"})
    check = found.checks["login claude"]
    assert check["state"] == "fail"
    assert check["reason"].startswith(f"{trouble}: ")
    assert check["fix"].startswith(fix)
    assert doctor(installed).state("breaker") == "warn"


def test_an_api_key_that_beats_the_login_is_a_warning_that_does_not_tell_it(installed: Sandbox) -> None:
    installed.fake("claude").always("2.1.332\n")
    key = "sk-ant-" + "x" * 40
    env = {"CAPTURE_DECISIONS_BACKEND": "claude", "ANTHROPIC_API_KEY": key}
    done = installed.capture(None, "doctor", env=env)
    assert "warn  api key" in done.stdout
    assert "ANTHROPIC_API_KEY is set" in done.stdout
    assert key not in done.stdout


# -- the project


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ADR_NORMALIZE_BATCH", "ten"),
        ("ADR_DAILY_CALLS", "-1"),
        ("ADR_LANGUAGE", "x" * 50),
        ("ADR_DIR", "../x"),
    ],
)
def test_a_bad_setting_is_a_finding_that_names_the_variable(
    installed: Sandbox, name: str, value: str
) -> None:
    check = doctor(installed, env={name: value}).checks["settings"]
    assert check["state"] == "fail"
    assert check["fix"] == f"correct or unset {name}"


def test_a_guard_in_the_shell_is_a_warning(installed: Sandbox) -> None:
    assert "ADR_HOOKS_SKIP" in doctor(installed, env={"ADR_HOOKS_SKIP": "1"}).checks["guards"]["reason"]


@pytest.mark.parametrize(
    "lines",
    [
        ".claude/hooks/*.log\n.claude/hooks/.normalize-state\n.claude/hooks/.normalize.lock\n",
        "*.log\n.normalize*\n",
        ".claude/hooks/*\n",
        ".claude/\n",
        "/.claude/hooks/\n",
        "**/hooks/**\n",
    ],
)
def test_every_form_of_gitignore_that_covers_the_files_counts(sandbox: Sandbox, lines: str) -> None:
    sandbox.write(".gitignore", lines)
    assert doctor(sandbox).state("gitignore") == "ok"


@pytest.mark.parametrize("lines", ["", "*.log\n", "*.log\n.normalize*\n!capture-decisions.log\n"])
def test_files_that_git_would_take_are_a_finding_that_fix_mends(sandbox: Sandbox, lines: str) -> None:
    sandbox.write(".gitignore", lines)
    check = doctor(sandbox).checks["gitignore"]
    assert check["state"] == "fail"
    assert "--fix" in check["fix"]
    if "!" not in lines:
        assert doctor(sandbox, "--fix").state("gitignore") == "ok"
        assert sandbox.read(".gitignore").startswith(lines)


def test_a_log_that_git_tracks_is_a_finding(installed: Sandbox) -> None:
    installed.write(".claude/hooks/capture-decisions.log", f"{STAMP} NONE\n")
    installed.git("add", "-f", ".claude/hooks/capture-decisions.log")
    check = doctor(installed).checks["gitignore"]
    assert check["state"] == "fail"
    assert check["fix"] == "git rm --cached .claude/hooks/capture-decisions.log"


def test_outside_git_nothing_is_said_of_gitignore(sandbox: Sandbox) -> None:
    folder = sandbox.base / "plain"
    folder.mkdir()
    found = doctor(sandbox, cwd=folder)
    assert found.state("gitignore") == "off"
    doctor(sandbox, "--fix", cwd=folder)
    assert not (folder / ".gitignore").exists()


def test_a_state_folder_that_is_open_to_others_is_a_finding_that_fix_mends(installed: Sandbox) -> None:
    installed.own_state.chmod(0o755)
    assert doctor(installed).state("folders") == "fail"
    assert doctor(installed, "--fix").state("folders") == "ok"
    assert stat.S_IMODE(os.stat(installed.own_state).st_mode) == 0o700


def test_a_folder_that_cannot_be_written_is_a_finding(installed: Sandbox) -> None:
    installed.write("docs", "a file where the folder should be\n")
    check = doctor(installed).checks["folders"]
    assert check["state"] == "fail"
    assert "docs/adr" in check["reason"]


def test_a_project_that_is_the_home_folder_is_not_doubled(make_sandbox: Callable[..., Sandbox]) -> None:
    sandbox = make_sandbox(project="home/self")
    env = {"HOME": str(sandbox.root)}
    assert sandbox.capture(None, "install", "--all", env=env).rc == 0
    found = doctor(sandbox, env=env)
    assert [found.state(name) for name in ("claude code", "cursor", "codex")] == ["ok", "ok", "warn"]


def test_a_git_operation_in_progress_is_a_warning(installed: Sandbox) -> None:
    (installed.root / ".git" / "MERGE_HEAD").write_text("0" * 40)
    assert "merge in progress" in doctor(installed).checks["git"]["reason"]


def test_drafts_beyond_the_threshold_that_nobody_normalises_are_a_warning(installed: Sandbox) -> None:
    for number in range(3):
        installed.write(f"docs/adr/260304-050{number}-x.md", draft(f"X {number}"))
    assert doctor(installed).checks["drafts"]["reason"] == "3 drafts, normalised from 30"
    check = doctor(installed, env={"ADR_NORMALIZE_THRESHOLD": "2"}).checks["drafts"]
    assert (check["state"], check["fix"]) == ("warn", "normalize-decisions run")
    installed.write(".claude/hooks/.normalize-state", f"{int(time.time()) - 60}\n")
    assert doctor(installed, env={"ADR_NORMALIZE_THRESHOLD": "2"}).state("drafts") == "ok"


def test_waiting_and_given_up_parts_are_told(installed: Sandbox) -> None:
    entry = {"key": "k", "transcript": "/t", "session_id": "s1", "host": "claude", "first": 1.0, "tries": 1}
    installed.write(f"{STATE}/pending/k.json", json.dumps(entry))
    assert doctor(installed).state("pending") == "warn"
    installed.write(f"{STATE}/given-up/k-0.json", json.dumps(entry | {"begin": 0, "end": 5}))
    assert doctor(installed).checks["pending"]["fix"] == "capture-decisions backfill --retry"


def test_an_open_breaker_is_told_with_its_reason(installed: Sandbox) -> None:
    breaker = {"name": "claude sonnet", "until": time.time() + 600, "step": 900, "why": "Credit is too low"}
    installed.write(f"{STATE}/breaker/x.json", json.dumps(breaker))
    assert "Credit is too low" in doctor(installed).checks["breaker"]["reason"]


def test_the_last_fault_is_told(installed: Sandbox) -> None:
    installed.write(".claude/hooks/normalize-decisions.log", f"{STAMP} fault: KeyError: 'x'\nTraceback\n")
    assert "KeyError" in doctor(installed).checks["normalize fault"]["reason"]


def test_the_daily_cap_is_told_when_it_is_reached(installed: Sandbox) -> None:
    assert doctor(installed, env={"ADR_DAILY_CALLS": "0"}).state("calls") == "warn"


def test_sessions_that_no_hook_has_seen_are_told(installed: Sandbox) -> None:
    session = ClaudeSession(installed.home, installed.root)
    session.user("Which cache?")
    check = doctor(installed).checks["sessions"]
    assert check["state"] == "warn"
    assert check["reason"] == "0 of 1 session of the last 7 days captured"
    assert check["fix"] == "capture-decisions backfill --dry-run"


def test_temporary_files_of_a_killed_run_are_removed_by_fix_and_fresh_ones_are_not(
    installed: Sandbox,
) -> None:
    old = installed.write("docs/adr/.decision-hooks-capture-1-ab.tmp", "x")
    fresh = installed.write("docs/adr/.decision-hooks-capture-2-ab.tmp", "x")
    foreign = installed.write("docs/adr/.other.tmp", "x")
    for path in (old, foreign):
        os.utime(path, (time.time() - 7200,) * 2)
    assert doctor(installed).state("leftovers") == "warn"
    found = doctor(installed, "--fix")
    assert f"removed {old}" in found.mended
    assert [path.exists() for path in (old, fresh, foreign)] == [False, True, True]


def test_fix_leaves_temporary_files_while_a_worker_holds_the_lock(installed: Sandbox) -> None:
    import fcntl

    old = installed.write("docs/adr/.decision-hooks-capture-1-ab.tmp", "x")
    os.utime(old, (time.time() - 7200,) * 2)
    with (installed.own_state / "worker.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = doctor(installed, "--fix")
    assert old.exists()
    assert any("while a run is working" in what for what in found.mended)


def test_fix_makes_the_state_folder_and_registers_nothing(sandbox: Sandbox) -> None:
    found = doctor(sandbox, "--fix")
    assert sandbox.own_state.is_dir()
    assert found.state("hooks") == "fail"
    assert not (sandbox.root / ".claude" / "settings.json").exists()
    assert doctor(sandbox, "--fix").mended == []


def test_on_a_terminal_it_shows_the_same(installed: Sandbox) -> None:
    rc, out, err = installed.on_terminal(CAPTURE, "doctor")
    assert (rc, err) == (0, "")
    assert "0 findings" in out


# -- what came with the repository


@pytest.mark.parametrize("place", ["node_modules/.bin/pi", "bin/claude"])
def test_a_program_that_git_tracks_is_named_and_not_run(installed: Sandbox, place: str) -> None:
    own = installed.fake(Path(place).name, path=installed.root / place)
    installed.git("add", "-f", place)
    found = doctor(installed, env={"PATH": f"{own.path.parent}:{installed.environ['PATH']}"}).checks[
        "programs"
    ]
    assert found["state"] == "warn"
    assert f"{own.path} is not run: git tracks it" in found["reason"]
    assert own.calls == []


@pytest.mark.parametrize("kind", ["tracked", "relative", "inside", "link"])
def test_a_script_that_the_repository_names_is_a_finding_and_not_run(installed: Sandbox, kind: str) -> None:
    named, mark = installed.root / STATE / "bin", installed.base / "owned"
    script = installed.root / "tools" / CAPTURE
    script.parent.mkdir()
    for name in (CAPTURE, "normalize-decisions"):
        (script.parent / name).write_text(f"#!/bin/sh\n: >'{mark}'\necho {name}\n")
        (script.parent / name).chmod(0o755)
    before = named.read_text()
    named.write_text({"tracked": before, "relative": f"tools/{CAPTURE}\n"}.get(kind, f"{script}\n"))
    if kind == "link":
        named.rename(installed.root / "named")
        named.symlink_to(installed.root / "named")
    installed.git("add", "-f", str(named) if kind == "tracked" else "tools")
    found = doctor(installed).checks["script"]
    assert found["state"] == "fail"
    assert not mark.exists()
