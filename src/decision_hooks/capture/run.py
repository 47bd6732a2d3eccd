"""The story of one captured part: from the new lines of a transcript to drafts in ``docs/adr``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from decision_hooks.backends import answers, call, troubles
from decision_hooks.backends.base import Backend
from decision_hooks.backends.choice import capture_choice
from decision_hooks.backends.ledger import account, may_not_call, quoted
from decision_hooks.capture.part import Part, older_edits, read_again, read_part
from decision_hooks.capture.queue import CaptureRun
from decision_hooks.errors import RefusedReply
from decision_hooks.languages import table
from decision_hooks.privacy import mask
from decision_hooks.sessions import digest
from decision_hooks.sessions.model import Edit
from decision_hooks.state.values import GivenUp, Outbox, Pending
from decision_hooks.system import files
from decision_hooks.system.project import main_root, tree_name
from decision_hooks.transcripts.verdict import CROSS_PROJECT, OWN, TOOLING_ONLY, verdict_of

if TYPE_CHECKING:
    from decision_hooks.records.madr import Decision

# Outcomes of a try
DONE = "done"  # captured, or nothing to capture: the part waits no longer
SKIPPED = "skipped"  # no backend or no model: the part waits no longer, its position stays
FAILED = "failed"  # for a reason of the part's own: counts as a try
WAITS = "waits"  # breaker, cap, credit, login, rate limit, could not start: counts as none

_LABEL = "capture-"


class _Tried(NamedTuple):
    outcome: str
    decisions: tuple[Decision, ...] = ()


def capture_part(run: CaptureRun, entry: Pending, timeout: float) -> tuple[str, Part | None]:
    """Capture one part; returns the outcome and, where one was read, the part. Writes to the log as it goes."""
    part = read_part(run.state, entry, incremental=run.settings.incremental, world=run.at.world)
    if part is None:
        run.at.log.skip("no transcript", "no transcript path")
        return DONE, None
    return _capture(run, entry, part, timeout)


def capture_again(run: CaptureRun, stored: GivenUp, timeout: float) -> str:
    """Capture exactly a part that was given up, and forget that it was; returns the outcome."""
    part = read_again(run.state, stored, incremental=run.settings.incremental, world=run.at.world)
    if part is None:
        run.at.log.write("the transcript does not hold the part any more")
        return FAILED
    outcome, _ = _capture(run, stored.entry, part, timeout)
    if outcome == DONE:
        run.state.forget_given_up(stored)
    return outcome


def _capture(run: CaptureRun, entry: Pending, part: Part, timeout: float) -> tuple[str, Part]:
    if part.nothing_new:
        run.at.log.skip("nothing new", "nothing new in the session")
        return DONE, part
    part, skip = _judge_relevance(run, entry, part)
    if skip:
        run.at.log.skip(skip, f"skipping ADR capture: {skip} session")
        _move(run, entry, part)
        return DONE, part
    tried = _decisions(run, part, timeout)
    if tried.outcome == DONE:
        _deliver(run, entry, part, tried.decisions)
    return tried.outcome, part


def give_up(run: CaptureRun, entry: Pending, part: Part | None, why: str) -> None:
    """Take the part no more: its position moves on, and ``backfill --retry`` can take it up again."""
    run.at.log.write(f"given up {why}: {entry.transcript or entry.session_id} (see backfill --retry)")
    if part is not None:
        after = part.position
        end = after.offset if part.path else part.begin
        run.state.give_up(GivenUp(entry, part.begin, end, after.check, after.appended, part.verdict))
        _move(run, entry, part)


def finish_outbox(run: CaptureRun, outbox: Outbox) -> None:
    """Create the drafts of an outbox that are not there yet, move the position, forget the outbox."""
    files.make_folder(run.at.project.adr)
    files.remove_leftovers(run.at.project.adr, _LABEL)
    for number, (stem, text) in enumerate(outbox.drafts):
        # what a person has done meanwhile with a draft that was made is not ours to change
        if number > outbox.made or (number == outbox.made and not _is_made(run, outbox, text)):
            _make(run, outbox._replace(made=number), stem, files.to_bytes(text))
    run.state.save_outbox(outbox._replace(made=len(outbox.drafts), making=""))
    run.state.save_position(outbox.key, outbox.position)
    run.state.remember(outbox.uuids, run.at.world.now())
    run.state.close_outbox(outbox.key)


def _is_made(run: CaptureRun, outbox: Outbox, text: str) -> bool:
    """Whether the draft that was being made is there, perhaps edited: in its session's name."""
    from decision_hooks.records.front_matter import session_of

    there = files.read_text(os.path.join(run.at.project.adr, outbox.making)) if outbox.making else None
    return there is not None and session_of(there) == session_of(text)


