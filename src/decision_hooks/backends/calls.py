"""Calls of models as both programs make them: whether one may be made, what it is written down as, how it is told."""

from __future__ import annotations

from decision_hooks.backends import accounts, answers, call
from decision_hooks.privacy import mask
from decision_hooks.system.runlog import iso_time
from decision_hooks.system.workplace import Workplace

_MASKED, _TOLD = 4000, 200  # characters of foreign text that are masked, and that are told


def may_not_call(
    at: Workplace, chosen: call.Backend, daily_calls: int, *, probe: bool = False
) -> tuple[str, str] | None:
    """Why a backend may not be called now, and the line for the log; None when it may.

    A person who watches probes an open breaker.
    """
    now = at.world.now()
    stopped = accounts.breaker(at.project, chosen.name, chosen.model, now)
    if stopped and not (probe or at.world.watched):
        return "backend paused", f"{chosen.name} paused until {iso_time(stopped.until)}: {stopped.why}"
    if accounts.calls_today(at.project, now, daily_calls) >= daily_calls:
        return "daily cap", f"daily cap of {daily_calls} calls reached (ADR_DAILY_CALLS)"
    return None


def account(at: Workplace, chosen: call.Backend, sent: int, answer: answers.Answer) -> None:
    """Write a call into the ledger and move its circuit breaker."""
    now = at.world.now()
    line = accounts.LedgerLine(
        time=iso_time(now),
        program=at.world.program,
        backend=chosen.name,
        model=chosen.model,
        characters_in=sent,
        characters_out=len(answer.text),
        seconds=round(answer.seconds, 2),
        cost=answer.cost,
        result=answer.trouble or ("ok" if answer.text.strip() else "empty"),
    )
    accounts.record_call(at.project, now, line)
    if answer.trouble in answers.BREAKING:
        accounts.trip(at.project, chosen.name, chosen.model, now, foreign(answer.detail))
    elif not answer.trouble:
        accounts.reset(at.project, chosen.name, chosen.model)


def foreign(text: str) -> str:
    """Foreign text for the log: masked, at most 200 characters."""
    return mask.mask(text[:_MASKED]).text.strip()[:_TOLD]
