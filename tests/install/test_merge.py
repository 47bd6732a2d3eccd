"""Entries merged into the text of a host's file, and taken out of it again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decision_hooks.hosts import entry_line
from decision_hooks.hosts.claude.entries import plugin_entries
from decision_hooks.hosts.entry_line import HookEntry, HookFile
from decision_hooks.hosts.marks import is_sealed, marked_id, sealed
from decision_hooks.hosts.table import targets
from decision_hooks.install import entries as host_entries
from decision_hooks.install import gitignore
from decision_hooks.install import merge as host_config
from decision_hooks.install.entries import LeftAlone
from decision_hooks.install.merge import merge, strip

CLAUDE = targets()["claude"].hooks
CURSOR = targets()["cursor"].hooks
CODEX = targets()["codex"].hooks
assert CLAUDE
assert CURSOR
assert CODEX
FILES = (CLAUDE, CURSOR, CODEX)
HOOKS = Path(__file__).parents[2] / "hooks"
SETTINGS = Path(__file__).parents[1] / "data" / "settings" / "merged"


def commands(data: bytes, file: HookFile) -> list[str]:
    """The commands of the stop event, by the standard library."""
    items = json.loads(data.decode("utf-8-sig"))["hooks"][file.layout.event]
    entries = [entry for item in items for entry in item["hooks"]] if file.layout.grouped else items
    return [entry["command"] for entry in entries]


# -- the files under hooks/ are what install writes


@pytest.mark.parametrize(
    ("name", "host"),
    [("claude-code.settings.json", "claude"), ("cursor.hooks.json", "cursor"), ("codex.hooks.json", "codex")],
)
def test_the_files_under_hooks_are_what_is_merged_into_an_empty_place(name: str, host: str) -> None:
    file = targets()[host].hooks
    assert file
    assert (HOOKS / name).read_bytes() == merge(None, file).data


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("commands/n-adr-normalize.md", "claude"),
        ("cursor-commands/n-adr-normalize.md", "cursor"),
        ("pi-extension.ts", "pi"),
    ],
)
def test_the_other_files_under_hooks_are_what_install_writes(name: str, host: str) -> None:
    (own,) = targets()[host].files
    assert (HOOKS / name).read_bytes() == own.text.encode()


def test_the_hooks_of_the_plugin_are_those_of_the_code() -> None:
    text = entry_line.whole(plugin_entries(), entry_line.GROUPED)
    assert (HOOKS / "hooks.json").read_text(encoding="utf-8") == text


def test_nothing_else_lies_under_hooks() -> None:
    assert sorted(str(path.relative_to(HOOKS)) for path in HOOKS.rglob("*") if path.is_file()) == [
        "claude-code.settings.json",
        "codex.hooks.json",
        "commands/n-adr-normalize.md",
        "cursor-commands/n-adr-normalize.md",
        "cursor.hooks.json",
        "hooks.json",
        "pi-extension.ts",
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_an_entry_holds_no_path_of_a_machine_and_is_one_line(file: HookFile) -> None:
    for command in commands(merge(None, file).data, file):
        assert "\n" not in command
        assert re.findall(r"""(?:^|[\s"'=<>(])(/[\w./-]+)""", command) == ["/dev/null", "/dev/null"]


def test_claude_gets_both_programs_with_the_limits_of_the_pair() -> None:
    tree = json.loads(merge(None, CLAUDE).data)
    ((group,),) = (tree["hooks"]["Stop"],)
    assert [(entry["type"], entry["timeout"]) for entry in group["hooks"]] == [
        ("command", 180),
        ("command", 600),
    ]
    assert [("async" in entry) for entry in group["hooks"]] == [False, False]
    for program, entry in zip(entry_line.PROGRAMS, group["hooks"], strict=True):
        assert f"command -v {program}" in entry["command"]
        assert " --detach " in entry["command"]


def test_cursor_gets_version_1_and_the_stop_event_alone() -> None:
    tree = json.loads(merge(None, CURSOR).data)
    assert tree["version"] == 1
    assert list(tree["hooks"]) == ["stop"]
    assert [entry["timeout"] for entry in tree["hooks"]["stop"]] == [180, 600]


# -- merging


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_second_merge_changes_nothing(file: HookFile) -> None:
    first = merge(b'{"a": 1}\n', file)
    assert merge(first.data, file).data == first.data


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
@pytest.mark.parametrize("text", ['{"hooks": {}}', '{"hooks": {"Stop": [], "stop": []}}', '{\n  "a": 1\n}\n'])
def test_what_a_merge_added_is_taken_out_exactly(file: HookFile, text: str) -> None:
    data = text.encode()
    merged = merge(data, file)
    assert len(commands(merged.data, file)) == 2
    assert strip(merged.data, file, merged.trace) == data


def test_entries_of_others_in_the_same_event_stay_and_keep_their_order() -> None:
    data = b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "one"}]}]}}'
    found = commands(merge(data, CLAUDE).data, CLAUDE)
    assert found[0] == "one"
    assert len(found) == 3


