"""What each sample of a host holds: typed requests and edits, and nothing that was injected."""

from __future__ import annotations

import pytest

from decision_hooks.hosts import line_filter, transcript
from support.session_lines import SAMPLES, sample, texts

LAB = "/tmp/lab/proj"
STRAY = 'this blew up:\n  File "/Users/dev/demo-app/run.py", line 1, in <module>\n    from app import main\n'
EXPECTED: dict[str, tuple[list[str], list[str]]] = {
    "claude/interactive_after_clear.jsonl": (["after clear ask"], []),
    "claude/interactive_queued_command_tool_interrupt.jsonl": (
        ["BASH[sleep 6; echo slept]", "actually use Postgres not SQLite", "BASH[sleep 20; echo slept]"],
        [],
    ),
    "claude/interactive_rewind_interrupt_slash_compact.jsonl": (
        [
            "hello interactive one",
            "please WRITE /tmp/lab/proj/src/two.py now",
            "please SLOW15 answer",
            "after rewind ask",
            "/mycmd alpha beta",
            "after compact ask",
        ],
        [f"{LAB}/src/two.py"],
    ),
    "claude/interactive_stop_hook_cancelled.jsonl": (["hello", "hello2", "typed during hook"], []),
    "claude/p_api_error.jsonl": (
        ["ERR400[Your credit balance is too low to access the Anthropic API.]"],
        [],
    ),
    "claude/p_bash_nul_invalid_utf8.jsonl": (["BASH[printf 'a\\0b\\377c']"], []),
    "claude/p_denied_write.jsonl": (["WRITE /tmp/lab/flush/denied.txt"], []),
    "claude/p_surrogate_nul_u2028.jsonl": (["please SURR"], []),
    "claude/p_write.jsonl": (["please WRITE /tmp/lab/proj/src/app.py now"], [f"{LAB}/src/app.py"]),
    "claude/agentsview_queued_system_messages.jsonl": (
        ["Your final response is captured verbatim into ..."],
        [],
    ),
    "claude/agentsview_truncated.jsonl": (["hello"], []),
    "claude/potsherd_11111111.jsonl": (
        ["how do we pin the pgbouncer prepared-statement setting?", "ship it"],
        ["/tmp/potsherd-alpha/db/pool.ts"],
    ),
    "cursor/claudemem_cursor-session.jsonl": (
        ["please list the files in src/", "thanks, also tell me what you found"],
        [],
    ),
    "cursor/potsherd_aaaaaaaa.jsonl": (
        [
            "add a health check endpoint to the demo app and wire it into the router",
            "match the button colour in the screenshot",
            STRAY + "and the log had a stray </user_query> in it, ignore that",
        ],
        [
            "/Users/dev/demo-app/src/health.ts",
            "/Users/dev/demo-app/src/router.ts",
            "/Users/dev/demo-app/notebooks/Smoke.ipynb",
        ],
    ),
    "pi/lab_pi_0.73.1_1.jsonl": (["please WRITE src/app.py", "now EDIT src/app.py"], ["src/app.py"]),
    "pi/lab_pi_0.73.1_4.jsonl": (["ERR401 x"], []),
    "pi/potsherd_c003.jsonl": (["summarise the watcher change", "try again"], []),
    "pi/specstory_branching.jsonl": (["common prompt", "right branch prompt"], []),
    "pi/specstory_compaction.jsonl": (
        ["first prompt before compaction", "second prompt after compaction"],
        [],
    ),
    "pi/specstory_fields.jsonl": (["hello as a plain string", "hello as array"], []),
    "pi/specstory_v1_legacy.jsonl": (["legacy prompt", "legacy prompt two"], []),
    "codex/agentsview_fc_args_2.jsonl": (
        ["apply patch"],
        ["internal/parser/codex.go", "internal/parser/parser_test.go"],
    ),
    "codex/lab_codex_0.171.0_apply_patch.jsonl": (["please PATCH it"], ["/tmp/lab/cxproj/src/app.py"]),
    "codex/potsherd_d1d1.jsonl": (
        ["add a changelog entry for the widget pipeline", "now list the repo root"],
        ["/tmp/potsherd-codex-demo/CHANGELOG.md"],
    ),
}
INJECTED = (
    "system-reminder",
    "Stop hook feedback",
    "local-command",
    "Request interrupted",
    "continued from a previous conversation",
    "task-notification",
    "environment_context",
    "recommended_plugins",
    "Credit balance is too low",
    "insufficient credit",
    "injected by",
    "Injected context",
    "The above subagent result",
    "bash-input",
    "legacy compaction summary",
    "SYNTHETIC",
)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_sample_gives_its_typed_requests_and_its_edits(name: str) -> None:
    requests, edits = EXPECTED[name]
    session = transcript.parse(sample(name))
    assert [entry.text for entry in session.entries if entry.kind == "user"] == requests
    assert [edit.path for edit in session.edits] == edits
    assert session.host == name.partition("/")[0]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_nothing_injected_is_in_an_entry(name: str) -> None:
    session = transcript.parse(sample(name))
    texts = "\n".join(entry.text for entry in session.entries if entry.kind != "tool")
    assert [word for word in INJECTED if word in texts] == []


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_filter_of_lines_loses_no_request_and_no_edit(name: str) -> None:
    lines = sample(name)
    whole = transcript.parse(lines)
    some = transcript.parse([line for line in lines if line_filter.worth_reading(line)])
    wanted = ("user", "answer", "plan")
    assert [e.text for e in some.entries if e.kind in wanted] == [
        e.text for e in whole.entries if e.kind in wanted
    ]
    assert some.edits == whole.edits
    least = transcript.parse([line for line in lines if line_filter.edit_like(line)])
    assert [edit.path for edit in least.edits] == [edit.path for edit in whole.edits]


