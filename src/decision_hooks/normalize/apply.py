"""From operations to changed files: the pure judgement, the stored plan, the second check, the journal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from decision_hooks.languages import table
from decision_hooks.normalize.job import Job
from decision_hooks.records.front_matter import DraftFile
from decision_hooks.replies.operations import RawOperation
from decision_hooks.replies.plan import DELETE, MERGE, REWRITE, Folder, Plan, Write, plan
from decision_hooks.state import journal, runs
from decision_hooks.state.normalize import StoredPlan
from decision_hooks.state.runs import Change
from decision_hooks.system import adr_folder, git, locking
from decision_hooks.system.runlog import iso_time

_BLANK = " \t\r\n"


class BatchPlan(NamedTuple):
    """The plan of a batch and what it was made from."""

    batch: tuple[DraftFile, ...]
    plan: Plan
    tooling: tuple[str, ...]  # drafts to delete without a model
    folder: adr_folder.Snapshot
    language: str
    today: str

    def lines(self) -> tuple[str, ...]:
        """One line for each operation, as the log has it."""
        return (
            *(f"tooling-only delete: {name}" for name in self.tooling),
            *map(str, self.plan.operations),
        )

    def refused(self) -> tuple[str, ...]:
        """One line for each refused operation, with the reason."""
        return tuple(map(str, self.plan.refusals))

    def without(self, names: Set[str]) -> BatchPlan:
        """The plan without operations that read or write these files."""
        tooling = tuple(name for name in self.tooling if name not in names)
        return self._replace(plan=self.plan.without(names), tooling=tooling)


def plan_batch(
    job: Job,
    folder: adr_folder.Snapshot,
    batch: Sequence[DraftFile],
    operations: Sequence[RawOperation],
    tooling: Sequence[str],
    *,
    language: str = "",
    today: str = "",
) -> BatchPlan:
    """Judge the operations as a whole and log each refusal; no file is changed."""
    language = language or job.settings.language
    today = today or iso_time(job.at.world.now())[:10]
    planned = plan(
        operations,
        batch=batch,
        folder=Folder(names=folder.names, drafts=frozenset(folder.drafts), read=folder.text),
        language=table.language(language),
        today=today,
    )
    for refusal in planned.refusals:
        job.at.log.write(f"refused: {refusal}")
    return BatchPlan(tuple(batch), planned, tuple(tooling), folder, language, today)


def store_plan(job: Job, planned: BatchPlan, reply: str) -> str:
    """Log a plan and store its reply, so that exactly this plan can be applied later; returns the plan's id."""

    def digests(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
        pairs = ((name, planned.folder.digest(name)) for name in names)
        return tuple((name, digest) for name, digest in pairs if digest)

    writes = planned.plan.writes
    stored = StoredPlan(
        reply=reply,
        language=planned.language,
        today=planned.today,
        batch=digests(draft.name for draft in planned.batch),
        targets=digests(write.name for write in writes if write.before is not None),
        names=tuple(write.name for write in writes if write.before is None),
        tooling=digests(planned.tooling),
    )
    for line in planned.lines():
        job.at.log.write(f"dry run: {line}")
    return job.state.store_plan(stored, job.at.world.now()).id


def reason_not_to_write(job: Job) -> tuple[str, str] | None:
    """Why nothing may be written after the wait for a reply, and the line for the log; None when it may."""
    if not locking.still_ours(job.lock):
        return "lock lost", "the lock was lost during the call: nothing was done"
    busy = git.operation_in_progress(job.at.project.root)
    return ("git busy", f"git {busy} began during the call: nothing was done") if busy else None


def apply(job: Job, planned: BatchPlan) -> tuple[tuple[str, ...], str]:
    """Apply a plan under the journal, except to files that changed since they were read.

    Returns the logged line of each operation, and the id of the run for ``undo`` ("" if nothing was changed).
    """
    planned = _without_changed(job, planned)
    changes = _changes(planned)
    run_id = ""
    if changes:
        run = runs.begin(job.at.project, job.at.world.now(), changes, _title(planned), job.at.world.environ)
        run_id = run.id
        left = set(journal.apply(run))
        for name in sorted(left):
            job.at.log.write(f"left alone, changed meanwhile: {name}")
        planned = planned.without(left)
        runs.forget_old(job.at.project)
    lines = planned.lines()
    for line in lines:
        job.at.log.write(line)
    return lines, run_id


def _title(planned: BatchPlan) -> str:
    counts = {"deleted as tooling-only": len(planned.tooling)}
    for verb, op in (("rewritten", REWRITE), ("merged", MERGE), ("deleted", DELETE)):
        counts[verb] = sum(operation.op == op for operation in planned.plan.operations)
    return ", ".join(f"{count} {verb}" for verb, count in counts.items() if count)


def _without_changed(job: Job, planned: BatchPlan) -> BatchPlan:
    """The plan without operations on files that changed since they were read."""
    plan = planned.plan
    read = {draft.name for draft in planned.batch} & plan.accepted | set(planned.tooling)
    read |= {write.name for write in plan.writes if write.before is not None}
    changed = planned.folder.changed(sorted(read))
    created = (write.name for write in plan.writes if write.before is None)
    changed |= {name for name in created if adr_folder.is_there(job.at.project.adr, name)}
    for name in sorted(changed):
        job.at.log.write(f"changed during the call: {name}")
    return planned.without(changed)


def _changes(planned: BatchPlan) -> list[Change]:
    plan, folder = planned.plan, planned.folder
    changes = []
    for write in plan.writes:
        before = None if write.before is None else folder.stored(write.name)
        changes.append(Change(write.name, before, _bytes_after(write, before)))
    for name in [*plan.removals, *planned.tooling]:
        needs = tuple(write.name for write in plan.writes if name in write.sources)
        changes.append(Change(name, folder.stored(name), None, needs))
    return changes


def _bytes_after(write: Write, before: adr_folder.Stored | None) -> bytes:
    """The new bytes of a file; what a merge appends to keeps its bytes, invalid ones included."""
    if before is not None and write.before is not None and write.text.startswith(write.before.rstrip(_BLANK)):
        kept = before.data.rstrip(_BLANK.encode())
        return kept + write.text[len(write.before.rstrip(_BLANK)) :].encode("utf-8", "replace")
    return write.text.encode("utf-8", "replace")
