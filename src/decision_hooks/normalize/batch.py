"""One batch: choose drafts, get a reply, plan, then apply or store the plan."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import NamedTuple

from decision_hooks.normalize import batching
from decision_hooks.normalize.apply import BatchPlan, apply, plan_batch, reason_not_to_write, store_plan
from decision_hooks.normalize.job import Job
from decision_hooks.normalize.reply import Reply, read_reply, reply_for
from decision_hooks.normalize.tooling import tooling_only
from decision_hooks.records.front_matter import DraftFile
from decision_hooks.state.normalize import StoredPlan
from decision_hooks.system import adr_folder, locking

_LOOK_AHEAD = 400  # drafts that are read to choose a batch


class Outcome(NamedTuple):
    """How a batch ended: ``applied``, ``planned``, ``nothing`` (no draft), ``skipped``, ``failed``, ``refused``."""

    kind: str
    lines: tuple[str, ...] = ()  # one for each operation that was done or planned
    refused: tuple[str, ...] = ()  # one for each refused operation, with the reason
    id: str = ""  # of the run, or of the stored plan
    reason: str = ""
    drafts: frozenset[str] = frozenset()  # that were in the batch


def run_batch(job: Job, *, dry: bool | None = None, seen: Set[str] = frozenset()) -> Outcome:
    """Normalise one batch of drafts, or only plan it; everything that happens is in the log.

    ``seen`` are drafts that were in an earlier batch of this run by hand.
    """
    locking.sign(job.lock)
    dry = job.settings.dry if dry is None else dry
    folder = adr_folder.Snapshot(job.at.project.adr)
    batch = _choose(job, folder, seen)
    if not batch:
        return _logged(job, "no drafts", Outcome("nothing", reason="no drafts"))
    if not dry and not adr_folder.can_be_written(job.at.project.adr):
        return _logged(
            job,
            "cannot write",
            Outcome("skipped", reason=f"{job.settings.adr_dir} cannot be written: nothing was done"),
        )
    tooling = tooling_only(job, batch) if job.settings.skip_tooling_only else ()
    asked = tuple(draft for draft in batch if draft.name not in tooling)
    reply = reply_for(job, folder, asked) if asked else Reply()
    planned = plan_batch(job, folder, asked, reply.operations, tooling)
    outcome = _stored(job, planned, reply) if dry else _applied(job, planned, reply)
    return outcome._replace(drafts=frozenset(draft.name for draft in batch))


def run_stored(job: Job, stored: StoredPlan, *, dry: bool = False) -> Outcome:
    """Apply exactly the reply of an earlier dry run, except to files that changed since then."""
    folder = adr_folder.Snapshot(job.at.project.adr)
    batch = _drafts(folder, (name for name, _ in stored.batch if name in folder.drafts))
    digests = dict(stored.batch + stored.targets + stored.tooling)
    changed = {name for name, digest in digests.items() if folder.digest(name) != digest}
    tooling = tuple(name for name, _ in stored.tooling if name not in changed)
    reply = read_reply(job, stored.reply) if stored.batch else Reply()
    planned = plan_batch(
        job, folder, batch, reply.operations, tooling, language=stored.language, today=stored.today
    )
    created = {write.name for write in planned.plan.writes if write.before is None}
    changed |= created - set(stored.names)
    for name in sorted(changed):
        job.at.log.write(f"changed since plan {stored.id}: {name}")
    planned = planned.without(changed)
    if dry:
        return Outcome("planned", planned.lines(), planned.refused(), stored.id)
    return _applied(job, planned, reply)


# -- the batch


def _choose(job: Job, folder: adr_folder.Snapshot, seen: Set[str]) -> list[DraftFile]:
    names = batching.order((name for name in folder.drafts if name not in seen), job.state.misses())
    drafts = _drafts(folder, names[:_LOOK_AHEAD])
    return batching.choose(drafts, max(1, job.settings.batch >> job.state.halvings()))


def _drafts(folder: adr_folder.Snapshot, names: Iterable[str]) -> list[DraftFile]:
    texts = ((name, folder.text(name)) for name in names)
    return [DraftFile(name, text, folder.sessions[name]) for name, text in texts if text is not None]


# -- its end


def _logged(job: Job, reason: str, outcome: Outcome) -> Outcome:
    job.at.log.skip(reason, outcome.reason)
    return outcome


def _stored(job: Job, planned: BatchPlan, reply: Reply) -> Outcome:
    if reply.failure:
        return Outcome(reply.failure, reason=reply.reason)
    plan_id = store_plan(job, planned, reply.text)
    if reply.text:
        job.state.note_judged(left=(), waiting=adr_folder.Snapshot(job.at.project.adr).drafts)
    return Outcome("planned", planned.lines(), planned.refused(), plan_id)


def _applied(job: Job, planned: BatchPlan, reply: Reply) -> Outcome:
    """Apply a plan; drafts that need no model are deleted even if there was no reply."""
    refusal = reason_not_to_write(job)
    if refusal:
        return _logged(job, refusal[0], Outcome("skipped", reason=refusal[1]))
    lines, run_id = apply(job, planned)
    waiting = adr_folder.Snapshot(job.at.project.adr).drafts if lines else planned.folder.drafts
    if reply.text and not reply.failure:
        left = [draft.name for draft in planned.batch if draft.name not in planned.plan.accepted]
        job.state.note_judged(left=left, waiting=waiting)
    refused = planned.refused()
    if lines or not reply.failure:
        job.at.log.write(f"done: {len(lines)} operations, {len(refused)} refused, {len(waiting)} drafts wait")
    return Outcome(reply.failure or "applied", lines, refused, run_id, reply.reason)
