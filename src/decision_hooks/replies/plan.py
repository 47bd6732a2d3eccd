"""The plan of a normalisation: accepted operations, what they write and remove, and what was refused."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import NamedTuple

from decision_hooks.replies import record

DELETE, REWRITE, MERGE = "delete", "rewrite", "merge-into"


class DraftFile(NamedTuple):
    """A draft of the batch."""

    name: str
    text: str


class Folder(NamedTuple):
    """What stands in the folder."""

    names: frozenset[str]  # all of them
    drafts: frozenset[str]
    read: Callable[[str], str | None]  # the text of a regular file, None for anything else


class Refusal(NamedTuple):
    """An operation that is not done, and why."""

    op: str
    file: str
    why: str

    def __str__(self) -> str:
        return f"{self.op or 'operation'} {self.file or '(no file)'}: {self.why}"


class Write(NamedTuple):
    """One file as it shall be; ``before`` is its text now, None for a new one."""

    name: str
    text: str
    new: bool
    before: str | None
    sources: tuple[str, ...]  # the drafts that it rests on


class Removal(NamedTuple):
    """A draft that goes."""

    name: str
    reason: str


class Step(NamedTuple):
    """One accepted operation."""

    op: str
    file: str  # the draft
    name: str = ""  # the file that is written
    text: str = ""  # of a record, or of what a merge appends
    reason: str = ""
    before: str | None = None  # text of the file that is written, None for a new one
    base: str = ""  # of a merge: the draft whose rewrite makes its target

    def line(self) -> str:
        """The step as one line of the log."""
        if self.op == DELETE:
            return f"delete: {self.file} ({self.reason})"
        return f"{self.op}: {self.file} -> {self.name}"


class Plan(NamedTuple):
    """The accepted operations, in the order of the reply, and those that were refused."""

    steps: tuple[Step, ...]
    refusals: tuple[Refusal, ...]

    @property
    def accepted(self) -> frozenset[str]:
        """The drafts with an accepted operation."""
        return frozenset(step.file for step in self.steps)

    @property
    def writes(self) -> tuple[Write, ...]:
        """The files to write: rewrites, then merges; several into one target are one write."""
        found: dict[str, Write] = {}
        for step in sorted(self.steps, key=lambda step: step.op == MERGE):
            if step.op == REWRITE:
                found[step.name] = Write(step.name, step.text, step.before is None, step.before, (step.file,))
            elif step.op == MERGE:
                old = found.get(step.name) or Write(step.name, step.before or "", False, step.before, ())
                text = record.appended(old.text, step.text)
                found[step.name] = old._replace(text=text, sources=(*old.sources, step.file))
        return tuple(write for write in found.values() if write.text != write.before)

    @property
    def removals(self) -> tuple[Removal, ...]:
        """The drafts to remove once all is written; one whose record takes its own name is written over."""
        return tuple(
            Removal(step.file, step.reason or step.op) for step in self.steps if step.name != step.file
        )

    def lines(self) -> tuple[str, ...]:
        """One line of the log for each accepted operation."""
        return tuple(step.line() for step in self.steps)

    def without(self, names: Set[str]) -> Plan:
        """The plan without the steps that rest on, or write, one of these files; a rewrite takes its merges along."""
        left = [step for step in self.steps if step.file not in names and step.name not in names]
        bases = {step.file for step in left if step.op == REWRITE}
        return self._replace(steps=tuple(step for step in left if not step.base or step.base in bases))