def _make(run: CaptureRun, outbox: Outbox, stem: str, data: bytes) -> None:
    """Create one draft under the first free name, which is noted before: so it is known if we are killed then."""
    from decision_hooks.records import naming

    number = 1
    while True:
        name = naming.numbered(stem, number) + ".md"
        path = os.path.join(run.at.project.adr, name)
        if files.read_bytes(path) == data:
            return  # a run that was killed had created it
        if not os.path.lexists(path):
            run.state.save_outbox(outbox._replace(making=name))
            if files.create_exclusive(path, data, label=_LABEL):
                run.at.log.write(f"wrote: {path}")
                return
        number += 1


def _move(run: CaptureRun, entry: Pending, part: Part) -> None:
    run.state.save_position(entry.key, part.position._replace(time=run.at.world.now()))
    run.state.remember(part.session.uuids, run.at.world.now())


# -- relevance


def _judge_relevance(run: CaptureRun, entry: Pending, part: Part) -> tuple[Part, str]:
    """The part with its verdict in the position, and the reason to skip it ("" = capture it)."""
    judge = verdict_of(run.at.project, run.at.world.environ, (entry.root, entry.main))
    verdict = judge(part.edits)
    if verdict != OWN:
        verdict = judge([*part.edits, *_older_edits(part, judge)]) or part.verdict
    part = part.judged(verdict)
    if verdict == CROSS_PROJECT and run.settings.skip_cross_project:
        return part, verdict
    if verdict == TOOLING_ONLY and run.settings.skip_tooling_only:
        return part, verdict
    return part, ""


def _older_edits(part: Part, judge: Callable[[Sequence[Edit]], str]) -> Iterator[Edit]:
    """Edits of the unread beginning of a very large part, up to the first that settles the verdict."""
    for edit in older_edits(part):
        yield edit
        if judge([edit]) == OWN:
            return


# -- from the part to decisions


def _decisions(run: CaptureRun, part: Part, timeout: float) -> _Tried:
    if run.settings.backend == "choices":
        return _decisions_of_choices(run, part)
    chosen = _choose_backend(run)
    if chosen is None:
        return _Tried(SKIPPED)
    run.at.log.write(f"using {chosen.label} (model: {chosen.model})")
    stopped = may_not_call(run.at, chosen, run.settings.daily_calls)
    if stopped:
        run.at.log.skip(*stopped)
        return _Tried(WAITS)
    home = run.at.world.home
    sent = digest.render(
        part.session,
        mask=lambda text: mask.outgoing(text, home),
        mask_all=lambda texts: mask.outgoing_all(texts, home),
        context=part.context,
    )
    answer = call.ask(
        chosen,
        _prompt(run, sent),
        root=run.at.project.root,
        environ=run.at.world.environ,
        timeout=timeout,
        is_answer=_is_answer,
    )
    account(run.at, chosen, len(sent), answer)
    return _read_answer(run, chosen, answer)