def test_a_marked_entry_of_another_version_is_made_current_in_place_and_keeps_what_the_user_set() -> None:
    entry = {"type": "command", "command": "capture-decisions --old # decision-hooks", "timeout": 20}
    data = json.dumps({"hooks": {"Stop": [{"matcher": "", "hooks": [entry]}]}, "model": "x"}).encode()
    tree = json.loads(merge(data, CLAUDE).data)
    first = tree["hooks"]["Stop"][0]["hooks"][0]
    assert first["command"] == CLAUDE.entries[0].command
    assert first["timeout"] == 20
    assert len(commands(merge(data, CLAUDE).data, CLAUDE)) == 2


def test_a_marked_entry_that_stands_twice_is_kept_once() -> None:
    once = merge(None, CLAUDE).data
    tree = json.loads(once)
    tree["hooks"]["Stop"] *= 3
    data = json.dumps(tree, indent=2).encode()
    assert commands(merge(data, CLAUDE).data, CLAUDE) == [entry.command for entry in CLAUDE.entries]


def test_an_older_entry_is_replaced_and_comes_back() -> None:
    command = '"command": "sh .claude/hooks/capture-decisions.sh"'
    data = (
        f'{{"hooks": {{"Stop": [{{"hooks": [{{"type": "command", {command}, "async": true}}]}}]}}}}'.encode()
    )
    merged = merge(data, CLAUDE)
    assert len(commands(merged.data, CLAUDE)) == 2
    assert all("--detach" in command for command in commands(merged.data, CLAUDE))
    assert any("older entry of capture-decisions" in note for note in merged.notes)
    assert strip(merged.data, CLAUDE, merged.trace) == data


def test_an_older_entry_beside_ours_goes() -> None:
    tree = json.loads(merge(None, CURSOR).data)
    tree["hooks"]["stop"].insert(0, {"command": ".claude/hooks/normalize-decisions.sh"})
    merged = merge(json.dumps(tree).encode(), CURSOR)
    assert sorted(commands(merged.data, CURSOR)) == sorted(entry.command for entry in CURSOR.entries)


def test_a_command_that_does_more_than_run_the_program_stays_and_is_told_of() -> None:
    data = b'{"hooks": {"stop": [{"command": "echo x && capture-decisions"}]}}'
    merged = merge(data, CURSOR)
    assert commands(merged.data, CURSOR)[0] == "echo x && capture-decisions"
    assert any("nothing runs twice" in note for note in merged.notes)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("capture-decisions", True),
        ("capture-decisions --detach", True),
        ("/opt/my venv/bin/capture-decisions", False),  # two words
        ('"/opt/my venv/bin/capture-decisions" --detach', True),
        (".claude/hooks/capture-decisions.sh", True),
        ('"$CLAUDE_PROJECT_DIR"/.claude/hooks/normalize-decisions.sh', True),
        ("bash .claude/hooks/normalize-decisions.sh", True),
        ("/usr/bin/env bash ./normalize-decisions.sh", True),
        ("capture-decisions && echo", False),
        ("capture-decisions; rm x", False),
        ("echo capture-decisions", False),
        ("capture-decisions status", False),
        ("capture-decisions.sh.bak", False),
        ("my-capture-decisions", False),
        ("capture-decisions > log", False),
        ("$(capture-decisions)", False),
        ("bash", False),
        ("", False),
        ("'", False),
    ],
)
def test_an_older_entry_is_one_that_only_runs_one_of_the_pair(command: str, expected: bool) -> None:
    assert host_entries.runs_only(command) is expected


@settings(deadline=None)
@given(st.text())
def test_any_command_is_judged(command: str) -> None:
    assert host_entries.runs_only(command) in (True, False)


# -- entries are known by their ids


OBSERVE = HookEntry("observe", "capture-decisions", "observe --hook", 20)
OBSERVE = OBSERVE._replace(command=entry_line.line(OBSERVE))