def test_every_sample_of_the_folder_is_in_the_table() -> None:
    others = {"claude/subagent.jsonl", "claude/ccl_edge_cases.jsonl"}
    found = {str(path.relative_to(SAMPLES)) for path in SAMPLES.rglob("*.jsonl")}
    assert found == set(EXPECTED) | others


def test_records_of_odd_shape_cost_themselves_only() -> None:
    session = transcript.parse(sample("claude/ccl_edge_cases.jsonl"))
    requests = [entry.text for entry in session.entries if entry.kind == "user"]
    assert requests[2] == "test-command --verbose --output /tmp/test.log"
    assert requests[3].startswith("Testing special characters: café")
    assert requests[4] == "wow error"
    assert session.bad_lines == 3
    assert [edit.path for edit in session.edits] == ["/tmp/complex_example.py"]


def test_of_a_subagents_file_only_the_edits_count() -> None:
    session = transcript.parse(sample("claude/subagent.jsonl"))
    assert [(edit.path, edit.cwd) for edit in session.edits] == [(f"{LAB}/src/sub.py", LAB)]
    assert session.entries == ()


def test_surrogates_nul_and_line_separators_leave_clean_text() -> None:
    session = transcript.parse(sample("claude/p_surrogate_nul_u2028.jsonl"))
    text = texts(session, "assistant")[-1]
    assert text
    assert "\0" not in text
    assert text.encode("utf-8").decode("utf-8") == text


def test_cursor_times_come_from_the_text() -> None:
    session = transcript.parse(sample("cursor/potsherd_aaaaaaaa.jsonl"))
    assert session.entries[0].time == 1777835340.0  # 4 May 2026, 12:39 AM at UTC+5:30


def test_a_cursor_line_that_repeats_the_one_before_is_told_once() -> None:
    session = transcript.parse(sample("cursor/potsherd_aaaaaaaa.jsonl"))
    texts = [entry.text for entry in session.entries]
    assert texts.count("Reading the two files you named before I touch anything.") == 1


def test_each_codex_message_is_told_once() -> None:
    session = transcript.parse(sample("codex/potsherd_d1d1.jsonl"))
    texts = [entry.text for entry in session.entries if entry.kind == "assistant"]
    assert texts == [
        "Added CHANGELOG.md with the widget pipeline entry.",
        "Two files: CHANGELOG.md and README.md.",
    ]
