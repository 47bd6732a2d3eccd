"""What drafts of one session repeat: equal ones, near-duplicates, and the lines that only one of two has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from decision_hooks.pipeline.drafts import Reading, is_silent, substance
from decision_hooks.records import front_matter, headings
from decision_hooks.text import markdown, similar


class Group(NamedTuple):
    """Drafts of one session that say nearly the same; one that is like no other is a group of its own."""

    anchor: Reading  # the one that stands for all
    others: tuple[Reading, ...]


def duplicates(drafts: Sequence[Reading]) -> dict[str, str]:
    """Names of drafts that equal another of their session but for white space and case, and of that other.

    The longest stays, of equally long ones the first.
    """
    kept: dict[tuple[str, str], Reading] = {}
    for draft in sorted(drafts, key=lambda one: -len(one.text)):
        if draft.session:
            kept.setdefault((draft.session, draft.plain), draft)
    found = {}
    for draft in drafts:
        stays = kept.get((draft.session, draft.plain), draft)
        if stays.name != draft.name:
            found[draft.name] = stays.name
    return found


def groups(drafts: Sequence[Reading]) -> tuple[Group, ...]:
    """The drafts in groups of near-duplicates of one session.

    The longest with exactly one decision stands for a group, else the longest.
    """
    texts = [_told(draft) for draft in drafts]
    joined = Joined(draft.name for draft in drafts)
    for n, one in enumerate(drafts):
        for m in range(n):
            same = one.session and one.session == drafts[m].session
            if same and similar.near_duplicates(texts[n], texts[m]):
                joined.join(one.name, drafts[m].name)
    by_name = {draft.name: draft for draft in drafts}
    return tuple(_group([by_name[name] for name in names]) for names in joined.groups())


def _group(drafts: Sequence[Reading]) -> Group:
    anchor = max(drafts, key=lambda one: (one.single is not None, len(one.text)))
    return Group(anchor, tuple(one for one in drafts if one is not anchor))


def _told(draft: Reading) -> str:
    """What a draft says, without the headings and phrases that all drafts share."""
    titles = " ".join(one.title for one in draft.decisions)
    return f"{titles}\n{substance(front_matter.split(draft.text).body)}"


class Joined:
    """Names that are joined step by step into groups (union-find)."""

    def __init__(self, names: Iterable[str]) -> None:
        self._above = {name: name for name in names}

    def join(self, one: str, other: str) -> None:
        """Put two names, known or new, and all that is joined with them into one group."""
        self._above[self.first(one)] = self.first(other)

    def first(self, name: str) -> str:
        """The name that stands for the group of a name."""
        above = self._above.setdefault(name, name)
        while above != name:
            name, above = above, self._above[above]
        return name

    def groups(self) -> list[list[str]]:
        """The groups, in the order in which their first names came."""
        found: dict[str, list[str]] = {}
        for name in self._above:
            found.setdefault(self.first(name), []).append(name)
        return list(found.values())


# -- the lines of one text that another has not


def own_lines(body: str, others: Sequence[str]) -> str:
    """The lines of a body that stand in none of the others, under the names of their sections; "" for none.

    Fenced code is taken or left as a whole; headings and phrases for silence are no lines.
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
    """Each line that says something, fenced code in one, with the title of its section."""
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