def with_observe(file: HookFile) -> HookFile:
    """A host's file in a version with a third entry, which runs a program that another entry runs too."""
    return file._replace(entries=(*file.entries, OBSERVE))


def ids(data: bytes, file: HookFile) -> list[str]:
    """The ids in the marks, by the text alone."""
    return [command.rpartition("# decision-hooks ")[2] for command in commands(data, file)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_three_merges_keep_three_entries_of_two_programs(file: HookFile) -> None:
    first = merge(b'{"a": 1}\n', with_observe(file))
    assert ids(first.data, file) == ["capture", "normalize", "observe"]
    assert 'exec "$p" observe --hook "$@"' in commands(first.data, file)[2]
    second = merge(first.data, with_observe(file))
    assert (second.data, second.notes) == (first.data, ())
    assert merge(second.data, with_observe(file)).data == first.data
    assert strip(first.data, with_observe(file), first.trace) == b'{"a": 1}\n'


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_third_entry_is_added_to_those_of_the_form_without_ids(file: HookFile) -> None:
    new = merge(None, file).data
    old = re.sub(rb"(# decision-hooks) [a-z]+", rb"\1", new)
    assert old != new
    assert merge(old, file).data == new
    assert ids(merge(old, with_observe(file)).data, file) == ["capture", "normalize", "observe"]
    assert strip(old, file, None) == strip(new, file, None)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_an_id_of_another_version_stays_at_an_installation_and_goes_with_uninstall(file: HookFile) -> None:
    newer = merge(b'{"a": 1}\n', with_observe(file))
    merged = merge(newer.data, file)
    assert merged.data == newer.data
    assert strip(merged.data, file, newer.trace) == b'{"a": 1}\n'


@pytest.mark.parametrize("path", sorted(SETTINGS.glob("*.json")), ids=lambda path: path.stem)
def test_three_entries_are_taken_out_of_every_recorded_file(path: Path) -> None:
    file, before = with_observe(CLAUDE), path.read_bytes()
    merged = merge(before, file)
    assert merge(merged.data, file).data == merged.data
    assert sorted(found.id for found in host_config.registered(merged.data, file.layout)) == sorted(
        ("capture", "normalize", "observe")
    )
    left = strip(merged.data, file, merged.trace)
    assert b"# decision-hooks" not in left
    if not path.stem.startswith(("empty", "white", "bom-only", "older")):
        assert left == before


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("x # decision-hooks", ""),
        ("x # decision-hooks \n", ""),
        ("x # decision-hooks capture", "capture"),
        ("x # decision-hooks some-other \n", "some-other"),
        ('grep "# decision-hooks" y; z # decision-hooks capture', "capture"),
        ('grep "# decision-hooks" y', None),
        ("x # decision-hooks two words", None),
        ("x # decision-hooks\nls", None),
        ("x # decision-hooks: begin", None),
        ("x # decision-hooksy", None),
        ("capture-decisions", None),
        ("", None),
    ],
)
def test_a_mark_ends_the_command_and_may_have_one_id(command: str, expected: str | None) -> None:
    assert marked_id(command) == expected


# -- the backend in the settings of Claude Code


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"model": "opus"}',
        '{"env": {}}',
        '{"env": {"A": "1"}}',
        '{"env": {"CAPTURE_DECISIONS_BACKEND": "pi"}}',
    ],
)
def test_a_backend_is_set_where_the_host_has_a_place_for_it_and_comes_out_again(text: str) -> None:
    merged = merge(text.encode(), CLAUDE, "claude")
    assert host_config.environ_of(merged.data)["CAPTURE_DECISIONS_BACKEND"] == "claude"
    assert merge(merged.data, CLAUDE, "claude").data == merged.data
    assert merge(merged.data, CLAUDE).data == merged.data
    assert strip(merged.data, CLAUDE, merged.trace) == text.encode()


def test_a_host_without_a_place_for_it_gets_no_backend() -> None:
    assert merge(None, CURSOR, "claude").data == merge(None, CURSOR).data
    assert merge(None, CODEX, "claude").data == merge(None, CODEX).data


def test_an_env_that_is_no_object_is_left_alone() -> None:
    with pytest.raises(LeftAlone, match='"env" is not an object'):
        merge(b'{"env": []}', CLAUDE, "claude")


# -- taking out without a memory


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_entries_are_found_by_their_mark_when_nobody_remembers(file: HookFile) -> None:
    merged = merge(b'{"model": "opus"}\n', file)
    left = json.loads(strip(merged.data, file, None))
    left.pop("version", None)  # nobody remembers whose it was
    assert left == {"model": "opus"}


