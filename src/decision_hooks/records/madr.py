"""The form of a decision (MADR v4): its five sections, its body, and its draft."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from decision_hooks.languages.en import Language
from decision_hooks.records import front_matter, grounding
from decision_hooks.records.evidence import Evidence
from decision_hooks.text import markdown
from decision_hooks.text.cutting import one_line
from decision_hooks.text.fingerprint import fingerprint

CONTEXT = "Context and Problem Statement"
OPTIONS = "Considered Options"
OUTCOME = "Decision Outcome"
CONSEQUENCES = "Consequences"
MORE = "More Information"
NAMES = (CONTEXT, OPTIONS, OUTCOME, CONSEQUENCES, MORE)
HEADINGS = (f"## {CONTEXT}", f"## {OPTIONS}", f"## {OUTCOME}", f"### {CONSEQUENCES}", f"## {MORE}")

_MOST_TITLE = 120  # characters of a title that is made of a question


class Sections(NamedTuple):
    """The texts of the five sections, "" where there is none."""

    context: str = ""
    options: str = ""
    outcome: str = ""
    consequences: str = ""
    more: str = ""


class Decision(NamedTuple):
    """One decision of a reply."""

    title: str  # "" for a decision without a title
    body: str  # the block, from its ``## ADR <title>`` line (if it has a title) on
    outcome: str  # the text of its section Decision Outcome
    quotes: tuple[str, ...] = ()  # that a reply gives as its evidence
    evidence: tuple[Evidence, ...] = ()  # from the structure of the session, where no reply was needed
    time: float = 0.0  # seconds since the epoch, 0.0: that of its part


def phrases(wanted: Language) -> Sections:
    """The texts for sections on which the session is silent."""
    return Sections(*wanted.phrases)


def assemble(texts: Sections, wanted: Language, extras: Sequence[str] = ()) -> str:
    """A body: the five headings exact and in order, a phrase where a text is missing, then the extra sections."""
    silent = phrases(wanted)._replace(
        options=f"* {phrases(wanted).options}", consequences=f"* {phrases(wanted).consequences}"
    )
    parts = []
    for heading, text, phrase in zip(HEADINGS, texts, silent, strict=True):
        parts += [heading, text.strip("\n") if text.strip() else phrase]
    return "\n\n".join([*parts, *(extra for extra in extras if extra.strip())])


def block(title: str, body: str) -> str:
    """A block of a draft: its title line, where it has a title, and its body."""
    return f"## ADR {title}\n\n{body}" if title else body


def decision_of_choice(
    kind: str,
    question: str,
    options: Sequence[tuple[str, str]],
    chosen: Sequence[str],
    words: str,
    wanted: Language,
) -> Decision:
    """The decision of an answered question or a judged plan, in the person's own words alone.

    ``kind`` is ``question``, ``plan-approved`` or ``plan-rejected``; ``options`` are labels with descriptions.
    """
    silent = phrases(wanted)
    judged = {"plan-approved": wanted.plan_approved, "plan-rejected": wanted.plan_rejected}.get(kind)
    label = ", ".join(chosen) or judged or silent.outcome
    reason = words.strip() or silent.more
    outcome = f'Chosen option: "{one_line(label)}", because {reason}'
    listed = "\n".join(
        f"* {one_line(name)}: {one_line(meaning)}" if meaning.strip() else f"* {one_line(name)}"
        for name, meaning in options
    )
    context = _without_headings(question.strip()) if kind != "question" else question.strip()
    title = _title_of(question)
    body = assemble(Sections(context, listed, outcome), wanted)
    return Decision(title, block(title, body) + "\n", outcome)


def _title_of(question: str) -> str:
    first = next((line for line in question.splitlines() if line.strip(" \t#*>-")), "")
    return one_line(first.strip(" \t#*>-"), _MOST_TITLE)


def _without_headings(text: str) -> str:
    """A plan as text of a section: its headings become bold lines, so that they part no section."""
    return "\n".join(
        f"**{line.title}**" if line.level and line.title else line.text for line in markdown.lines(text)
    )


# -- drafts


def render_draft(
    decision: Decision, *, session: str, captured_iso: str, transcript: str, unverified: Sequence[str]
) -> str:
    """The text of a draft: session, time and transcript of the capture, claims without evidence, then the block."""
    front: list[tuple[str, object]] = [
        ("session", one_line(session) or "unknown"),
        ("captured", captured_iso),
        ("transcript", transcript),
    ]
    if unverified:
        front.append(("unverified", list(unverified)))
    return front_matter.render(front, decision.body)


def identity(title: str, outcome: str) -> str:
    """A short text that is equal for decisions of equal title and outcome, but for white space and letter case."""
    both = f"{grounding.normal(title)}\n{grounding.normal(outcome)}".casefold()
    return fingerprint(both.encode("utf-8", "replace"), 16)
