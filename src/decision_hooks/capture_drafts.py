"""From decisions to the texts of drafts: masked, grounded in the session, named, none of them twice."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from decision_hooks.capture_part import Part
from decision_hooks.records import draft, grounding, naming, sensitive
from decision_hooks.records.privacy import home_as_tilde, public_path
from decision_hooks.records.replies import Decision
from decision_hooks.system import git, transcript_file
from decision_hooks.system.runlog import iso_time
from decision_hooks.system.state import Title


class Drafts(NamedTuple):
    """The drafts of one reply."""

    texts: tuple[tuple[str, str], ...]  # stem of the name, text
    titles: tuple[Title, ...]
    masked: Mapping[str, int]  # findings by category


def make_drafts(
    part: Part, decisions: tuple[Decision, ...], *, root: str, home: str, environ: Mapping[str, str]
) -> Drafts:
    """The drafts for those decisions of a part that its session does not have yet."""
    from datetime import datetime

    written = {title.identity for title in part.position.titles}
    when = datetime.fromtimestamp(part.time)
    known = _known(part, root, home, environ)
    texts, titles = [], []
    masked: dict[str, int] = {}
    for decision in decisions:
        decision = _masked(decision, home, masked)
        identity = draft.identity(decision.title, decision.outcome)
        if identity in written:
            continue
        written.add(identity)
        titles.append(Title(decision.title, identity))
        text = draft.render_draft(
            decision,
            session=part.session_id,
            captured_iso=iso_time(part.time),
            transcript=public_path(part.path, home),
            unverified=grounding.unverified(grounding.claims(decision.body), known),
        )
        texts.append((naming.draft_stem(when, decision.title, part.session_id), text))
    return Drafts(tuple(texts), tuple(titles), masked)


def _masked(decision: Decision, home: str, counts: dict[str, int]) -> Decision:
    found = sensitive.mask(decision.body)
    for category, count in found.counts.items():
        counts[category] = counts.get(category, 0) + count
    return decision._replace(
        title=home_as_tilde(sensitive.mask(decision.title).text, home),
        body=home_as_tilde(found.text, home),
        outcome=home_as_tilde(sensitive.mask(decision.outcome).text, home),
    )


# -- grounding


def _known(part: Part, root: str, home: str, environ: Mapping[str, str]) -> Callable[[str], bool]:
    """Whether a claim stands in the session, its context, the titles written, or names a path of the tree."""
    context = part.context
    texts = [entry.text for entry in part.session.entries] + [entry.tool for entry in part.session.entries]
    texts += [context.first_request, context.before_assistant, context.before_user, *context.titles]
    haystack = grounding.normal("\n".join(texts))
    masked: list[str] = []
    tree: list[str] = []

    def known(claim: str) -> bool:
        digits = grounding.number_digits(claim)
        if digits:
            return bool(re.search(rf"(?<!\d){re.escape(digits)}(?!\d)", haystack)) or _in_raw(part, digits)
        if claim in haystack or _in_tree(claim, root, tree, environ):
            return True
        if "[" in claim or "~" in claim:  # a masked secret or the home folder, as the model saw them
            if not masked:
                seen = home_as_tilde(sensitive.mask("\n".join(texts)).text, home)
                masked.append(grounding.normal(seen))
            if claim in masked[0]:
                return True
        return _in_raw(part, claim)

    return known


def _in_tree(claim: str, root: str, tree: list[str], environ: Mapping[str, str]) -> bool:
    if not re.fullmatch(r"[^\s<>|*?\"']{1,200}", claim) or not re.search(r"[/.]", claim):
        return False
    relative = claim.rstrip("/").removeprefix("./")
    path = os.path.normpath(os.path.join(root, relative))
    inside = path == root or path.startswith(root.rstrip("/") + "/")
    if relative and inside and os.path.lexists(path):
        return True
    if not tree:
        tree.append("\n" + git.tracked_files(root, environ))
    return f"/{relative}\n" in tree[0] or f"\n{relative}\n" in tree[0]


def _in_raw(part: Part, claim: str) -> bool:
    """Whether a claim stands in the lines of a very large part that were not parsed."""
    import json

    if part.tail <= part.begin:
        return False
    forms = {
        json.dumps(claim, ensure_ascii=ascii_only)[1:-1].encode("utf-8", "replace")
        for ascii_only in (False, True)
    }
    lines = transcript_file.lines(part.path, part.begin, part.tail)
    return any(form in line for _, line in lines for form in forms)
