"""Copies of a session without ids, and messages that grow after they were captured."""

from __future__ import annotations

import json

import pytest

from support.capture_runs import decision, part_of, ready, stems
from support.claude_session import ClaudeSession
from support.codex_session import CodexSession
from support.cursor_session import CursorSession
from support.sandbox import Sandbox


def codex(sandbox: Sandbox, number: int) -> CodexSession:
    """A session of Codex."""
    return CodexSession(sandbox.home, sandbox.root, f"01a22a71-dd16-7c32-bcd5-9d1a13ec000{number}")


def cursor(sandbox: Sandbox, number: int) -> CursorSession:
    """A session of Cursor."""
    return CursorSession(sandbox.home, sandbox.root, f"0000000{number}-0000-4000-8000-000000000000")


MAKERS = [codex, cursor]


def talk(made: CodexSession | CursorSession, *turns: tuple[str, str]) -> None:
    """Say some turns."""
    for asked, answered in turns:
        made.user(asked)
        made.assistant(answered)


FIRST = [
    ("Which store do we take?", "SQLite, it is embedded."),
    ("yes", "Done."),
    ("And the queue?", "None is needed."),
]


@pytest.mark.parametrize("maker", MAKERS)
def test_a_copy_of_a_session_begins_after_what_was_judged(sandbox: Sandbox, maker) -> None:
    pi = ready(sandbox).answers(decision(1), decision(1))
    parent, copy = maker(sandbox, 1), maker(sandbox, 2)
    talk(parent, *FIRST)
    sandbox.capture(parent.payload())
    talk(copy, *FIRST, ("yes", "The cache is LRU."))
    sandbox.capture(copy.payload())
    sent = part_of(pi.calls[1].prompt)
    assert "The cache is LRU." in sent
    assert "yes" in sent
    assert "embedded" not in sent
    assert stems(sandbox) == ["decision-1"]  # the same decision of a copy is not drafted again


@pytest.mark.parametrize("maker", MAKERS)
def test_two_sessions_with_the_same_first_words_are_no_copies(sandbox: Sandbox, maker) -> None:
    pi = ready(sandbox).always("NONE")
    one, two = maker(sandbox, 1), maker(sandbox, 2)
    talk(one, ("Fix the tests", "Which ones?"))
    sandbox.capture(one.payload())
    talk(two, ("Fix the tests", "They pass now."), ("yes", "Done."))
    sandbox.capture(two.payload())
    assert "Fix the tests" in part_of(pi.calls[1].prompt)


def test_a_file_of_cursor_that_is_written_anew_goes_on_where_it_was(sandbox: Sandbox) -> None:
    pi = ready(sandbox).always("NONE")
    made = cursor(sandbox, 1)
    talk(made, *FIRST)
    sandbox.capture(made.payload())
    rows = [json.loads(line) for line in made.path.read_text().splitlines()]
    made.path.write_text(
        "".join(json.dumps(row, indent=None, separators=(", ", ":  ")) + "\n" for row in rows)
    )
    talk(made, ("Now the cache", "LRU."))
    sandbox.capture(made.payload())
    sent = part_of(pi.calls[1].prompt)
    assert "LRU." in sent
    assert "embedded" not in sent


def test_of_a_message_that_grows_after_it_was_captured_only_what_is_new_is_sent(sandbox: Sandbox) -> None:
    pi = ready(sandbox).always("NONE")
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("Which store?")
    made.assistant("We take SQLite because it is embedded and small.")
    sandbox.capture(made.payload())
    made.assistant("We take SQLite because it is embedded and small. The queue is Redis.")
    sandbox.capture(made.payload())
    sent = part_of(pi.calls[1].prompt)
    assert "The queue is Redis." in sent
    assert "embedded" not in sent


@pytest.mark.parametrize("size", [900_000, 1_300_000, 3_000_000])
@pytest.mark.parametrize("blob", [True, False])
def test_a_very_long_line_costs_no_other_request_its_place(sandbox: Sandbox, size: int, blob: bool) -> None:
    pi = ready(sandbox).always("NONE")
    made = ClaudeSession(sandbox.home, sandbox.root)
    made.user("the first words")
    if blob:
        image = {"type": "image", "source": {"type": "base64", "data": "QUJD" * (size // 4)}}
        made.user([{"type": "text", "text": "beside the image"}, image])
    else:
        made.tool("Bash", {"command": "make"}, "a line of a log\n" * (size // 16))
    made.user("words in the middle")
    made.tool("Bash", {"command": "make"}, "z y " * 350_000)
    made.assistant("done")
    sandbox.capture(made.payload())
    sent = part_of(pi.only_call.prompt)
    assert "the first words" in sent
    assert "words in the middle" in sent
    assert ("beside the image" in sent) == blob
    assert "QUJDQUJD" not in sent
