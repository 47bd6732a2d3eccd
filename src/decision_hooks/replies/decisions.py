"""Replies of backends: decisions of a captured session, and the operations of a normalisation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from decision_hooks.errors import RefusedReply
from decision_hooks.records import madr
from decision_hooks.records.headings import adr_title, exact_number, parse_body
from decision_hooks.records.madr import Decision
from decision_hooks.replies import wrapping
from decision_hooks.replies.operations import RawOperation, operations
from decision_hooks.text import markdown

__all__ = ["Decision", "RawOperation", "decisions", "holds", "operations"]

_NEEDED = (madr.NAMES.index(madr.CONTEXT), madr.NAMES.index(madr.OUTCOME))
_NONE = re.compile(r"(?:the )?(?:output|answer|reply|result)?[\s:=]*none", re.IGNORECASE)
_TALK = re.compile(r"\[(?:user|assistant|thinking|tool|tool_result|result)\][ \t]*$")  # as digests part turns
_BREAK = re.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")


def decisions(reply: str) -> tuple[Decision, ...]:
    """The decisions of a capture's reply, none for ``NONE``; raises ``RefusedReply`` for anything else.

    A decision is a block ``## ADR <title>`` that holds at least its context or its outcome; these headings without
    a title are one untitled decision. An answer with a fence that is never closed was cut, and is refused.
    """
    said = wrapping.after_thought(markdown.split_lines(wrapping.plain(reply)), _begins_block_or_none)
    answer = wrapping.unfenced(said, _begins_answer, _begins_block)
    blocks = _blocks(answer.rows)
    found = tuple(_decision(title, rows) for title, rows in blocks if _is_decision(rows))
    if not found:
        if _says_none(said):
            return ()
        raise RefusedReply("no block of the form '## ADR <title>' and no NONE")
    if any(markdown.unclosed_fence("\n".join(rows)) for _, rows in blocks):
        raise RefusedReply("the reply ends inside of a code fence")
    if answer.cut and not parse_body(found[-1].body).texts.more:
        raise RefusedReply("the reply ends before its last section and its enclosing fence are closed")
    return found


def holds(read: Callable[[str], object], reply: str) -> bool:
    """Whether a reply has the form that ``read`` (``decisions``, ``operations``) asks for."""
    try:
        read(reply)
    except RefusedReply:
        return False
    return True


def _begins_answer(row: str) -> bool:
    line = next(markdown.lines(row))
    if not line.level:
        return False
    return _title(line) is not None or exact_number(markdown.Section(line.level, line.title, "")) is not None


def _begins_block(row: str) -> bool:
    return _title(next(markdown.lines(row))) is not None


def _begins_block_or_none(row: str) -> bool:
    return _begins_block(row) or _is_none(row)


def _title(line: markdown.Line) -> str | None:
    return adr_title(line.title) if 1 <= line.level <= 3 else None


def _blocks(rows: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Title and lines of each block; what stands before the first title is chatter, unless there is none.

    Where a model goes on with the talk, its block ends.
    """
    found: list[tuple[str, list[str]]] = [("", [])]
    talk = False
    for line in markdown.lines("\n".join(rows)):
        title = _title(line)
        if title is not None:
            found.append((title, []))
            talk = False
        elif not line.fenced and line.text.startswith("[") and _TALK.match(line.text):
            talk = True
        elif not talk:
            found[-1][1].append(line.text)
    return [(title, _without_breaks(held)) for title, held in found[1:] or found]


def _without_breaks(rows: list[str]) -> list[str]:
    end = len(rows)
    while end and (not rows[end - 1].strip() or _BREAK.match(rows[end - 1])):
        end -= 1
    return rows[:end]


def _is_decision(rows: Sequence[str]) -> bool:
    """Whether a block has its context or its outcome, and more of it than the heading."""
    found = parse_body("\n".join(rows))
    return any(exact_number(section) in _NEEDED for section in markdown.sections("\n".join(rows))) and bool(
        found.texts.context or found.texts.outcome
    )


def _decision(title: str, rows: list[str]) -> Decision:
    title = " ".join(title.split())
    body = madr.block(title, markdown.trimmed(rows)) + "\n"
    return Decision(title, body, parse_body(body).texts.outcome)


def _says_none(said: Sequence[str]) -> bool:
    """Whether a reply says that there is no decision: as a whole, or in its first or its last line."""
    rows = [row for row in said if row.strip() and markdown.fence(row) is None]
    return any(_is_none(row) for row in (rows[:1] + rows[-1:]))


def _is_none(row: str) -> bool:
    return _NONE.fullmatch(row.strip(" \t*_`\"'«».!()[]{}<>#-:|")) is not None
