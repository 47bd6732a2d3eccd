"""The local pipeline: from the drafts of a batch to operations, by rules and by narrow questions to a small model.

Each stage turns values into questions and answers into values; the caller passes in who asks the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from decision_hooks.languages.en import Language
from decision_hooks.pipeline.drafts import Reading, read
from decision_hooks.pipeline.duplicates import NearDuplicates, duplicates, near_duplicates, own_lines
from decision_hooks.pipeline.operations import Slugs, delete, merge, own_content
from decision_hooks.pipeline.stages import Ask, Records, Stages
from decision_hooks.records import front_matter
from decision_hooks.records.front_matter import DraftFile
from decision_hooks.replies.operations import RawOperation
from decision_hooks.replies.plan import DELETE, MERGE, REWRITE


class Proposal(NamedTuple):
    """The result of the pipeline: at most one operation for each draft."""

    operations: tuple[RawOperation, ...]
    left: Mapping[str, str]  # drafts without an operation -> why


class Settled(NamedTuple):
    """The decisions that need no model."""

    deletes: tuple[RawOperation, ...]
    groups: tuple[NearDuplicates, ...]  # of the other drafts


def by_rules(drafts: Sequence[DraftFile], names: frozenset[str], language: Language) -> Proposal:
    """Normalise without a model: empty and equal drafts are deleted, near-duplicates of a session are one record.

    Every other draft with exactly one decision becomes a record of its own sections; one with several is left.
    """
    batch = tuple(read(draft) for draft in drafts)
    settled = settle(batch)
    slugs = Slugs({*names, *(draft.name for draft in drafts)})
    found: dict[str, RawOperation] = {}
    for draft, _ in settled.groups:
        content = own_content(draft, language, whole=False)
        if content:
            slug = slugs.of(draft.title, draft.name)
            found[draft.name] = RawOperation(REWRITE, draft.name, slug=slug, content=content)
    why = {draft.name: "it does not hold exactly one decision" for draft, _ in settled.groups}
    return _proposal(batch, settled, found, why, lambda name: "")


def by_model(
    drafts: Sequence[DraftFile],
    records: Records,
    ask: Ask,
    language: Language,
    show: Callable[[str], str] = str,
) -> Proposal:
    """Normalise by narrow questions to a model; drafts whose question stays unanswered are left alone.

    Without one usable answer the model decides nothing. ``show`` gives the body of a draft as the model may see it.
    """
    batch = tuple(read(draft, show) for draft in drafts)
    settled = settle(batch)
    stages = Stages([draft for draft, _ in settled.groups], records, ask, language)
    found = stages.operations()
    if stages.asked and not stages.usable:
        found, stages.why = {}, {draft.name: "no answer could be used" for draft, _ in settled.groups}
    return _proposal(batch, settled, found, stages.why, records.read)


def settle(batch: Sequence[Reading]) -> Settled:
    """Decide what needs no model: empty, undecided and equal drafts, and which are nearly the same."""
    deletes = [delete(draft.name, "it is empty") for draft in batch if draft.empty]
    rest = [draft for draft in batch if not draft.empty]
    deletes += [delete(draft.name, "nothing was decided") for draft in rest if draft.undecided]
    rest = [draft for draft in rest if not draft.undecided]
    equal = duplicates(rest)
    deletes += [delete(name, f"it equals {other}") for name, other in equal.items()]
    return Settled(tuple(deletes), near_duplicates([draft for draft in rest if draft.name not in equal]))


# -- near-duplicates follow their representative


def _proposal(
    batch: Sequence[Reading],
    settled: Settled,
    found: Mapping[str, RawOperation],
    why: Mapping[str, str],
    record: Callable[[str], str],
) -> Proposal:
    operations = {operation.file: operation for operation in settled.deletes} | dict(found)
    reasons = dict(why)
    texts = {draft.name: front_matter.split(draft.text).body for draft in batch}
    for representative, others in settled.groups:
        name = representative.name
        lead = found.get(name)
        known = [texts[name]]
        if lead is not None and lead.op == MERGE:
            known.append(record(lead.target) or _rewritten_text(lead.target, found, texts))
        for other in others:
            operation = _follow(other, lead, name, texts[other.name], known)
            if operation is None:
                reasons[other.name] = f"it goes with {name}"
            else:
                operations[other.name] = operation
                known.append(texts[other.name])
    left = {name: reasons.get(name, "") for name in texts if name not in operations}
    return Proposal(tuple(operations[name] for name in texts if name in operations), left)


def _rewritten_text(slug: str, found: Mapping[str, RawOperation], texts: Mapping[str, str]) -> str:
    rewrites = (operation for operation in found.values() if operation.op == REWRITE)
    return next((texts[operation.file] for operation in rewrites if operation.slug == slug), "")


def _follow(
    draft: Reading, lead: RawOperation | None, name: str, body: str, known: Sequence[str]
) -> RawOperation | None:
    """The operation of a near-duplicate: its own lines go where its representative goes."""
    if lead is None:
        return None
    if lead.op == DELETE:
        return delete(draft.name, f"it nearly equals {name}: {lead.reason}")
    lines = own_lines(body, known)
    if not lines:
        return delete(draft.name, f"it says nothing that {name} does not")
    return merge(draft, lead.slug if lead.op == REWRITE else lead.target, lines)
