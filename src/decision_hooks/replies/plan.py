"""The plan of a normalisation: one pure judgement of all operations of a reply before anything is written."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence, Set
from typing import NamedTuple

from decision_hooks.errors import RefusedReply
from decision_hooks.languages.en import Language
from decision_hooks.records import naming
from decision_hooks.records.front_matter import DraftFile
from decision_hooks.replies import record
from decision_hooks.replies.operations import RawOperation

DELETE, REWRITE, MERGE = "delete", "rewrite", "merge-into"

_NEEDED = {DELETE: (), REWRITE: ("slug", "content"), MERGE: ("target", "additions")}
_MOST_SHOWN = 200  # characters of a reason, an operation or a file name from a reply
_MOST_REFUSALS = 200


class Folder(NamedTuple):
    """The folder of records as the judgement sees it."""

    names: frozenset[str]  # of all files
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
    """One file to write; ``before`` is its present text, None for a new file."""

    name: str
    text: str
    before: str | None
    sources: tuple[str, ...]  # the drafts that it is made of


class PlannedOperation(NamedTuple):
    """One accepted operation."""

    op: str
    file: str  # the draft
    name: str = ""  # the file that is written
    text: str = ""  # of a record, or of what a merge appends
    reason: str = ""
    before: str | None = None  # text of the file that is written, None for a new one
    base: str = ""  # of a merge: the draft whose rewrite makes its target

    def __str__(self) -> str:
        if self.op == DELETE:
            return f"delete: {self.file} ({self.reason})"
        return f"{self.op}: {self.file} -> {self.name}"


class Plan(NamedTuple):
    """The accepted operations, in the order of the reply, and those that were refused."""

    operations: tuple[PlannedOperation, ...]
    refusals: tuple[Refusal, ...]

    @property
    def accepted(self) -> frozenset[str]:
        """The drafts with an accepted operation."""
        return frozenset(operation.file for operation in self.operations)

    @property
    def writes(self) -> tuple[Write, ...]:
        """The files to write: rewrites, then merges; several into one target are one write."""
        found: dict[str, Write] = {}
        for planned in sorted(self.operations, key=lambda planned: planned.op == MERGE):
            if planned.op == REWRITE:
                found[planned.name] = Write(planned.name, planned.text, planned.before, (planned.file,))
            elif planned.op == MERGE:
                old = found.get(planned.name) or Write(planned.name, planned.before or "", planned.before, ())
                text = record.appended(old.text, planned.text)
                found[planned.name] = old._replace(text=text, sources=(*old.sources, planned.file))
        return tuple(write for write in found.values() if write.text != write.before)

    @property
    def removals(self) -> tuple[str, ...]:
        """The drafts to remove once all is written; a record with its draft's name replaces the draft."""
        return tuple(one.file for one in self.operations if one.name != one.file)

    def without(self, names: Set[str]) -> Plan:
        """The plan without operations that read or write these files, nor merges into a dropped rewrite."""
        left = [one for one in self.operations if one.file not in names and one.name not in names]
        bases = {one.file for one in left if one.op == REWRITE}
        return self._replace(operations=tuple(one for one in left if not one.base or one.base in bases))


def plan(
    operations: Sequence[RawOperation],
    *,
    batch: Sequence[DraftFile],
    folder: Folder,
    language: Language,
    today: str = "",
) -> Plan:
    """Judge the operations on a batch; a refused operation leaves its draft and the other operations as they are.

    ``today`` (``YYYY-MM-DD``) is the date of a record if neither the draft nor its name has one.
    """
    judgement = _Judgement({draft.name: draft for draft in batch}, folder, language, today)
    first = judgement.first_mentions(operations)
    for raw in sorted(first, key=lambda raw: raw.op != REWRITE):  # the target of a merge may be a rewrite
        judgement.judge(raw)
    accepted = (judgement.accepted[raw.file] for raw in first if raw.file in judgement.accepted)
    return Plan(tuple(accepted), tuple(judgement.refusals[:_MOST_REFUSALS]))


