"""One batch: which drafts, what is answered, what becomes of it."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from decision_hooks.normalize import (
    apply,
    batching,
)
from decision_hooks.normalize import (
    reply as normalize_reply,
)
from decision_hooks.normalize import (
    tooling as normalize_tooling,
)
from decision_hooks.normalize.apply import Judged
from decision_hooks.normalize.job import Job
from decision_hooks.normalize.reply import Reply
from decision_hooks.records import front_matter
from decision_hooks.state.normalize import StoredPlan
from decision_hooks.system import adr_folder

_LOOK_AHEAD = 400  # drafts that are read to choose a batch
_HEAD = 4096  # characters of a draft in which its session stands


class Outcome(NamedTuple):
    """How a batch ended: ``applied``, ``planned``, ``nothing`` (no draft), ``skipped``, ``failed``, ``refused``."""

    kind: str
    lines: tuple[str, ...] = ()  # what was done or planned, one an operation
    refused: tuple[str, ...] = ()  # what was refused, one an operation, with the reason
    id: str = ""  # of the run, or of the stored plan
    reason: str = ""
    drafts: frozenset[str] = frozenset()  # that were in the batch


def run_batch(job: Job, *, dry: bool | None = None, seen: Set[str] = frozenset()) -> Outcome:
    """Normalise one batch of drafts, or only plan it; everything that happens is in the log.

    ``seen`` are drafts that were in an earlier batch of this run by hand.
    """
    dry = job.settings.dry if dry is None else dry
    folder = adr_folder.listing(job.at.project.adr)
    files = adr_folder.Snapshot(job.at.project.adr)
    batch = _choose(job, folder, files, seen)
    if not batch:
        return _told(job, "no drafts", Outcome("nothing", reason="no drafts"))
    if not dry and not adr_folder.can_be_written(job.at.project.adr):
        return _told(
            job,
            "cannot write",
            Outcome("skipped", reason=f"{job.settings.adr_dir} cannot be written: nothing was done"),
        )
    tooling = normalize_tooling.tooling_only(job, batch) if job.settings.skip_tooling_only else ()
    asked = tuple(draft for draft in batch if draft.name not in tooling)
    reply = normalize_reply.ask(job, folder, asked) if asked else Reply()
    judged = apply.judge(job, folder, files, asked, reply.operations, tooling)
    outcome = _planned(job, judged, reply) if dry else _applied(job, judged, reply)
    return outcome._replace(drafts=frozenset(draft.name for draft in batch))


def run_stored(job: Job, stored: StoredPlan, *, dry: bool = False) -> Outcome:
    """Apply exactly the reply of an earlier dry run, where what it was judged against still stands."""
    folder = adr_folder.listing(job.at.project.adr)
    files = adr_folder.Snapshot(job.at.project.adr)
    waiting = [_draft(files, name) for name, _ in stored.batch if name in folder.drafts]
    batch = tuple(draft for draft in waiting if draft)
    hashes = dict(stored.batch + stored.targets + stored.tooling)
    changed = {name for name, digest in hashes.items() if _digest(files, name) != digest}
    tooling = tuple(name for name, _ in stored.tooling if name not in changed)
    reply = normalize_reply.read(job, stored.reply) if stored.batch else Reply()
    judged = apply.judge(
        job, folder, files, batch, reply.operations, tooling, language=stored.language, today=stored.today
    )
    changed |= {write.name for write in judged.plan.writes if write.new and write.name not in stored.names}
    for name in sorted(changed):
        job.at.log.write(f"changed since plan {stored.id}: {name}")
    judged = judged._replace(plan=judged.plan.without(changed))
    if dry:
        return Outcome("planned", apply.lines(judged), tuple(map(str, judged.plan.refusals)), stored.id)
    return _applied(job, judged, reply)


# -- the batch


def _choose(
    job: Job, folder: adr_folder.Listing, files: adr_folder.Snapshot, seen: Set[str]
) -> list[batching.Waiting]:
    names = batching.order((name for name in folder.drafts if name not in seen), job.state.misses())
    drafts = [draft for draft in (_draft(files, name) for name in names[:_LOOK_AHEAD]) if draft]
    return batching.choose(drafts, max(1, job.settings.batch >> job.state.halvings()))


def _draft(files: adr_folder.Snapshot, name: str) -> batching.Waiting | None:
    text = files.text(name)
    return None if text is None else batching.Waiting(name, text, front_matter.session_of(text[:_HEAD]) or "")


def _digest(files: adr_folder.Snapshot, name: str) -> str:
    stored = files.stored(name)
    return adr_folder.digest(stored.data) if stored else ""


# -- its end


def _told(job: Job, reason: str, outcome: Outcome) -> Outcome:
    job.at.log.skip(reason, outcome.reason)
    return outcome


def _planned(job: Job, judged: Judged, reply: Reply) -> Outcome:
    if reply.failure:
        return Outcome(reply.failure, reason=reply.reason)
    plan_id = apply.keep(job, judged, reply.text)
    if reply.text:
        job.state.note_judged(left=(), waiting=adr_folder.listing(job.at.project.adr).drafts)
    return Outcome("planned", apply.lines(judged), tuple(map(str, judged.plan.refusals)), plan_id)


def _applied(job: Job, judged: Judged, reply: Reply) -> Outcome:
    """Apply what was judged; drafts that need no model go even where there was no reply."""
    stopped = apply.stopped(job)
    if stopped:
        return _told(job, stopped[0], Outcome("skipped", reason=stopped[1]))
    accepted = judged.plan.accepted
    done = apply.apply(job, judged)
    waiting = adr_folder.listing(job.at.project.adr).drafts
    if reply.text and not reply.failure:
        left = [draft.name for draft in judged.batch if draft.name not in accepted]
        job.state.note_judged(left=left, waiting=waiting)
    refused = tuple(map(str, judged.plan.refusals))
    if done.lines or not reply.failure:
        job.at.log.write(
            f"done: {len(done.lines)} operations, {len(refused)} refused, {len(waiting)} drafts wait"
        )
    return Outcome(reply.failure or "applied", done.lines, refused, done.run_id, reply.reason)
