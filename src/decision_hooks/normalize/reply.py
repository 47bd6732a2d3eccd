"""From a batch to operations: whom to ask, whether it may be asked, what its answer means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from decision_hooks.backends import answers, call, local
from decision_hooks.backends.calls import account, foreign, may_not_call
from decision_hooks.backends.choice import normalize_choice
from decision_hooks.errors import RefusedReply
from decision_hooks.normalize import batching, rules
from decision_hooks.normalize import prompt as normalize_prompt
from decision_hooks.normalize.job import Job
from decision_hooks.replies import decisions
from decision_hooks.replies.operations import RawOperation, operations
from decision_hooks.system import adr_folder
from decision_hooks.system.runlog import iso_time

Drafts = Sequence[batching.Waiting]


class Reply(NamedTuple):
    """What was answered for a batch."""

    text: str = ""
    operations: tuple[RawOperation, ...] = ()
    failure: str = ""  # "" | skipped (nobody was asked) | failed | refused
    reason: str = ""  # of the failure, as the log has it


def ask(job: Job, folder: adr_folder.Listing, batch: Drafts) -> Reply:
    """The reply for a batch, or why there is none; an attempt is stamped before it is asked for."""
    choice = normalize_choice(job.settings, job.at.project.root, job.at.world.environ)
    if choice.name == "rules":
        return _by_rules(job, folder, batch)
    if choice.name == "local":
        return _by_local(job, folder, batch)
    if choice.backend is None:
        told = job.settings.backend or job.settings.local_model
        return _skipped(job, "no backend", choice.reasons[0] if told else "no LLM backend available")
    return _by_model(job, folder, batch, choice.backend)


def read(job: Job, text: str, batch: Drafts = ()) -> Reply:
    """The operations of a reply; one that is none, or was cut, is refused: a line of the log, and it is noted."""
    try:
        return Reply(text, operations(text))
    except RefusedReply as error:
        job.at.log.skip("refused reply", f"refused reply: {error}: {foreign(text)}")
        job.state.note_invalid([draft.name for draft in batch])
        return Reply(text, failure="refused", reason=f"the reply was refused: {error}")


# -- asking


def _skipped(job: Job, reason: str, text: str) -> Reply:
    job.at.log.skip(reason, text)
    return Reply(failure="skipped", reason=text)


def _by_rules(job: Job, folder: adr_folder.Listing, batch: Drafts) -> Reply:
    job.at.log.write("using rules (no model)")
    job.state.stamp_attempt(job.at.world.now())
    return read(job, rules.reply(job, folder, batch), batch)


def _by_model(job: Job, folder: adr_folder.Listing, batch: Drafts, chosen: call.Backend) -> Reply:
    stopped = may_not_call(job.at, chosen, job.settings.daily_calls, probe=job.by_hand)
    if stopped:
        return _skipped(job, *stopped)
    job.at.log.write(f"using {chosen.label} (model: {chosen.model}) for {len(batch)} drafts")
    prompt = normalize_prompt.prompt(job, folder, batch)
    before = _stamp(job)
    job.tell(
        f"asking {chosen.label} about {len(batch)} drafts ({len(prompt)} characters); this may take minutes"
    )
    answer = call.ask(
        chosen,
        prompt,
        root=job.at.project.root,
        environ=job.at.world.environ,
        timeout=job.settings.timeout,
        is_answer=lambda text: decisions.holds(operations, text),
    )
    account(job.at, chosen, len(prompt), answer)
    return _answered(job, batch, chosen.name, answer, before)


def _by_local(job: Job, folder: adr_folder.Listing, batch: Drafts) -> Reply:
    model = job.settings.local_model
    label = call.Backend("local", model or "-", "local", ())
    stopped = may_not_call(job.at, label, job.settings.daily_calls, probe=job.by_hand)
    if stopped:
        return _skipped(job, *stopped)
    job.at.log.write(f"using local (model: {model or 'of the command'}) for {len(batch)} drafts")
    before = _stamp(job)
    job.tell(f"asking the local pipeline about {len(batch)} drafts")
    answer = local.ask(
        job.settings.local_cmd,
        model,
        batch=[draft.name for draft in batch],
        clean=folder.records,
        adr=job.at.project.adr,
        root=job.at.project.root,
        environ=job.at.world.environ,
        timeout=job.settings.timeout,
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
    """Stamp the attempt; the one before comes back, should this one spend nothing."""
    before = job.state.last_attempt(job.at.world.now())
    job.state.stamp_attempt(job.at.world.now())
    return before


# -- what was answered


def _answered(job: Job, batch: Drafts, name: str, answer: answers.Answer, before: float | None) -> Reply:
    names = [draft.name for draft in batch]
    if not answer.trouble and answer.text.strip():
        job.tell(f"answered after {answer.seconds:.0f} s ({len(answer.text)} characters)")
        return read(job, answer.text, batch)
    if not answer.trouble:
        reason = f"empty response from {name}"
    else:
        reason = f"{name}: {answer.trouble}: {foreign(answer.detail)}"
    job.at.log.skip(f"backend: {answer.trouble}" if answer.trouble else "empty reply", reason)
    if answer.trouble in answers.SPENT_NOTHING:
        _back_off(job, before, foreign(answer.detail))
    else:
        job.state.note_invalid(names if answer.trouble in ("", "timeout") else ())
    return Reply(failure="failed", reason=reason)


def _back_off(job: Job, before: float | None, why: str) -> None:
    """The attempt spent nothing: it costs no interval, and by hand not even a wait."""
    job.state.clear_attempt(before)
    if not job.by_hand:
        backed = job.state.back_off(job.at.world.now(), job.settings.min_interval, why)
        job.at.log.write(f"backing off until {iso_time(backed.until)}")
