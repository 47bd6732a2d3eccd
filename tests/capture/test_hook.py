"""Hook mode: guards first, any payload tolerated, nothing on stdout, exit code 0, one clear line in the log."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as quick
from hypothesis import strategies as st

import decision_hooks
from decision_hooks.hosts.event import read_event, read_payload
from decision_hooks.system.project import first_folder, git_top
from support import programs
from support.adr_texts import block
from support.capture_runs import decision, log, pending, ready, session, stems
from support.sandbox import CAPTURE, Sandbox

GUARDS = ("CAPTURE_DECISIONS_RUNNING", "ADR_NORMALIZE_RUNNING", "ADR_HOOKS_SKIP")
BAD_PAYLOADS: dict[str, bytes] = {
    "empty": b"",
    "white space": b" \n\t",
    "no json": b"{not json",
    "a list": b'[{"transcript_path": "x"}]',
    "a number": b"42",
    "null": b"null",
    "cut": b'{"session_id": "abc", "transcript_pa',
    "bytes that are not utf-8": b"\xff\xfe\x00\x01",
    "nested too deep": b'{"a":' * 100_000,
    "NUL": b"\0\0\0",
    "wrong types": b'{"session_id": 1, "transcript_path": [], "cwd": {}, "workspace_roots": "x", "status": 3}',
    "nulls": b'{"session_id": null, "transcript_path": null, "cwd": null, "last_assistant_message": null}',
    "roots of wrong types": b'{"workspace_roots": [null, 7, {}], "conversation_id": []}',
}


def listing(sandbox: Sandbox) -> list[str]:
    return sorted(sandbox.snapshot(without=(".git",)))


# -- guards


@pytest.mark.parametrize("value", ["1", "0", "no", " "])
@pytest.mark.parametrize("name", GUARDS)
def test_a_guard_that_is_not_empty_ends_the_hook_without_a_trace(
    sandbox: Sandbox, name: str, value: str
) -> None:
    before = listing(sandbox)
    ready(sandbox)
    done = sandbox.capture(session(sandbox).payload(), env={name: value})
    assert (done.rc, done.stdout, done.stderr) == (0, "", "")
    assert listing(sandbox) == before


@pytest.mark.parametrize("name", GUARDS)
def test_a_guard_that_is_empty_is_unset(sandbox: Sandbox, name: str) -> None:
    ready(sandbox).answers(decision())
    sandbox.capture(session(sandbox).payload(), env={name: ""})
    assert stems(sandbox) == ["decision-1"]


def test_the_guard_holds_with_flags_too(sandbox: Sandbox) -> None:
    before = listing(sandbox)
    done = sandbox.capture({}, "--detach", "--nonsense", env={GUARDS[0]: "1"})
    assert (done.rc, done.stdout, done.stderr, listing(sandbox)) == (0, "", "", before)


def test_a_subcommand_heeds_no_guard(sandbox: Sandbox) -> None:
    done = sandbox.capture(None, "--version", env={GUARDS[0]: ""})
    assert done.rc == 0
    assert sandbox.capture(None, "no-such-subcommand", env={GUARDS[0]: "1"}).rc == 2


def test_the_guard_does_not_wait_for_stdin(sandbox: Sandbox) -> None:
    process = sandbox.start(CAPTURE, env={GUARDS[2]: "1"})
    assert process.wait(timeout=4) == 0
    process.communicate()


def test_the_guard_imports_nothing_that_costs(sandbox: Sandbox) -> None:
    code = (
        "import sys; from decision_hooks import cli; sys.argv = ['capture-decisions']; rc = cli.capture_main(); "
        "print(rc, sorted(n for n in sys.modules if n.partition('.')[0] in "
        "('decision_hooks', 'json', 're', 'typing', 'dataclasses', 'yaml', 'subprocess', 'fcntl')))"
    )
    command = [sys.executable, "-S", "-c", code]
    env = {"PYTHONPATH": str(Path(decision_hooks.__file__).parent.parent), GUARDS[0]: "1"}
    shown = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "0 ['decision_hooks', 'decision_hooks.cli']"


# -- payloads


@pytest.mark.parametrize("payload", BAD_PAYLOADS.values(), ids=BAD_PAYLOADS.keys())
def test_a_bad_payload_is_an_event_without_a_session(payload: bytes, tmp_path: Path) -> None:
    cwd = str(tmp_path)
    event = read_event(read_payload(payload), {}, {}, cwd=cwd, git_top=lambda folder: "")
    assert (any(event.transcripts), event.message) == (False, "")
    assert event.session_id
    assert first_folder(event.root_candidates) == cwd


@pytest.mark.parametrize("name", ["empty", "wrong types"])
def test_a_payload_of_any_kind_leaves_one_clear_line(sandbox: Sandbox, name: str) -> None:
    ready(sandbox)
    done = sandbox.capture(BAD_PAYLOADS[name])
    assert (done.rc, done.stdout, done.stderr) == (0, "", "")
    assert done.messages == ["no transcript path [no transcript]"]
    assert sandbox.adr_names() == []


def test_a_byte_order_mark_before_the_payload_is_passed_over(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    sandbox.capture(b"\xef\xbb\xbf" + json.dumps(session(sandbox).payload()).encode())
    assert stems(sandbox) == ["decision-1"]


def test_bytes_that_are_not_utf_8_are_replaced_in_a_payload(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    payload = {"session_id": "x", "cwd": str(sandbox.root), "last_assistant_message": "MARK"}
    sandbox.capture(json.dumps(payload).encode().replace(b"MARK", b"said \xff\xfe so"))
    assert "said �� so" in pi.only_call.prompt


def test_lone_surrogates_and_nul_in_a_payload_do_no_harm(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    message, session_id = "a \ud83d b \0 c", "x\ud83d\0y"
    payload = {"session_id": session_id, "cwd": str(sandbox.root), "last_assistant_message": message}
    done = sandbox.capture(payload)
    assert done.rc == 0
    assert stems(sandbox) == ["decision-1"]


def test_a_closed_stdin_is_no_payload(sandbox: Sandbox) -> None:
    command = ["/bin/sh", "-c", '"$0" <&-', programs.script(CAPTURE)]
    process = programs.start(command, environ=sandbox.environment(), cwd=sandbox.root)
    assert programs.finish(process, None, 20)[:3] == (0, "", "")
    assert log(sandbox) == "no transcript path [no transcript]"


def test_a_terminal_as_stdin_is_no_payload_and_is_not_waited_for(sandbox: Sandbox) -> None:
    begun = time.monotonic()
    rc, out, err = sandbox.on_terminal(CAPTURE)
    assert (rc, out) == (0, "")
    assert err == "capture-decisions: no transcript path\n"
    assert time.monotonic() - begun < 4


def test_a_host_that_leaves_the_pipe_open_is_not_waited_for(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    process = sandbox.start(CAPTURE)
    assert process.stdin is not None
    begun = time.monotonic()
    process.stdin.write(json.dumps(session(sandbox).payload()).encode())
    process.stdin.flush()
    assert process.wait(timeout=20) == 0
    assert time.monotonic() - begun < 4
    process.communicate()
    assert len(pi.calls) == 1


def test_a_payload_that_comes_in_pieces_is_read_whole(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    data = json.dumps(session(sandbox).payload(padding="x" * 200_000)).encode()
    process = sandbox.start(CAPTURE)
    assert process.stdin is not None
    for piece in (data[:10], data[10:70_000], data[70_000:]):
        process.stdin.write(piece)
        process.stdin.flush()
        time.sleep(0.1)
    assert programs.finish(process, None, 20)[0] == 0
    assert stems(sandbox) == ["decision-1"]


any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = (
    "session_id", "conversation_id", "generation_id", "transcript_path", "cwd", "workspace_roots", "status",
    "last_assistant_message", "hook_event_name",
)  # fmt: skip


@quick(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), any_json), st.binary(max_size=30))
def test_no_payload_raises(fields: dict[str, Any], noise: bytes) -> None:
    for data in (json.dumps(fields).encode(), noise, json.dumps(fields).encode() + noise):
        event = read_event(read_payload(data), {}, {}, cwd="/", git_top=git_top)
        assert os.path.isabs(first_folder(event.root_candidates))
        assert event.session_id
        (event.session_id + event.message + "".join(event.transcripts)).encode()


# -- flags


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--verbose"], "--verbose"),
        (["-x"], "-x"),
        (["--detach", "now"], "now"),
        (["--project-root"], "--project-root"),
        (["--detach=yes"], "--detach"),
    ],
)
def test_a_flag_that_is_not_known_is_one_line_and_no_work(
    sandbox: Sandbox, words: list[str], named: str
) -> None:
    pi = ready(sandbox).answers(decision())
    done = sandbox.capture(session(sandbox).payload(), *words)
    assert (done.rc, done.stdout, done.stderr) == (0, "", "")
    assert len(done.messages) == 1
    assert named in done.messages[0]
    assert pi.calls == []
    assert pending(sandbox) == []


@pytest.mark.parametrize("form", ["{name} {value}", "{name}={value}"])
def test_flags_tell_what_a_host_without_stdin_cannot(sandbox: Sandbox, form: str) -> None:
    pi = ready(sandbox).answers(decision())
    made = session(sandbox)
    flags = {"--project-root": sandbox.root, "--transcript": made.path, "--session-id": "given-by-flag"}
    words = [word for name, value in flags.items() for word in form.format(name=name, value=value).split(" ")]
    sandbox.capture(None, *words, cwd=sandbox.home)
    assert "request 1 of 1" in pi.only_call.prompt
    (text,) = sandbox.drafts().values()
    assert "session: given-by-flag\n" in text


def test_flags_win_over_payload_and_environment(sandbox: Sandbox) -> None:
    pi = ready(sandbox).answers(decision())
    told, meant = session(sandbox, 1), session(sandbox, 2)
    flags = [f"--transcript={meant.path}", "--session-id=mine", f"--project-root={sandbox.root}"]
    env = {"CLAUDE_PROJECT_DIR": str(sandbox.home), "CURSOR_TRANSCRIPT_PATH": str(told.path)}
    sandbox.capture(told.payload(last_assistant_message=""), *flags, env=env)
    assert "request 1 of 2" in pi.only_call.prompt
    assert stems(sandbox) == ["decision-1"]


# -- stdout, exit code, log


def test_a_fault_is_one_line_with_its_traceback_under_it(sandbox: Sandbox) -> None:
    code = (
        "import sys; from decision_hooks import cli; from decision_hooks.capture import queue\n"
        "def fail(*rest): raise RuntimeError('two\\nlines')\n"
        "queue.enter = fail; sys.argv = ['capture-decisions']; sys.exit(cli.capture_main())"
    )
    process = programs.start([sys.executable, "-c", code], environ=sandbox.environment(), cwd=sandbox.root)
    assert programs.finish(process, {}, 20)[:3] == (0, "", "")
    first, second, *_, last = sandbox.log(CAPTURE).splitlines()
    assert re.fullmatch(r"\d{4}-\S+ fault: RuntimeError: two\\nlines", first)
    assert second == "Traceback (most recent call last):"
    assert last == "lines"


def test_a_fault_of_a_subcommand_is_no_finding(sandbox: Sandbox) -> None:
    code = (
        "import sys; from decision_hooks import cli; from decision_hooks.commands import dispatch\n"
        "def fail(*rest): raise RuntimeError('broken')\n"
        "dispatch.run = fail; sys.argv = ['capture-decisions', 'status']; sys.exit(cli.capture_main())"
    )
    process = programs.start([sys.executable, "-c", code], environ=sandbox.environment(), cwd=sandbox.root)
    rc, stdout, stderr, _ = programs.finish(process, None, 20)
    assert (rc, stdout) == (2, "")
    assert stderr.splitlines()[0] == "Traceback (most recent call last):"
    assert stderr.splitlines()[-1] == "capture-decisions: fault: RuntimeError: broken"


def test_each_line_of_the_log_has_its_time_with_the_zone(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    done = sandbox.capture(session(sandbox).payload(), env={"TZ": "EST5"})
    assert len(done.log.splitlines()) == 2
    for line in done.log.splitlines():
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d-05:00 \S", line)


def test_the_log_tells_the_path_of_the_draft(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    done = sandbox.capture(session(sandbox).payload())
    (name,) = sandbox.drafts()
    assert done.messages == ["using pi (model: tiny-model)", f"wrote: {sandbox.adr / name}"]


def test_foreign_text_in_the_log_is_one_line_masked_and_short(sandbox: Sandbox) -> None:
    secret = "sk-ant-api03-" + "Ab3" * 30
    ready(sandbox).answers(f"I\nwent\non {secret} with the talk " + "x" * 3000)
    done = sandbox.capture(session(sandbox).payload())
    (line,) = (line for line in done.log.splitlines() if "refused" in line)
    assert "I\\nwent\\non" in line
    assert secret not in done.log
    assert len(line) < 450


@pytest.mark.parametrize("lang", ["C", "POSIX", "uk_UA.KOI8-U", None])
def test_files_are_utf_8_whatever_the_locale_says(sandbox: Sandbox, lang: str | None) -> None:
    ready(sandbox).answers(block("Кеш у SQLite", context="Потрібен кеш — 🐘."))
    made = session(sandbox)
    made.user("Зроби кеш 🐘")
    made.assistant("Готово")
    env = {"LANG": lang, "LC_ALL": lang, "PYTHONUTF8": None, "PYTHONCOERCECLOCALE": "0"}
    done = sandbox.capture(made.payload(), env=env)
    assert done.rc == 0
    (text,) = sandbox.drafts().values()
    assert "Потрібен кеш — 🐘." in text
    assert stems(sandbox) == ["кеш-у-sqlite"]


def test_an_unwritable_project_ends_in_peace(sandbox: Sandbox) -> None:
    ready(sandbox).answers(decision())
    (sandbox.root / ".claude").write_text("a file where the folder should be")
    done = sandbox.capture(session(sandbox).payload())
    assert (done.rc, done.stdout, done.stderr) == (0, "", "")
    assert sandbox.adr_names() == []


def test_a_file_where_the_records_should_be_is_told_and_the_draft_comes_when_it_has_gone(
    sandbox: Sandbox,
) -> None:
    pi = ready(sandbox).answers(decision())
    sandbox.write("docs/adr", "in the way")
    made = session(sandbox)
    done = sandbox.capture(made.payload())
    assert done.rc == 0
    assert "docs/adr" in done.messages[-1]
    assert "Traceback" not in done.log
    sandbox.capture(made.payload())
    (sandbox.root / "docs" / "adr").unlink()
    sandbox.capture(made.payload())
    assert stems(sandbox) == ["decision-1"]
    assert len(pi.calls) == 1


def test_the_log_keeps_its_newer_half_at_1_mib(sandbox: Sandbox) -> None:
    ready(sandbox).always("NONE")
    sandbox.capture(session(sandbox, 1).payload())
    line = "2026-01-01T00:00:00+00:00 " + "x" * 173 + "\n"
    path = sandbox.hooks / "capture-decisions.log"
    path.write_text("oldest\n" + line * 5300)
    sandbox.capture(session(sandbox, 2).payload())
    text = path.read_text()
    assert 400_000 < len(text) < 700_000
    assert "oldest" not in text
    assert text.startswith("2026-01-01T00:00:00+00:00 x")
    assert text.endswith(" NONE\n")
