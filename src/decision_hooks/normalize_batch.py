"""One batch: which drafts, whom to ask, what was answered, what becomes of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from decision_hooks import normalize_prompt, normalize_rules, normalize_tooling
from decision_hooks.errors import RefusedReply
from decision_hooks.normalize import Job
from decision_hooks.records import batching, document, madr, planning
from decision_hooks.records.operations import operations
from decision_hooks.system import adr_folder, backends, git, journal, locking
from decision_hooks.system.calls import account, foreign, may_not_call
from decision_hooks.system.normal_state import StoredPlan
from decision_hooks.system.runlog import iso_time

_BLANK = " \t\r\n"
_LOOK_AHEAD = 400  # drafts that are read to choose a batch


class Outcome(NamedTuple):
    """How a batch ended: ``applied``, ``planned``, ``nothing`` (no draft), ``skipped``, ``failed``, ``refused``."""

    kind: str
    lines: tuple[str, ...] = ()  # what was done or planned, one an operation
    refused: tuple[str, ...] = ()  # what was refused, one an operation, with the reason
    run_id: str = ""  # of the journal, or of the stored plan
    reason: str = ""


def run_batch(job: Job, *, dry: bool | None = None) -> Outcome:
    """Normalise one batch of drafts, or only plan it; everything that happens is in the log."""
    dry = job.settings.dry if dry is None else dry
    folder = adr_folder.listing(job.place.adr)
    batch = _choose(job, folder)
    if not batch:
        job.log.write("no drafts")
        return Outcome("nothing", reason="no drafts")
    tooling = normalize_tooling.tooling_only(job, batch) if job.settings.skip_tooling_only else ()
    batch = [draft for draft in batch if draft.name not in tooling]
    if not batch:
        return _conclude(job, folder, [], tooling, None, dry)
    job.tell(f"{len(batch)} drafts in the batch")
    reply = _ask(job, folder, batch)
    if isinstance(reply, Outcome):
        if tooling and not dry:
            _conclude(job, folder, [], tooling, None, dry)
        return reply
    return _conclude(job, folder, batch, tooling, reply, dry)


def run_stored(job: Job, stored: StoredPlan) -> Outcome:
    """Apply exactly the reply of an earlier dry run, where what it was judged against still stands."""
    folder = adr_folder.listing(job.place.adr)
    batch = [draft for draft in (_draft(job, name) for name, _ in stored.batch) if draft]
    changed = {name for name, digest in stored.batch + stored.targets if _digest(job, name) != digest}
    tooling = tuple(name for name in stored.tooling if name in folder.drafts)
    return _conclude(
        job, folder, batch, tooling, stored.reply, False, changed=changed, names=set(stored.names)
    )


# -- the batch


def _choose(job: Job, folder: adr_folder.Listing) -> list[batching.Waiting]:
    misses = job.state.misses()
    names = batching.order(folder.drafts, misses)[:_LOOK_AHEAD]
    drafts = [draft for draft in (_draft(job, name, misses.get(name, 0)) for name in names) if draft]
    most = job.settings.batch
    return batching.choose(drafts, max(1, most // 2) if job.state.halved() else most)


def _draft(job: Job, name: str, misses: int = 0) -> batching.Waiting | None:
    stored = adr_folder.read(job.place.adr, name)
    if stored is None:
        return None
    return batching.Waiting(name, stored.text, document.session_of(stored.text[:4096]) or "", misses)


def _digest(job: Job, name: str) -> str:
    stored = adr_folder.read(job.place.adr, name)
    return adr_folder.digest(stored.data) if stored else ""


# -- asking


def _ask(job: Job, folder: adr_folder.Listing, batch: Sequence[batching.Waiting]) -> str | Outcome:
    """The reply for a batch, or why there is none; stamps the attempt before the call."""
    name = job.settings.backend or _automatic(job)
    if name == "rules":
        job.log.write("using rules (no model)")
        job.state.stamp_attempt(job.world.now())
        return normalize_rules.reply(job, folder, batch)
    if name == "local":
        return _ask_local(job, folder, batch)
    if name not in ("pi", "claude", "cursor", "cursor-agent"):
        reason = f"unknown ADR_NORMALIZE_BACKEND={name}" if name else "no LLM backend available"
        return _skipped(job, reason)
    chosen = backends.normalize_backend(
        "cursor-agent" if name == "cursor" else name, job.settings, job.place.root, job.world.environ
    )
    if isinstance(chosen, backends.Absent):
        return _skipped(job, chosen.reason)
    return _call(job, folder, batch, chosen)


def _automatic(job: Job) -> str:
    if job.settings.local_model:
        return "local"
    for name in ("pi", "claude", "cursor-agent"):
        if backends.find_program(name, job.place.root, job.world.environ):
            return name
    return ""


def _skipped(job: Job, reason: str) -> Outcome:
    job.log.write(reason)
    return Outcome("skipped", reason=reason)


def _call(
    job: Job, folder: adr_folder.Listing, batch: Sequence[batching.Waiting], chosen: backends.Backend
) -> str | Outcome:
    stopped = may_not_call(job.place, chosen, job.world, job.settings.daily_calls, probe=job.by_hand)
    if stopped:
        return _skipped(job, stopped)
    job.log.write(f"using {chosen.label} (model: {chosen.model}) for {len(batch)} drafts")
    before = job.state.last_attempt(job.world.now())
    job.state.stamp_attempt(job.world.now())
    prompt = normalize_prompt.prompt(job, folder, batch)
    job.tell(f"asking {chosen.label} ({len(prompt)} characters)")
    answer = backends.ask(
        chosen,
        prompt,
        root=job.place.root,
        environ=job.world.environ,
        timeout=job.settings.timeout,
        is_answer=_is_answer,
    )
    account(job.place, chosen, job.world, len(prompt), answer)
    return _answer(job, chosen.name, answer, before)


def _ask_local(job: Job, folder: adr_folder.Listing, batch: Sequence[batching.Waiting]) -> str | Outcome:
    label = backends.Backend("local", job.settings.local_model or "-", "local", ())
    stopped = may_not_call(job.place, label, job.world, job.settings.daily_calls, probe=job.by_hand)
    if stopped:
        return _skipped(job, stopped)
    job.log.write(
        f"using local (model: {job.settings.local_model or 'of the command'}) for {len(batch)} drafts"
    )
    before = job.state.last_attempt(job.world.now())
    job.state.stamp_attempt(job.world.now())
    answer = backends.ask_local(
        job.settings.local_cmd,
        job.settings.local_model,
        batch=[draft.name for draft in batch],
        clean=folder.records,
        adr=job.place.adr,
        root=job.place.root,
        environ=job.world.environ,
        timeout=job.settings.timeout,
        on_stderr=_progress(job),
    )
    account(job.place, label, job.world, sum(len(draft.text) for draft in batch), answer)
    if answer.note:
        job.log.write(answer.note)
    return _answer(job, "local", answer, before)


def _progress(job: Job) -> Callable[[bytes], None] | None:
    if not (job.by_hand and job.world.watched):
        return None
    return lambda data: job.world.err(data.decode("utf-8", "replace").rstrip("\n"))


def _answer(job: Job, name: str, answer: backends.Answer, before: float | None) -> str | Outcome:
    if not answer.trouble and answer.text.strip():
        return answer.text
    reason = (
        f"{name}: {answer.trouble}: {foreign(answer.detail)}"
        if answer.trouble
        else f"empty response from {name}"
    )
    job.log.write(reason)
    if answer.trouble in backends.SPENT_NOTHING:
        job.state.clear_attempt(before)
        backed = job.state.back_off(job.world.now(), job.settings.min_interval, foreign(answer.detail))
        job.log.write(f"backing off until {iso_time(backed.until)}")
    else:
        job.state.note_invalid()
    return Outcome("failed", reason=reason)


def _is_answer(text: str) -> bool:
    try:
        operations(text)
    except RefusedReply:
        return False
    return True


# -- judging and applying


def _conclude(
    job: Job,
    folder: adr_folder.Listing,
    batch: Sequence[batching.Waiting],
    tooling: Sequence[str],
    reply: str | None,
    dry: bool,
    *,
    changed: set[str] | None = None,
    names: set[str] | None = None,
) -> Outcome:
    """Judge the reply as a whole, then log, keep or apply the plan."""
    try:
        wanted = operations(reply) if reply is not None else ()
    except RefusedReply as error:
        job.log.write(f"refused reply: {error}: {foreign(reply or '')}")
        job.state.note_invalid()
        return Outcome("refused", reason=str(error))
    plan = planning.plan(
        wanted,
        batch=[planning.DraftFile(draft.name, draft.text) for draft in batch],
        folder=planning.Folder(
            names=folder.names, drafts=frozenset(folder.drafts), read=lambda name: _read_text(job, name)
        ),
        language=madr.language(job.settings.language),
        today=iso_time(job.world.now())[:10],
    )
    if changed:
        plan = plan.without(changed)
    if names is not None:
        plan = plan.without({write.name for write in plan.writes if write.new and write.name not in names})
    for refusal in plan.refusals:
        job.log.write(f"refused: {refusal}")
    if dry:
        return _keep(job, batch, plan, reply or "", tooling)
    return _apply(job, batch, plan, tooling)


def _read_text(job: Job, name: str) -> str | None:
    stored = adr_folder.read(job.place.adr, name)
    return stored.text if stored else None


def _keep(
    job: Job, batch: Sequence[batching.Waiting], plan: planning.Plan, reply: str, tooling: Sequence[str]
) -> Outcome:
    lines = tuple([f"tooling-only delete: {name}" for name in tooling] + list(plan.lines()))
    stored = StoredPlan(
        id=_new_id(job),
        reply=reply,
        batch=tuple((draft.name, _digest(job, draft.name)) for draft in batch),
        targets=tuple((w.name, _digest(job, w.name)) for w in plan.writes if not w.new),
        names=tuple(w.name for w in plan.writes if w.new),
        tooling=tuple(tooling),
    )
    job.state.store_plan(stored)
    for line in lines:
        job.log.write(f"dry run: {line}")
    return Outcome("planned", lines, tuple(map(str, plan.refusals)), stored.id)


def _apply(
    job: Job, batch: Sequence[batching.Waiting], plan: planning.Plan, tooling: Sequence[str]
) -> Outcome:
    plan = _checked_again(job, batch, plan)
    steps = _steps(job, plan, tooling)
    lines = [f"tooling-only delete: {name}" for name in tooling] + list(plan.lines())
    run_id = ""
    if steps:
        run_id = _new_id(job)
        run = journal.begin(job.place, run_id, steps, f"{len(lines)} operations")
        left = journal.apply(run)
        for name in left:
            job.log.write(f"left alone, changed meanwhile: {name}")
        journal.forget_old(job.place)
    for line in lines:
        job.log.write(line)
    accepted = plan.accepted | set(tooling)
    waiting = adr_folder.listing(job.place.adr).drafts
    job.state.note_outcome(left=[d.name for d in batch if d.name not in accepted], waiting=waiting)
    job.log.write(f"done: {len(lines)} operations, {len(plan.refusals)} refused, {len(waiting)} drafts wait")
    return Outcome("applied", tuple(lines), tuple(map(str, plan.refusals)), run_id)


def _checked_again(job: Job, batch: Sequence[batching.Waiting], plan: planning.Plan) -> planning.Plan:
    """The plan without what does not stand any more: files changed during the call, a lost lock, a busy git."""
    if not locking.still_ours(job.lock):
        job.log.write("the lock was lost during the call: nothing was done")
        return plan.without({draft.name for draft in batch})
    busy = git.operation_in_progress(job.place.root)
    if busy:
        job.log.write(f"git {busy} began during the call: nothing was done")
        return plan.without({draft.name for draft in batch})
    texts = {draft.name: draft.text for draft in batch}
    texts |= {write.name: write.before for write in plan.writes if write.before is not None}
    changed = {name for name, text in texts.items() if _read_text(job, name) != text}
    changed |= {w.name for w in plan.writes if w.new and os.path.lexists(os.path.join(job.place.adr, w.name))}
    for name in sorted(changed):
        job.log.write(f"changed during the call: {name}")
    return plan.without(changed) if changed else plan


def _steps(job: Job, plan: planning.Plan, tooling: Sequence[str]) -> list[journal.Step]:
    steps = []
    for write in plan.writes:
        before = None if write.new else adr_folder.read(job.place.adr, write.name)
        steps.append(journal.Step(write.name, before, _image(write, before)))
    for name in [removal.name for removal in plan.removals] + list(tooling):
        before = adr_folder.read(job.place.adr, name)
        if before:
            needs = tuple(write.name for write in plan.writes if name in write.sources)
            steps.append(journal.Step(name, before, None, needs))
    return steps


def _image(write: planning.Write, before: adr_folder.Stored | None) -> bytes:
    """The bytes of a file as it shall be: what stands in a record stays as it is, bad bytes included."""
    if before is not None and write.before is not None and write.text.startswith(write.before.rstrip(_BLANK)):
        stands = before.data.rstrip(_BLANK.encode())
        return stands + write.text[len(write.before.rstrip(_BLANK)) :].encode("utf-8", "replace")
    return write.text.encode("utf-8", "replace")


def _new_id(job: Job) -> str:
    stamp = iso_time(job.world.now())[:19].replace("-", "").replace(":", "")
    return f"{stamp}-{os.urandom(2).hex()}"
