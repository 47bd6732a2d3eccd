"""The reply of a backend to a capture: the decisions of a session."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from decision_hooks.errors import RefusedReply
from decision_hooks.languages.table import in_any
from decision_hooks.records import madr
from decision_hooks.records.headings import adr_title, exact_number, parse_body
from decision_hooks.records.madr import Decision
from decision_hooks.replies import wrapping
from decision_hooks.text import markdown

_NEEDED = (madr.NAMES.index(madr.CONTEXT), madr.NAMES.index(madr.OUTCOME))
_NONE = re.compile(
    r"(?:(?:the|my|final|output|answer|reply|result|response|decisions?) ){0,3}none", re.IGNORECASE
)
_LONGEST_NONE = 60  # characters of a line that says only that
_NONE_WITH_REASON = re.compile(r"(?:NONE\b|[Nn]one\s*[-\u2013\u2014:.,;(])(?![\w/])")
_DECORATION = " \t*_`\"'«».!()[]{}<>#-:|“”„"
_MOST_REASON = 200  # characters of an answer of one or two lines that says it in other words
_TALK = re.compile(r"\[(?:user|assistant|thinking|tool|tool_result|result)\][ \t]*$")  # as digests mark turns
_BREAK = re.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")


def decisions(reply: str) -> tuple[Decision, ...]:
    """The decisions of a capture's reply, none for ``NONE``; raises ``RefusedReply`` for anything else.

    A decision is a block ``## ADR <title>`` with a context or an outcome; without any title, these sections are one
    untitled decision. A NONE beside decisions is lost. An answer with an unclosed fence was cut, and is refused.
    """
    lines = markdown.split_lines(wrapping.plain(reply))
    said = wrapping.after_thought(lines, lambda row: _begins_block(row) or _is_none(row))
    rows, cut = wrapping.unfenced(said, _begins_answer, _begins_block)
    blocks = _blocks(rows)
    found = tuple(_decision(title, rows) for title, rows in blocks if _is_decision(rows))
    if not found:
        if _says_none(said) or _says_so_otherwise(said):
            return ()
        raise RefusedReply("no block of the form '## ADR <title>' and no NONE")
    if any(markdown.unclosed_fence("\n".join(rows)) for _, rows in blocks):
        raise RefusedReply("the reply ends inside of a code fence")
    if cut and not parse_body(found[-1].body).texts.more:
        raise RefusedReply("the reply ends before its last section and its enclosing fence are closed")
    return found


def has_form(read: Callable[[str], object], reply: str) -> bool:
    """Whether a reply has the form that ``read`` (``decisions``, ``operations``) accepts."""
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


def _title(line: markdown.Line) -> str | None:
    return adr_title(line.title) if 1 <= line.level <= 3 else None


def _blocks(rows: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Title and lines of each block; text before the first title is dropped, unless there is no title.

    A block ends where the model continues the conversation.
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
    return [(title, _without_breaks(lines)) for title, lines in found[1:] or found]


def _without_breaks(rows: list[str]) -> list[str]:
    """The rows without blank lines, rules and a NONE at their end."""
    end = len(rows)
    while end and (not rows[end - 1].strip() or _BREAK.match(rows[end - 1]) or _is_loud_none(rows[end - 1])):
        end -= 1
    return rows[:end]


def _is_decision(rows: Sequence[str]) -> bool:
    """Whether a block has a context or an outcome, and not only its heading."""
    arranged = parse_body("\n".join(rows))
    return any(exact_number(section) in _NEEDED for section in markdown.sections("\n".join(rows))) and bool(
        arranged.texts.context or arranged.texts.outcome
    )


def _decision(title: str, rows: list[str]) -> Decision:
    title = " ".join(title.split())
    body = madr.block(title, markdown.trimmed(rows)) + "\n"
    return Decision(title, body, parse_body(body).texts.outcome)


def _says_none(said: Sequence[str]) -> bool:
    """Whether a reply says NONE in its first or its last line, with or without a reason, or alone on any line."""
    rows = [row for row in said if row.strip() and markdown.fence(row) is None]
    if any(_is_none(row) or _is_none_with_reason(row) for row in rows[:1]):
        return True
    if any(next(markdown.lines(row.lstrip())).level for row in rows):
        return False  # decisions of another form: "None." is a word of theirs
    return any(_is_loud_none(row) for row in rows) or (len(rows) <= 3 and any(map(_is_none, rows[-1:])))


def _says_so_otherwise(said: Sequence[str]) -> bool:
    """Whether a reply of one or two short lines says in a language of ours that there is no decision."""
    rows = [row.strip(_DECORATION) for row in said if row.strip() and markdown.fence(row) is None]
    if not 1 <= len(rows) <= 2 or sum(map(len, rows)) > _MOST_REASON:
        return False
    alone = rf"(?:{in_any(lambda card: card.nothing)})"
    words = in_any(lambda card: card.no_decisions)
    return re.fullmatch(f"{alone}|{words}", rows[0], re.IGNORECASE) is not None


def _is_none(row: str) -> bool:
    """Whether a line says none and nothing else, whatever is around it: signs, tags, invisible characters."""
    plain = re.sub(r"[\W_]+", " ", re.sub(r"</?\w{1,20}>", " ", row)) if len(row) <= _LONGEST_NONE else ""
    return _NONE.fullmatch(plain.strip()) is not None


def _is_none_with_reason(row: str) -> bool:
    return _NONE_WITH_REASON.match(row.lstrip(_DECORATION)) is not None


def _is_loud_none(row: str) -> bool:
    return "NONE" in row and "|" not in row and _is_none_with_reason(row)
