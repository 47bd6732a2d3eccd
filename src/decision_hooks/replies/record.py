"""Writes the text of a record from a backend's content and the draft behind it."""

from __future__ import annotations

import re
from typing import NamedTuple

from decision_hooks.errors import RefusedReply
from decision_hooks.languages.en import Language
from decision_hooks.languages.table import in_any
from decision_hooks.records import front_matter, grounding, madr, naming
from decision_hooks.records.headings import Body, is_update, parse_body
from decision_hooks.text import markdown
from decision_hooks.text.cutting import one_line

DRAFT_KEYS = ("session", "captured", "transcript", "unverified")
_OURS = ("type", "title", "description", "status", "date", *DRAFT_KEYS)
_MOST_TITLE = 300
_MOST_DESCRIPTION = 300
_READ_FOR_SENTENCE = 4000  # characters

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
_MARKED = re.compile(rf"[ \t]*[*_]*(?:{in_any(lambda card: card.marks)})[ \t]*[*_]*[ \t]*:.*", re.IGNORECASE)
_KEYS = re.compile(r"---[ \t]*\n(?:[A-Za-z_][\w-]*:.*\n|[ \t]+\S.*\n|- .*\n)+")
_HEADING_INSIDE = re.compile(r"^##", re.MULTILINE)
_MARKDOWN_INFO = ("", "markdown", "md", "mdx")
_SENTENCE = re.compile(
    r"(?<=[.!?…])[\"»”)*_]*(?=\s+[^\W\d_a-z\u0430-\u044f\u0456\u0457\u0454\u0491]|\s+[`\"«(]|\s*$)"
)


class Source(NamedTuple):
    """What a record takes from its draft."""

    day: str  # of the capture, else of the name; "" when unknown
    unverified: tuple[str, ...]
    texts: madr.Sections  # of its decision; empty when it has none or several


def source(name: str, text: str, today: str = "") -> Source:
    """Read a draft."""
    read = front_matter.read(text)
    day = _day(read.text("captured")) or naming.day_of(name) or today
    return Source(day, read.texts("unverified"), _only_decision(read.body))


def _only_decision(body: str) -> madr.Sections:
    from decision_hooks.replies.decisions import decisions

    try:
        found = decisions(body)
    except RefusedReply:
        return madr.Sections()
    return parse_body(found[0].body).texts if len(found) == 1 else madr.Sections()


def record(content: str, slug: str, draft: Source, language: Language) -> str:
    """The whole text of a record; raises ``RefusedReply`` where the content is unusable."""
    read = front_matter.read(_closed_front(_without_fence(content)))
    if markdown.unclosed_fence(read.body):
        raise RefusedReply("a code fence of the content is never closed")
    body = parse_body(read.body)
    if not any(body.texts) and not body.preamble and not body.extras:
        raise RefusedReply("the content is empty")
    texts = madr.Sections(*(text or other for text, other in zip(body.texts, draft.texts, strict=True)))
    day = draft.day or _day(read.text("date"))
    preamble = _preamble(body, day)
    assembled = madr.assemble(texts, language, body.extras)
    front = _front(read, body, slug, day, texts.outcome or madr.phrases(language).outcome)
    claimed = grounding.normal(" ".join((read.text("title"), assembled, preamble)))
    unverified = [item for item in draft.unverified if grounding.normal(item) in claimed]
    if unverified:
        front.append(("unverified", unverified))
    return front_matter.render(front, f"{preamble}\n\n{assembled}")


def update(additions: str, day: str) -> str:
    """The section to append to the target of a merge; raises ``RefusedReply`` when it is empty."""
    text = front_matter.read(_without_fence(additions)).body.strip("\n")
    text = front_matter.clean(text).strip("\n").rstrip()
    if not text.strip():
        raise RefusedReply("the additions are empty")
    if markdown.unclosed_fence(text):
        raise RefusedReply("a code fence of the additions is never closed")
    first = next(line for line in markdown.lines(text) if line.text.strip())
    if first.level == 2 and is_update(markdown.Section(2, first.title, "")):
        return text
    heading = f"## Update {day}".rstrip()
    rows = (f"### {line.title}" if line.level in (1, 2) else line.text for line in markdown.lines(text))
    return f"{heading}\n\n" + "\n".join(rows)


