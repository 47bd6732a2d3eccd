"""From a batch to operations: which backend to ask, whether it may be called, what its answer means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from decision_hooks.backends import answers, call, local, troubles
from decision_hooks.backends.base import Backend
from decision_hooks.backends.choice import normalize_choice
from decision_hooks.backends.ledger import account, may_not_call, quoted
from decision_hooks.errors import RefusedReply
from decision_hooks.languages import table
from decision_hooks.normalize.job import Job
from decision_hooks.normalize.prompt import batch_prompt
from decision_hooks.pipeline.operations import as_json
from decision_hooks.pipeline.run import by_rules
from decision_hooks.privacy.mask import outgoing
from decision_hooks.records.front_matter import DraftFile
from decision_hooks.records.naming import is_plain_name
from decision_hooks.replies.decisions import has_form
from decision_hooks.replies.operations import FIELDS, RawOperation, operations
from decision_hooks.system import adr_folder
from decision_hooks.system.runlog import iso_time
from decision_hooks.text.controls import removed

Drafts = Sequence[DraftFile]


class Reply(NamedTuple):
    """What was answered for a batch."""

    text: str = ""
    operations: tuple[RawOperation, ...] = ()
    failure: str = ""  # "" | skipped (nobody was asked) | failed | refused
    reason: str = ""  # of the failure, as the log has it


def reply_for(job: Job, folder: adr_folder.Snapshot, batch: Drafts) -> Reply:
    """The reply for a batch, or why there is none; the attempt is stamped before the call."""
    choice = normalize_choice(job.settings, job.at.project.root, job.at.world.environ)
    if choice.name == "rules":
        return _by_rules(job, folder, batch)
    if choice.name == "local":
        return _by_local(job, folder, batch)
    if choice.backend is None:
        chosen = job.settings.backend or job.settings.local_model
        return _skipped(job, choice.skip, choice.reasons[0] if chosen else "no LLM backend available")
    return _by_model(job, folder, batch, choice.backend)


def read_reply(job: Job, text: str, batch: Drafts = ()) -> Reply:
    """The operations of a reply, masked; a reply without any, or a cut reply, is refused, logged and counted."""
    try:
        found = tuple(_clean(job, raw) for raw in operations(text))
        return Reply(as_json(found), found)
    except RefusedReply as error:
        job.at.log.skip("refused reply", f"refused reply: {error}: {quoted(text)}")
        job.state.note_invalid([draft.name for draft in batch])
        return Reply(text, failure="refused", reason=f"the reply was refused: {error}")


def _clean(job: Job, raw: RawOperation) -> RawOperation:
    """An operation with its texts masked and without control characters; names of files that exist stay."""
    texts = {}
    for field in FIELDS:
        text = getattr(raw, field)
        clean = outgoing(removed(text), job.at.world.home)
        is_name = clean != text and field in ("file", "target") and is_plain_name(text)
        texts[field] = text if is_name and adr_folder.is_there(job.at.project.adr, text) else clean
    return RawOperation(**texts, wrong=raw.wrong)


# -- asking


def _skipped(job: Job, reason: str, text: str) -> Reply:
    job.at.log.skip(reason, text)
    return Reply(failure="skipped", reason=text)


def _by_rules(job: Job, folder: adr_folder.Snapshot, batch: Drafts) -> Reply:
    job.at.log.write("using rules (no model)")
    job.state.stamp_attempt(job.at.world.now())
    proposal = by_rules(batch, folder.names, table.language(job.settings.language))
    for name, why in proposal.left.items():
        job.at.log.write(f"left: {name}: {why}")
    return read_reply(job, as_json(proposal.operations), batch)


def _by_model(job: Job, folder: adr_folder.Snapshot, batch: Drafts, chosen: Backend) -> Reply:
    stopped = may_not_call(job.at, chosen, job.settings.daily_calls, probe=job.by_hand)
    if stopped:
        return _skipped(job, *stopped)
    job.at.log.write(f"using {chosen.label} (model: {chosen.model}) for {len(batch)} drafts")
    prompt = batch_prompt(job, folder, batch)
    before = _stamp(job)
    job.progress(
        f"asking {chosen.label} about {len(batch)} drafts ({len(prompt)} characters); this may take minutes"
    )
    answer = call.ask(
        chosen,
        prompt,
        root=job.at.project.root,
        environ=job.at.world.environ,
        timeout=job.settings.timeout,
        is_answer=lambda text: has_form(operations, text),
    )
    account(job.at, chosen, len(prompt), answer)
    return _answered(job, batch, chosen.name, answer, before)


def _by_local(job: Job, folder: adr_folder.Snapshot, batch: Drafts) -> Reply:
    model = job.settings.local_model
    label = Backend("local", model or "-", "local")
    stopped = may_not_call(job.at, label, job.settings.daily_calls, probe=job.by_hand)
    if stopped:
        return _skipped(job, *stopped)
    job.at.log.write(f"using local (model: {model or 'of the command'}) for {len(batch)} drafts")
    before = _stamp(job)
    job.progress(f"asking the local pipeline about {len(batch)} drafts")
    answer = local.ask(
        job.at,
        job.settings,
        batch=[draft.name for draft in batch],
        clean=folder.records,
        on_stderr=_progress(job),
    )
    account(job.at, label, sum(len(draft.text) for draft in batch), answer)
    if answer.note:
        job.at.log.write(answer.note)
    return _answered(job, batch, "local", answer, before)


def _progress(job: Job) -> Callable[[bytes], None] | None:
    if not (job.by_hand and job.at.world.watched):
        return None
    return lambda data: job.at.world.err(data.decode("utf-8", "replace").rstrip("\n"))


def _stamp(job: Job) -> float | None:
    """Stamp the attempt; returns the time of the one before, to restore if this one spends nothing."""
    before = job.state.last_attempt(job.at.world.now())
    job.state.stamp_attempt(job.at.world.now())
    return before


# -- what was answered


def _answered(job: Job, batch: Drafts, name: str, answer: answers.Answer, before: float | None) -> Reply:
    if not answer.trouble and answer.text.strip():
        job.progress(f"answered after {answer.seconds:.0f} s ({len(answer.text)} characters)")
        return read_reply(job, answer.text, batch)
    reason = f"empty response from {name}"
    if answer.trouble:
        reason = f"{name}: {answer.trouble}: {quoted(answer.detail)}"
    job.at.log.skip(f"backend: {answer.trouble}" if answer.trouble else "empty reply", reason)
    if answer.trouble in troubles.SPENT_NOTHING:
        _back_off(job, before, quoted(answer.detail))
    else:
        blamed = batch if answer.trouble in ("", "timeout", "too long", "context") else ()
        job.state.note_invalid([draft.name for draft in blamed])
    return Reply(failure="failed", reason=reason)


def _back_off(job: Job, before: float | None, why: str) -> None:
    """Take back the stamp of an attempt that spent nothing, and back off unless the run is by hand."""
    job.state.clear_attempt(before)
    if not job.by_hand:
        backed = job.state.back_off(job.at.world.now(), job.settings.min_interval, why)
        job.at.log.write(f"backing off until {iso_time(backed.until)}")