def test_entries_are_found_after_another_program_wrote_the_file_anew() -> None:
    merged = merge(
        b'{"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "one"}]}]}}', CLAUDE
    )
    tree = json.loads(merged.data)
    tree["permissions"] = {"allow": ["Bash"]}
    again = json.dumps(tree, indent=4).encode()
    assert json.loads(strip(again, CLAUDE, merged.trace)) == {
        "model": "opus",
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "one"}]}]},
        "permissions": {"allow": ["Bash"]},
    }


def test_a_file_without_anything_of_ours_is_stripped_of_nothing() -> None:
    data = b'{"hooks": {"Stop": []},  "env": {}}'
    assert strip(data, CLAUDE, None) == data


# -- wrong forms


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        (CLAUDE, "[]", "the file is not an object"),
        (CLAUDE, '{"hooks": []}', '"hooks" is not an object'),
        (CLAUDE, '{"hooks": {"Stop": {}}}', '"Stop" is not an array'),
        (CLAUDE, '{"hooks": {"Stop": [1]}}', 'an item of "Stop" is not an object'),
        (CLAUDE, '{"hooks": {"Stop": [{}]}}', '"hooks" of a group is not an array'),
        (CURSOR, '{"version": "1"}', '"version" is not a number'),
        (CURSOR, '{"hooks": {"stop": {}}}', '"stop" is not an array'),
        (CURSOR, '{"hooks": {"stop": ["x"]}}', 'an item of "stop" is not an object'),
        (CODEX, '{"a": 1,}', "line 1: a comma before }"),
    ],
)
def test_a_file_of_another_form_is_left_alone_with_the_reason(file: HookFile, text: str, words: str) -> None:
    with pytest.raises(LeftAlone) as error:
        merge(text.encode(), file)
    assert words in str(error.value)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_merged_or_left_alone(data: bytes) -> None:
    for file in FILES:
        try:
            merged = merge(data, file)
        except LeftAlone:
            continue
        assert len(host_config.registered(merged.data, file.layout)) == 2


# -- the seal of files that are wholly ours


def test_a_sealed_text_is_known_whatever_its_version_and_line_ends() -> None:
    text = sealed("some older text\n", "// {}")
    assert is_sealed(text.encode())
    assert is_sealed(text.replace("\n", "\r\n").encode())


def test_a_sealed_text_that_was_changed_is_the_users() -> None:
    text = sealed("some older text\n", "<!-- {} -->")
    assert not is_sealed(text.replace("older", "own").encode())
    assert not is_sealed((text + "more\n").encode())
    assert not is_sealed(b"")
    assert not is_sealed(b"\xff")


# -- .gitignore


LINES = tuple(rule.line for rule in gitignore.RULES)


@pytest.mark.parametrize(
    "text", ["", "*.pyc\n", "*.pyc", "a\r\nb\r\n", "# привіт\n\n", "a\n\n\n", "\n", "bad \udcff byte\n"]
)
def test_a_block_is_added_at_the_end_and_taken_out(text: str) -> None:
    data = text.encode("utf-8", "surrogateescape")
    grown = gitignore.with_lines(data, LINES)
    assert grown.startswith(data)
    assert [line for line in LINES if line.encode() in grown.splitlines()] == list(LINES)
    left = gitignore.without_block(grown)
    assert left in (data, data + b"\n", data + b"\r\n")  # a last line gets its end


def test_lines_of_the_user_in_the_block_stay() -> None:
    grown = gitignore.with_lines(b"a\n", LINES).replace(b"dist/\n", b"dist/\nmine/\n")
    assert gitignore.without_block(grown) == b"a\n\nmine/\n"


def test_a_line_that_came_later_goes_into_the_block_that_is_there() -> None:
    grown = gitignore.with_lines(b"a\n", LINES[:2])
    assert gitignore.with_lines(grown, LINES[2:]) == gitignore.with_lines(b"a\n", LINES)


def test_only_lines_that_are_neither_there_nor_covered_nor_tracked_are_needed() -> None:
    data = b"/build\n dist/ \n"
    needed = gitignore.needed(
        data,
        lambda paths: [path for path in paths if path.endswith((".log", ".lock"))],
        lambda: "src/node_modules/a\n",
    )
    assert needed == ("*.secret", ".claude/hooks/.normalize-state")