class _Judgement:
    """The state of one judgement: names taken, slugs asked for, accepted and refused operations."""

    def __init__(self, batch: dict[str, DraftFile], folder: Folder, language: Language, today: str) -> None:
        self.batch = batch
        self.folder = folder
        self.language = language
        self.today = today
        self.taken = {_folded(name) for name in folder.names} | {_folded(name) for name in batch}
        self.slugs: dict[str, list[str]] = {}  # slug -> drafts whose rewrite asks for it
        self.accepted: dict[str, PlannedOperation] = {}  # by draft
        self.refusals: list[Refusal] = []

    def refuse(self, raw: RawOperation, why: str) -> None:
        """Note a refusal."""
        self.refusals.append(Refusal(_one_line(raw.op), _one_line(raw.file), why))

    def first_mentions(self, operations: Sequence[RawOperation]) -> list[RawOperation]:
        """The operations of a known kind that are the first on a draft of the batch; the others are refused."""
        first: list[RawOperation] = []
        mentioned: set[str] = set()
        for raw in operations:
            again = "the draft has an operation already" if raw.file in mentioned else ""
            why = self._no_operation(raw) or again
            if raw.file in self.batch and not again:
                mentioned.add(raw.file)
                if raw.op == REWRITE:
                    self.slugs.setdefault(_slug(raw.slug), []).append(raw.file)
            if why:
                self.refuse(raw, why)
            else:
                first.append(raw)
        return first

    def _no_operation(self, raw: RawOperation) -> str:
        if "operation" in raw.wrong:
            return "no JSON object"
        if "file" in raw.wrong or not raw.file:
            return "no file is named"
        if raw.file not in self.batch:
            return "the file is no draft of the batch"
        if raw.op not in _NEEDED:
            return "unknown operation"
        wrong = [field for field in _NEEDED[raw.op] if field in raw.wrong]
        if wrong:
            return f"{wrong[0]} is no text"
        empty = [field for field in _NEEDED[raw.op] if not getattr(raw, field).strip()]
        return f"{empty[0]} is empty" if empty else ""

    def judge(self, raw: RawOperation) -> None:
        """Accept an operation or note why not."""
        judges = {DELETE: self.delete, REWRITE: self.rewrite, MERGE: self.merge}
        try:
            self.accepted[raw.file] = judges[raw.op](raw)
        except RefusedReply as error:
            self.refuse(raw, str(error))

    def delete(self, raw: RawOperation) -> PlannedOperation:
        """The plan of a ``delete``."""
        return PlannedOperation(DELETE, raw.file, reason=_one_line(raw.reason) or "no reason given")

    def rewrite(self, raw: RawOperation) -> PlannedOperation:
        """The plan of a ``rewrite``; raises ``RefusedReply``."""
        draft = self.batch[raw.file]
        _refuse_path(raw.slug, "slug")
        slug = _slug(raw.slug)
        if not slug:
            raise RefusedReply("the slug holds no word")
        source = record.source(draft.name, draft.text, self.today)
        text = record.record(raw.content, slug, source, self.language)
        name = self._free_name(naming.time_prefix(draft.name) + slug, draft.name)
        return PlannedOperation(
            REWRITE, draft.name, name, text, before=draft.text if name == draft.name else None
        )

    def merge(self, raw: RawOperation) -> PlannedOperation:
        """The plan of a ``merge-into``; raises ``RefusedReply``."""
        draft = self.batch[raw.file]
        _refuse_path(raw.target, "target")
        block = record.update(raw.additions, record.source(draft.name, draft.text, self.today).day)
        target = raw.target.strip()
        rewritten = self._rewritten(target)
        if rewritten:
            return PlannedOperation(
                MERGE, draft.name, rewritten.name, block, before=rewritten.before, base=rewritten.file
            )
        name = self._record(target)
        before = self.folder.read(name)
        if before is None:
            raise RefusedReply("the target is no regular file")
        return PlannedOperation(MERGE, draft.name, name, block, before=before)

    def _free_name(self, stem: str, own: str) -> str:
        number = 1
        while True:
            name = naming.numbered(stem, number) + ".md"
            if _folded(name) == _folded(own):
                return own  # the record takes the place of its draft
            if _folded(name) not in self.taken:
                self.taken.add(_folded(name))
                return name
            number += 1

    def _rewritten(self, target: str) -> PlannedOperation | None:
        """The rewrite of this reply that a target names by its new name or its slug."""
        if target in self.folder.names:
            return None
        rewrites = {one.file: one for one in self.accepted.values() if one.op == REWRITE}
        named = next((one for one in rewrites.values() if one.name == target), None)
        asked = self.slugs.get(_slug(target), [])
        if named or not asked:
            return named
        if len(asked) > 1:
            raise RefusedReply("two rewrites have the slug of the target")
        if asked[0] not in rewrites:
            raise RefusedReply("the rewrite that the target names was refused")
        return rewrites[asked[0]]

    def _record(self, target: str) -> str:
        """The name of the record that a target names, if it is only one; raises ``RefusedReply``."""
        if target in self.folder.drafts or target in self.batch:
            raise RefusedReply("the target is a draft")
        if target in self.folder.names and naming.is_target_name(target):
            return target
        records = [
            name
            for name in self.folder.names
            if naming.is_record_name(name) and name not in self.folder.drafts
        ]
        slug = _folded(target).removesuffix(".md")
        slugs = {slug, _folded(naming.slug(slug))} - {""}
        ending = tuple(f"-{slug}.md" for slug in slugs)
        found = [name for name in records if _folded(name).endswith(ending)]
        found = found or [name for name in records if _folded(name).removesuffix(".md") in slugs]
        if len(found) > 1:
            raise RefusedReply("the target names several records")
        if not found:
            raise RefusedReply("the target is no record")
        return found[0]


def _refuse_path(value: str, field: str) -> None:
    text = value.strip()
    if any(char in "/\\" or ord(char) < 32 for char in text) or text.startswith((".", "~")) or ".." in text:
        raise RefusedReply(f"the {field} is a path or a hidden name")


def _slug(given: str) -> str:
    """Our slug of a slug or name from the reply, without its suffix and its time."""
    given = given.strip().removesuffix(".md")
    return naming.slug(given[len(naming.time_prefix(given)) :] or given)


def _folded(name: str) -> str:
    """A name as case-insensitive, normalising file systems compare it."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _one_line(text: str) -> str:
    text = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"
