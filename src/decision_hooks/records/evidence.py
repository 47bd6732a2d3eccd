"""What proves a decision: quotes of its session, who decided, which files it affects."""

from __future__ import annotations

from typing import NamedTuple


class Evidence(NamedTuple):
    """One quote that stands in the session of a decision."""

    by: str  # user | agent | answer | plan | result
    turn: str  # id of the transcript's record, its line number (from 1) where it has none
    quote: str
    against: bool = False  # it says the opposite of the outcome


class Proof(NamedTuple):
    """What a draft and a record say of where their decision comes from; "" and () for what is unknown."""

    evidence: tuple[Evidence, ...] = ()
    decided_by: str = ""  # user | agent | both
    affects: tuple[str, ...] = ()  # files of the project, relative to its root
