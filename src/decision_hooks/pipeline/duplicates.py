"""Repetitions among the drafts of a session: equal drafts, near-duplicates, and the lines of only one of two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from decision_hooks.pipeline.drafts import Reading, is_silent, substance
from decision_hooks.records import front_matter, headings
from decision_hooks.text import markdown, similar


class NearDuplicates(NamedTuple):
    """Drafts of one session that say nearly the same, or a single draft."""

    representative: Reading  # its operation decides about the others
    others: tuple[Reading, ...]


def duplicates(drafts: Sequence[Reading]) -> dict[str, str]:
    """Drafts equal to another one of their session but for white space and case: name -> name of the other.

    The longest is kept, of equally long ones the first.
    """
    kept: dict[tuple[str, str], Reading] = {}
    for draft in sorted(drafts, key=lambda draft: -len(draft.text)):
        if draft.session:
            kept.setdefault((draft.session, draft.plain), draft)
    others = ((draft.name, kept.get((draft.session, draft.plain), draft).name) for draft in drafts)
    return {name: other for name, other in others if name != other}


def near_duplicates(drafts: Sequence[Reading]) -> tuple[NearDuplicates, ...]:
    """The drafts in groups of near-duplicates of one session.

    The longest with exactly one decision represents a group, else the longest.
    """
    shingles = [similar.shingles(_own_text(draft)) for draft in drafts]
    joined = UnionFind(draft.name for draft in drafts)
    for n, draft in enumerate(drafts):
        for m in range(n):
            same = draft.session and draft.session == drafts[m].session
            if same and similar.near_duplicates(shingles[n], shingles[m]):
                joined.join(draft.name, drafts[m].name)
    by_name = {draft.name: draft for draft in drafts}
    return tuple(_represented([by_name[name] for name in names]) for names in joined.groups())


def _represented(drafts: Sequence[Reading]) -> NearDuplicates:
    longest = max(drafts, key=lambda draft: (draft.single is not None, len(draft.text)))
    return NearDuplicates(longest, tuple(draft for draft in drafts if draft is not longest))


def _own_text(draft: Reading) -> str:
    """The text of a draft without the headings and phrases that all drafts share."""
    titles = " ".join(decision.title for decision in draft.decisions)
    return f"{titles}\n{substance(front_matter.split(draft.text).body)}"


class UnionFind:
    """Names in groups that are joined step by step."""

    def __init__(self, names: Iterable[str]) -> None:
        self._above = {name: name for name in names}

    def join(self, one: str, other: str) -> None:
        """Put two names, known or new, and all that is joined with them into one group."""
        self._above[self.find(one)] = self.find(other)

    def find(self, name: str) -> str:
        """The name that represents the group of a name."""
        above = self._above.setdefault(name, name)
        while above != name:
            name, above = above, self._above[above]
        return name

    def groups(self) -> list[list[str]]:
        """The groups, in the order in which their first names came."""
        found: dict[str, list[str]] = {}
        for name in self._above:
            found.setdefault(self.find(name), []).append(name)
        return list(found.values())


# -- the lines of only one of two texts


def own_lines(body: str, others: Sequence[str]) -> str:
    """The lines of a body that none of the others has, under the names of their sections; "" for none.

    Fenced code is one line; headings and phrases for silence do not count.
    """
    known = {_folded(text) for other in others for _, text in _pieces(other)}
    parts: list[str] = []
    heading = ""
    for under, text in _pieces(body):
        folded = _folded(text)
        if not folded or folded in known:
            continue
        known.add(folded)
        if under != heading:
            heading = under
            parts += [f"\n### {under}\n"] if under else []
        parts.append(text)
    return "\n".join(parts).strip("\n")


def _pieces(body: str) -> list[tuple[str, str]]:
    """Each line with content, fenced code as one, with the title of its section."""
    found: list[tuple[str, str]] = []
    heading, code = "", list[str]()
    for line in markdown.lines(body):
        if line.fenced:
            code.append(line.text)
            if len(code) > 1 and _closes(code):
                found.append((heading, "\n".join(code)))
                code = []
        elif line.level:
            heading = _name_of(line)
        elif line.text.strip() and not is_silent(line.text):
            found.append((heading, line.text.rstrip()))
    return [*found, (heading, "\n".join(code))] if code else found


def _closes(code: Sequence[str]) -> bool:
    opened, last = markdown.fence(code[0]), markdown.fence(code[-1])
    return opened is not None and last is not None and markdown.closes(opened, last)


def _name_of(line: markdown.Line) -> str:
    title = headings.adr_title(line.title)
    return line.title if title is None else title


def _folded(text: str) -> str:
    return " ".join(text.split()).strip("*+-.;,: ").casefold()
