"""The file lags behind the event: a last message is waited for, appended, and never sent twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from decision_hooks.sessions import digest
from support import parts
from support.claude_session import ClaudeSession
from support.parts import Clock
from support.session_lines import SAMPLES

LATE = "The late answer."


@pytest.fixture
def asked(tmp_path: Path) -> ClaudeSession:
    """A session whose last answer is not in its file."""
    made = ClaudeSession(tmp_path / "home", tmp_path)
    made.user("decide")
    return made


def test_a_message_that_is_not_in_the_file_is_waited_for_and_then_appended(
    tmp_path: Path, asked: ClaudeSession
) -> None:
    clock = Clock()
    part = parts.read(parts.state_of(tmp_path), asked.path, message=LATE, clock=clock)
    assert clock.slept == pytest.approx(2.0)
    assert [(entry.kind, entry.text) for entry in part.session.entries] == [
        ("user", "decide"),
        ("assistant", LATE),
    ]


def test_a_message_that_is_in_the_file_is_not_waited_for(tmp_path: Path, asked: ClaudeSession) -> None:
    asked.assistant(LATE)
    clock = Clock()
    part = parts.read(parts.state_of(tmp_path), asked.path, message=LATE, clock=clock)
    assert (parts.texts(part), clock.slept) == (["decide", LATE], 0.0)


def test_a_stop_of_long_ago_is_not_waited_for(tmp_path: Path, asked: ClaudeSession) -> None:
    clock = Clock()
    part = parts.read(parts.state_of(tmp_path), asked.path, message=LATE, clock=clock, age=11)
    assert (parts.texts(part), clock.slept) == (["decide", LATE], 0.0)


def test_a_file_that_catches_up_in_time_is_read_as_it_is(tmp_path: Path, asked: ClaudeSession) -> None:
    def catch_up() -> None:
        if clock.slept > 0.75 and asked.path.read_text().count("\n") == 1:
            asked.thinking("late thoughts")
            asked.assistant(LATE)

    clock = Clock(catch_up)
    part = parts.read(parts.state_of(tmp_path), asked.path, message=LATE, clock=clock)
    assert parts.texts(part) == ["decide", "late thoughts", LATE]
    assert 0.7 < clock.slept < 1.0


def test_a_file_that_grows_without_the_message_is_waited_for_to_the_end(
    tmp_path: Path, asked: ClaudeSession
) -> None:
    def grow() -> None:
        asked.thinking("more")

    clock = Clock(grow)
    part = parts.read(parts.state_of(tmp_path), asked.path, message=LATE, clock=clock)
    assert clock.slept == pytest.approx(2.0)
    assert parts.texts(part)[-1] == LATE


def test_an_appended_message_is_not_read_again_when_the_file_has_caught_up(
    tmp_path: Path, asked: ClaudeSession
) -> None:
    state = parts.state_of(tmp_path)
    parts.save(state, parts.read(state, asked.path, message=LATE))
    asked.assistant(LATE)
    part = parts.read(state, asked.path)
    assert part.nothing_new
    parts.save(state, part)
    asked.user("request 2")
    asked.assistant("answer 2")
    assert parts.texts(parts.read(state, asked.path)) == ["request 2", "answer 2"]


def test_white_space_and_markup_between_message_and_file_make_no_second_message(
    tmp_path: Path, asked: ClaudeSession
) -> None:
    asked.assistant("First line.\n\n  Second **line**.")
    part = parts.read(
        parts.state_of(tmp_path), asked.path, message="First line.\nSecond **line**.\n", clock=Clock()
    )
    assert sum("First line." in text for text in parts.texts(part)) == 1


def test_the_whole_session_has_a_late_message_too(tmp_path: Path, asked: ClaudeSession) -> None:
    state = parts.state_of(tmp_path)
    asked.assistant("answer 1")
    parts.save(state, parts.read(state, asked.path))
    asked.user("request 2")
    part = parts.read(state, asked.path, message=LATE, incremental=False)
    assert parts.texts(part) == ["decide", "answer 1", "request 2", LATE]


@pytest.mark.parametrize(
    "sample", sorted(str(p.relative_to(SAMPLES)) for p in SAMPLES.rglob("*.jsonl")), ids=lambda name: name
)
def test_a_recorded_transcript_is_read_and_digested(tmp_path: Path, sample: str) -> None:
    state = parts.state_of(tmp_path)
    part = parts.read(state, SAMPLES / sample)
    assert part.position.offset > 0
    digest.render(part.session, mask=str, context=part.context)
    parts.save(state, part)
    assert parts.read(state, SAMPLES / sample).nothing_new
