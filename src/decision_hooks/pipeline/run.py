"""The local pipeline: from the drafts of a batch to operations, by rules and by narrow questions to a small model.

Each stage goes from values to questions and from answers to values; who asks is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from decision_hooks.languages.en import Language
from decision_hooks.pipeline import operations as pipeline_records
from decision_hooks.pipeline.drafts import Draft, Reading, read
from decision_hooks.pipeline.duplicates import Group, duplicates, groups, own_lines
from decision_hooks.pipeline.stages import Ask, Shelf, Stages
from decision_hooks.records import front_matter
from decision_hooks.replies.operations import RawOperation
from decision_hooks.replies.plan import DELETE, MERGE, REWRITE


class Left(NamedTuple):
    """A draft that stays a draft, and why."""

    name: str
    why: str


class Outcome(NamedTuple):
    """What the pipeline came to: at most one operation a draft, the others are left."""

    operations: tuple[RawOperation, ...]
    left: tuple[Left, ...]


class Settled(NamedTuple):
    """What is decided without a model."""

    deletes: tuple[RawOperation, ...]
    groups: tuple[Group, ...]  # of the other drafts


def by_rules(drafts: Sequence[Draft], names: frozenset[str], language: Language) -> Outcome:
    """Normalise without a model: what is empty or equal goes, near-duplicates of a session are one record.

    Every other draft with exactly one decision becomes a record of its own sections; one with several stays.
    """
    batch = tuple(read(draft) for draft in drafts)
    settled = settle(batch)
    slugs = pipeline_records.Slugs({*names, *(draft.name for draft in drafts)})
    found: dict[str, RawOperation] = {}
    for group in settled.groups:
        content = pipeline_records.own_content(group.anchor, language, whole=False)
        if content:
            slug = slugs.of(group.anchor.title, group.anchor.name)
            found[group.anchor.name] = pipeline_records.rewrite(group.anchor, slug, content)
    why = {group.anchor.name: "it does not hold exactly one decision" for group in settled.groups}
    return _outcome(batch, settled, found, why, lambda name: "")


def by_model(drafts: Sequence[Draft], shelf: Shelf, ask: Ask, language: Language) -> Outcome:
    """Normalise with a model that answers narrow questions; what it does not answer leaves its drafts as they are.

    A model of which not one answer could be used decides nothing at all.
    """
    batch = tuple(read(draft) for draft in drafts)
    settled = settle(batch)
    run = Stages([group.anchor for group in settled.groups], shelf, ask, language)
    found = run.operations()
    if run.asked and not run.usable:
        found, run.why = {}, {group.anchor.name: "no answer could be used" for group in settled.groups}
    return _outcome(batch, settled, found, run.why, shelf.read)


def settle(batch: Sequence[Reading]) -> Settled:
    """Decide what needs no model: empty and undecided drafts, equal ones, and which are nearly the same."""
    deletes = [pipeline_records.delete(one.name, "it is empty") for one in batch if one.empty]
    deletes += [
        pipeline_records.delete(one.name, "nothing was decided")
        for one in batch
        if one.undecided and not one.empty
    ]
    rest = [one for one in batch if not (one.empty or one.undecided)]
    equal = duplicates(rest)
    deletes += [pipeline_records.delete(name, f"it equals {other}") for name, other in equal.items()]
    return Settled(tuple(deletes), groups([one for one in rest if one.name not in equal]))


# -- the others of a group follow the draft that stands for it


def _outcome(
    batch: Sequence[Reading],
    settled: Settled,
    found: Mapping[str, RawOperation],
    why: Mapping[str, str],
    record: Callable[[str], str],
) -> Outcome:
    done = {one.file: one for one in settled.deletes} | dict(found)
    reasons = dict(why)
    texts = {one.name: front_matter.split(one.text).body for one in batch}
    for group in settled.groups:
        anchor = found.get(group.anchor.name)
        told = [texts[group.anchor.name]]
        if anchor is not None and anchor.op == MERGE:
            told.append(record(anchor.target) or _anchor_text(anchor.target, found, texts))
        for other in group.others:
            operation = _follow(other, anchor, group.anchor.name, texts[other.name], told)
            if operation is None:
                reasons[other.name] = f"it goes with {group.anchor.name}"
            else:
                done[other.name] = operation
                told.append(texts[other.name])
    left = (Left(one.name, reasons.get(one.name, "")) for one in batch if one.name not in done)
    return Outcome(tuple(done[one.name] for one in batch if one.name in done), tuple(left))


def _anchor_text(slug: str, found: Mapping[str, RawOperation], texts: Mapping[str, str]) -> str:
    return next((texts[one.file] for one in found.values() if one.op == REWRITE and one.slug == slug), "")


def _follow(
    draft: Reading, anchor: RawOperation | None, name: str, body: str, told: Sequence[str]
) -> RawOperation | None:
    """The operation of a near-duplicate: its own lines go where its anchor goes."""
    if anchor is None:
        return None
    if anchor.op == DELETE:
        return pipeline_records.delete(draft.name, f"it nearly equals {name}: {anchor.reason}")
    lines = own_lines(body, told)
    if not lines:
        return pipeline_records.delete(draft.name, f"it says nothing that {name} does not")
    return pipeline_records.merge(draft, anchor.slug if anchor.op == REWRITE else anchor.target, lines)