def _read_answer(run: CaptureRun, chosen: Backend, answer: answers.Answer) -> _Tried:
    if answer.trouble:
        text = f"{chosen.name}: {answer.trouble}: {quoted(answer.detail)}"
        run.at.log.skip(f"backend: {answer.trouble}", text)
        return _Tried(WAITS if answer.trouble in troubles.SPENT_NOTHING else FAILED)
    if not answer.text.strip():
        run.at.log.skip("empty reply", f"empty response from {chosen.name}")
        return _Tried(FAILED)
    try:
        found = _decisions_of_reply(answer.text)
    except RefusedReply as error:
        text = f"refused reply of {chosen.name}: {error}: {quoted(answer.text)}"
        run.at.log.skip("refused reply", text)
        return _Tried(FAILED)
    if not found:
        run.at.log.write("NONE")
    return _Tried(DONE, found)


def _decisions_of_reply(text: str) -> tuple[Decision, ...]:
    if text.strip() == "NONE":  # the most frequent reply needs no parser
        return ()
    from decision_hooks.replies.decisions import decisions

    return decisions(text)


def _is_answer(text: str) -> bool:
    try:
        _decisions_of_reply(text)
    except RefusedReply:
        return False
    return True


def _decisions_of_choices(run: CaptureRun, part: Part) -> _Tried:
    from decision_hooks.records import madr
    from decision_hooks.sessions.choices import real_choices

    language = table.language(run.settings.language)
    found = tuple(
        madr.decision_of_choice(
            choice.kind,
            choice.question,
            [(option.label, option.description) for option in choice.options],
            choice.chosen,
            choice.words,
            language,
        )
        for choice in real_choices(part.session)
    )
    if not found:
        text = "choices: no answered question and no judged plan in the session"
        run.at.log.skip("no choice in it", text)
    return _Tried(DONE, found)


def _choose_backend(run: CaptureRun) -> Backend | None:
    choice = capture_choice(run.settings, run.at.project.root, run.at.world.environ)
    if choice.backend is None and run.settings.backend != "auto":
        run.at.log.skip(choice.skip, choice.reasons[0])
        return None
    for reason in choice.reasons:
        run.at.log.write(reason)
    if choice.backend is None:
        run.at.log.skip("no backend", "no backend available")
    return choice.backend


def _prompt(run: CaptureRun, transcript: str) -> str:
    from decision_hooks.backends import prompts

    language = table.language(run.settings.language)
    values = {
        "project": os.path.basename(run.at.project.root.rstrip("/")) or "project",
        "root": mask.home_as_tilde(run.at.project.root, run.at.world.home),
        "language": language.name,
        "boundary": prompts.boundary(os.urandom(12)),
        "transcript": transcript,
        **table.phrase_values(language),
    }
    return prompts.fill("capture", language.code, values)


# -- from decisions to drafts


def _deliver(run: CaptureRun, entry: Pending, part: Part, decisions: tuple[Decision, ...]) -> None:
    if not decisions:
        _move(run, entry, part)
        return
    from decision_hooks.capture.drafts import decision_mark, make_drafts

    drafts = make_drafts(
        part,
        decisions,
        root=run.at.project.root,
        home=run.at.world.home,
        environ=run.at.world.environ,
        is_written=lambda mark: bool(run.state.known([mark])),
    )
    if drafts.masked:
        counts = ", ".join(f"{name} {count}" for name, count in sorted(drafts.masked.items()))
        run.at.log.write(f"masked in the reply: {counts}")
    position = part.position._replace(titles=part.position.titles + drafts.titles, time=run.at.world.now())
    if decisions and not drafts.texts:
        run.at.log.skip("written before", "nothing new: every decision of the reply was written before")
    if not drafts.texts:
        _move(run, entry, part._replace(position=position))
        return
    project = run.at.project
    marks = (*part.session.uuids, *(decision_mark(title.identity) for title in drafts.titles))
    outbox = Outbox(entry.key, position, project.root, drafts.texts, marks)
    outbox = outbox._replace(main=main_root(project), tree=tree_name(project))
    run.state.save_outbox(outbox)
    finish_outbox(run, outbox)
