"""From decisions to the texts of drafts: masked, grounded in the session, named, none of them twice."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import NamedTuple

from decision_hooks.capture.part import Part
from decision_hooks.hosts.table import public_path
from decision_hooks.privacy import mask
from decision_hooks.privacy.mask import home_as_tilde
from decision_hooks.records import grounding, madr, naming
from decision_hooks.records.madr import Decision
from decision_hooks.state.values import Title
from decision_hooks.system import git
from decision_hooks.system.runlog import iso_time
from decision_hooks.transcripts import blocks


class Drafts(NamedTuple):
    """The drafts of one reply."""

    texts: tuple[tuple[str, str], ...]  # stem of the name, text
    titles: tuple[Title, ...]
    masked: Mapping[str, int]  # findings by category


def make_drafts(
    part: Part,
    decisions: tuple[Decision, ...],
    *,
    root: str,
    home: str,
    environ: Mapping[str, str],
    is_written: Callable[[str], bool],
) -> Drafts:
    """The drafts for those decisions of a part that its session does not have yet.

    ``is_written`` says of the mark of a decision whether another session's draft has it; a copy of a session asks.
    """
    from datetime import datetime

    written = {title.identity for title in part.position.titles}
    when = datetime.fromtimestamp(part.time)
    masked: dict[str, int] = {}
    decisions = tuple(_masked(decision, home, masked) for decision in decisions)
    known = _known_in_part(part, decisions, _known(part, root, home, environ))
    texts, titles = [], []
    for decision in decisions:
        identity = madr.identity(decision.title, decision.outcome)
        if identity in written or (part.is_copy and is_written(decision_mark(identity))):
            continue
        written.add(identity)
        titles.append(Title(decision.title, identity))
        text = madr.render_draft(
            decision,
            session=part.session_id,
            captured_iso=iso_time(part.time),
            transcript=public_path(part.path, home),
            unverified=grounding.unverified(grounding.claims(decision.body), known),
        )
        texts.append((naming.draft_stem(when, decision.title, part.session_id), text))
    return Drafts(tuple(texts), tuple(titles), masked)


def decision_mark(identity: str) -> str:
    """What is remembered of a decision beside the ids of records, to know it in a copy of its session."""
    return f"decision:{identity}"


def _masked(decision: Decision, home: str, counts: dict[str, int]) -> Decision:
    found = mask.mask(decision.body)
    for category, count in found.counts.items():
        counts[category] = counts.get(category, 0) + count
    return decision._replace(
        title=mask.outgoing(decision.title, home),
        body=home_as_tilde(found.text, home),
        outcome=mask.outgoing(decision.outcome, home),
    )


# -- grounding


def _known_in_part(
    part: Part, decisions: tuple[Decision, ...], known: Callable[[str], bool]
) -> Callable[[str], bool]:
    """``known``, and claims in the lines of the part that were not parsed."""
    claims = {grounding.normal(claim) for decision in decisions for claim in grounding.claims(decision.body)}
    verdicts = {claim: known(claim) for claim in claims}
    raw = _in_raw(part, [claim for claim, so in verdicts.items() if not so])
    return lambda claim: verdicts[claim] or claim in raw


def _known(part: Part, root: str, home: str, environ: Mapping[str, str]) -> Callable[[str], bool]:
    """Whether a claim is in the session, its context or the titles written, or names a path of the tree."""
    context = part.context
    texts = [entry.text for entry in part.session.entries] + [entry.tool for entry in part.session.entries]
    texts += [context.first_request, context.before_assistant, context.before_user, *context.titles]

    @cache
    def said() -> str:
        return grounding.normal("\n".join(texts))

    @cache
    def seen() -> str:  # by the model: masked, the home folder as a tilde
        return grounding.normal(mask.outgoing("\n".join(texts), home))

    @cache
    def tree() -> str:
        return "\n" + git.tracked_files(root, environ)

    def known(claim: str) -> bool:
        digits = grounding.number_digits(claim)
        if digits:
            return bool(re.search(rf"(?<!\d){re.escape(digits)}(?!\d)", said()))
        return (
            claim in said()
            or _in_tree(claim, root, tree)
            or (("[" in claim or "~" in claim) and claim in seen())
        )

    return known


def _in_tree(claim: str, root: str, tree: Callable[[], str]) -> bool:
    if not re.fullmatch(r"[^\s<>|*?\"']{1,200}", claim) or not re.search(r"[/.]", claim):
        return False
    relative = claim.rstrip("/").removeprefix("./")
    path = os.path.normpath(os.path.join(root, relative))
    inside = path == root or path.startswith(root.rstrip("/") + "/")
    if relative and inside and os.path.lexists(path):
        return True
    return f"/{relative}\n" in tree() or f"\n{relative}\n" in tree()


def _in_raw(part: Part, claims: Collection[str]) -> set[str]:
    """Those claims that stand in the lines of a very large part that were not parsed; one pass for all."""
    import json

    if part.tail <= part.begin or not claims:
        return set()
    forms: dict[str, set[bytes]] = {}
    for claim in claims:
        text = grounding.number_digits(claim) or claim
        texts = (json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (False, True))
        forms[claim] = {one.encode("utf-8", "replace") for one in texts}
    longest = max(len(form) for several in forms.values() for form in several)
    found: set[str] = set()
    for block in blocks.blocks(part.path, part.begin, part.tail, longest):
        new = {claim for claim, several in forms.items() if any(form in block for form in several)}
        found |= new
        for claim in new:
            del forms[claim]
        if not forms:
            break
    return found