def appended(text: str, block: str) -> str:
    """The text with a block at its end, unchanged when it contains the block; its line ends stay."""
    if f"\n{block}\n" in "\n" + text.replace("\r\n", "\n") + "\n":
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    before = text.rstrip("\r\n")
    return f"{before}{end}{end}" * bool(before) + block.replace("\n", end) + end


# -- parts of a record


def _without_fence(content: str) -> str:
    """The content without one fence around all of it."""
    text = front_matter.clean(content.removeprefix("\ufeff")).strip()
    rows = markdown.split_lines(text)
    opened, ending = markdown.fence(rows[0]), markdown.fence(rows[-1])
    if opened is None or ending is None or len(rows) < 3 or not markdown.closes(opened, ending):
        return text
    inner = "\n".join(rows[1:-1])
    begin = inner.lstrip()
    whole = opened.info.lower() in _MARKDOWN_INFO and begin.startswith(("---", "#"))
    return inner if whole and not markdown.unclosed_fence(inner) else text


def _closed_front(text: str) -> str:
    """The text with its front matter closed where the mark is missing, so that no section is read as YAML."""
    front = front_matter.split(text).front
    keys = _KEYS.match(text)
    if keys is None or (front is not None and not _HEADING_INSIDE.search(front)):
        return text
    return f"{keys[0]}---\n{text[keys.end() :]}"


def _front(
    read: front_matter.Document, body: Body, slug: str, day: str, outcome: str
) -> list[tuple[str, object]]:
    from datetime import date

    titles = (_one_line(title)[:_MOST_TITLE] for title in (read.text("title"), body.title, slug))
    description = _one_line(read.text("description"))[:_MOST_DESCRIPTION] or _first_sentence(outcome)
    front: list[tuple[str, object]] = [
        ("type", "ADR"),
        ("title", next(filter(None, titles), "")),
        ("description", description),
        ("status", "accepted"),
    ]
    if day:
        front.append(("date", date.fromisoformat(day)))
    front.extend((key, value) for key, value in read.front.items() if key.strip().casefold() not in _OURS)
    return front


def _preamble(body: Body, day: str) -> str:
    """Status and date, then the rest of the text before the first section."""
    rows = markdown.lines(body.preamble)
    rest = markdown.trimmed(row.text for row in rows if row.fenced or not _MARKED.fullmatch(row.text))
    marks = "**Status:** Accepted" + (f"\n**Date:** {day}" if day else "")
    return f"{marks}\n\n{rest}" if rest else marks


def _first_sentence(text: str) -> str:
    """The first sentence of a text as plain text of one line."""
    parts = re.split(r"\n[ \t]*\n|\n(?=[ \t]*[*+-][ \t])", text[:_READ_FOR_SENTENCE])
    row = next((part for part in parts if part.strip()), "")
    row = re.sub(r"^[ \t]*(?:[*+-]|\d+[.)])[ \t]+", "", _one_line(row)).replace("**", "")
    ends = (match.end() for match in _SENTENCE.finditer(row))
    end = next((end for end in ends if row.count("`", 0, end) % 2 == 0), len(row))  # not inside of code
    return one_line(row[:end], _MOST_DESCRIPTION)


def _one_line(text: str) -> str:
    return one_line(front_matter.clean(text))


def _day(text: str) -> str:
    """The day at the start of a text, "" where there is no valid one."""
    match = _DAY.match(text.strip())
    return match[0] if match and naming.day_of(match[0].replace("-", "") + "-000000-") else ""
