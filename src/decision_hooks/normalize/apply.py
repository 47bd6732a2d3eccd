"""From operations to changed files: the pure judgement, the kept plan, the second check, the journal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from decision_hooks.normalize import batching
from decision_hooks.normalize.job import Job
from decision_hooks.records import madr
from decision_hooks.replies import planning
from decision_hooks.replies.operations import RawOperation
from decision_hooks.state import journal, runs
from decision_hooks.state.normalize import StoredPlan
from decision_hooks.state.runs import Change
from decision_hooks.system import adr_folder, git, locking
from decision_hooks.system.runlog import iso_time

_BLANK = " \t\r\n"


class Judged(NamedTuple):
    """A batch with what its reply comes to, and what it was judged by."""

    batch: tuple[batching.Waiting, ...]
    plan: planning.Plan
    tooling: tuple[str, ...]  # drafts that go without a model
    files: adr_folder.Snapshot
    language: str
    today: str


class Done(NamedTuple):
    """What was changed: a line for each operation, and the id of the run that takes it back ("" = nothing)."""

    lines: tuple[str, ...]
    run_id: str = ""


def judge(
    job: Job,
    folder: adr_folder.Listing,
    files: adr_folder.Snapshot,
    batch: Sequence[batching.Waiting],
    operations: Sequence[RawOperation],
    tooling: Sequence[str],
    *,
    language: str = "",
    today: str = "",
) -> Judged:
    """Judge the operations as a whole; each refusal is a line of the log. Nothing is changed."""
    language = language or job.settings.language
    today = today or iso_time(job.at.world.now())[:10]
    plan = planning.plan(
        operations,
        batch=[planning.DraftFile(draft.name, draft.text) for draft in batch],
        folder=planning.Folder(names=folder.names, drafts=frozenset(folder.drafts), read=files.text),
        language=madr.language(language),
        today=today,
    )
    for refusal in plan.refusals:
        job.at.log.write(f"refused: {refusal}")
    return Judged(tuple(batch), plan, tuple(tooling), files, language, today)


def lines(judged: Judged) -> tuple[str, ...]:
    """What a plan does, one line an operation."""
    return (*(f"tooling-only delete: {name}" for name in judged.tooling), *judged.plan.lines())


def keep(job: Job, judged: Judged, reply: str) -> str:
    """Log a plan and keep its reply, so that exactly it can be applied later; returns the plan's id."""

    def hashes(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
        found = ((name, judged.files.stored(name)) for name in names)
        return tuple((name, adr_folder.digest(stored.data)) for name, stored in found if stored)

    stored = StoredPlan(
        reply=reply,
        language=judged.language,
        today=judged.today,
        batch=hashes(draft.name for draft in judged.batch),
        targets=hashes(write.name for write in judged.plan.writes if not write.new),
        names=tuple(write.name for write in judged.plan.writes if write.new),
        tooling=hashes(judged.tooling),
    )
    for line in lines(judged):
        job.at.log.write(f"dry run: {line}")
    return job.state.store_plan(stored, job.at.world.now()).id


def stopped(job: Job) -> tuple[str, str] | None:
    """Why nothing may be written after the wait for a reply, and the line for the log; None when it may."""
    if not locking.still_ours(job.lock):
        return "lock lost", "the lock was lost during the call: nothing was done"
    busy = git.operation_in_progress(job.at.project.root)
    return ("git busy", f"git {busy} began during the call: nothing was done") if busy else None


def apply(job: Job, judged: Judged) -> Done:
    """Do what was judged where it still stands, under the journal; each operation is a line of the log."""
    judged = _where_unchanged(job, judged)
    changes = _changes(judged)
    if not changes and not lines(judged):
        return Done(())
    run_id = ""
    if changes:
        run = runs.begin(job.at.project, job.at.world.now(), changes, _title(judged))
        run_id = run.id
        left = set(journal.apply(run))
        for name in sorted(left):
            job.at.log.write(f"left alone, changed meanwhile: {name}")
        judged = _without(judged, left)
        runs.forget_old(job.at.project)
    done = lines(judged)
    for line in done:
        job.at.log.write(line)
    return Done(done, run_id)


def _title(judged: Judged) -> str:
    counts = {"deleted as tooling-only": len(judged.tooling)}
    for told, op in (
        ("rewritten", planning.REWRITE),
        ("merged", planning.MERGE),
        ("deleted", planning.DELETE),
    ):
        counts[told] = sum(step.op == op for step in judged.plan.steps)
    return ", ".join(f"{count} {told}" for told, count in counts.items() if count)


def _where_unchanged(job: Job, judged: Judged) -> Judged:
    """What was judged without that which rests on files that have changed since they were read."""
    plan = judged.plan
    touched = {draft.name for draft in judged.batch} & plan.accepted
    touched |= {write.name for write in plan.writes if not write.new} | set(judged.tooling)
    changed = judged.files.changed(sorted(touched))
    changed |= {
        write.name
        for write in plan.writes
        if write.new and adr_folder.is_there(job.at.project.adr, write.name)
    }
    for name in sorted(changed):
        job.at.log.write(f"changed during the call: {name}")
    return _without(judged, changed)


def _without(judged: Judged, names: set[str]) -> Judged:
    if not names:
        return judged
    tooling = tuple(name for name in judged.tooling if name not in names)
    return judged._replace(plan=judged.plan.without(names), tooling=tooling)


def _changes(judged: Judged) -> list[Change]:
    plan, files = judged.plan, judged.files
    changes = []
    for write in plan.writes:
        before = None if write.new else files.stored(write.name)
        changes.append(Change(write.name, before, _image(write, before)))
    for name in [*(removal.name for removal in plan.removals), *judged.tooling]:
        needs = tuple(write.name for write in plan.writes if name in write.sources)
        changes.append(Change(name, files.stored(name), None, needs))
    return changes


def _image(write: planning.Write, before: adr_folder.Stored | None) -> bytes:
    """The bytes of a file as it shall be: what stands in a record stays as it is, bad bytes included."""
    if before is not None and write.before is not None and write.text.startswith(write.before.rstrip(_BLANK)):
        stands = before.data.rstrip(_BLANK.encode())
        return stands + write.text[len(write.before.rstrip(_BLANK)) :].encode("utf-8", "replace")
    return write.text.encode("utf-8", "replace")
