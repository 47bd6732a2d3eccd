"""What a reply's operations come to: one pure judgement of all of them before anything is written."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from decision_hooks.errors import RefusedReply
from decision_hooks.languages.en import Language
from decision_hooks.records import naming
from decision_hooks.replies import record
from decision_hooks.replies.operations import RawOperation
from decision_hooks.replies.plan import (
    DELETE,
    MERGE,
    REWRITE,
    DraftFile,
    Folder,
    Plan,
    Refusal,
    Removal,
    Step,
    Write,
)

__all__ = [
    "DELETE",
    "MERGE",
    "REWRITE",
    "DraftFile",
    "Folder",
    "Plan",
    "Refusal",
    "Removal",
    "Step",
    "Write",
    "plan",
]

_NEEDED = {DELETE: (), REWRITE: ("slug", "content"), MERGE: ("target", "additions")}
_MOST_TOLD = 200  # characters of a reason or a foreign name
_MOST_REFUSALS = 200


def plan(
    operations: Sequence[RawOperation],
    *,
    batch: Sequence[DraftFile],
    folder: Folder,
    language: Language,
    today: str = "",
) -> Plan:
    """Judge the operations on a batch; what is refused leaves the rest as it is, and its draft where it stands.

    ``today`` (``YYYY-MM-DD``) dates what neither the draft nor its name dates.
    """
    judged = _Judging({draft.name: draft for draft in batch}, folder, language, today)
    first = judged.first_mentions(operations)
    for raw in first:
        if raw.op == REWRITE:
            judged.attempt(raw, judged.rewrite)
    for raw in first:
        if raw.op != REWRITE:
            judged.attempt(raw, judged.merge if raw.op == MERGE else judged.delete)
    order = {raw.file: place for place, raw in enumerate(first)}
    steps = sorted(judged.steps, key=lambda step: order[step.file])
    return Plan(tuple(steps), tuple(judged.refusals[:_MOST_REFUSALS]))


class _Judging:
    """The state of one judgement: names taken, slugs asked for, what was accepted and refused."""

    def __init__(self, batch: dict[str, DraftFile], folder: Folder, language: Language, today: str) -> None:
        self.batch = batch
        self.folder = folder
        self.language = language
        self.today = today
        self.taken = {_folded(name) for name in folder.names} | {_folded(name) for name in batch}
        self.slugs: dict[str, list[str]] = {}  # slug -> drafts whose rewrite asks for it
        self.steps: list[Step] = []
        self.refusals: list[Refusal] = []

    def refuse(self, raw: RawOperation, why: str) -> None:
        """Note a refusal."""
        self.refusals.append(Refusal(_told(raw.op), _told(raw.file), why))

    def first_mentions(self, operations: Sequence[RawOperation]) -> list[RawOperation]:
        """The operations that may be judged: of a known kind, on a draft of the batch, its first mention."""
        found: list[RawOperation] = []
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
                found.append(raw)
        return found

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

    def attempt(self, raw: RawOperation, judge: Callable[[RawOperation], Step]) -> None:
        """Accept an operation or note why not."""
        try:
            self.steps.append(judge(raw))
        except RefusedReply as error:
            self.refuse(raw, str(error))

    def delete(self, raw: RawOperation) -> Step:
        """The step of a ``delete``."""
        return Step(DELETE, raw.file, reason=_told(raw.reason) or "no reason given")

    def rewrite(self, raw: RawOperation) -> Step:
        """The step of a ``rewrite``; raises ``RefusedReply``."""
        draft = self.batch[raw.file]
        _refuse_path(raw.slug, "slug")
        slug = _slug(raw.slug)
        if not slug:
            raise RefusedReply("the slug holds no word")
        drawn = record.source(draft.name, draft.text, self.today)
        text = record.record(raw.content, slug, drawn, self.language)
        name = self._free_name(naming.time_prefix(draft.name) + slug, draft.name)
        return Step(REWRITE, draft.name, name, text, before=draft.text if name == draft.name else None)

    def merge(self, raw: RawOperation) -> Step:
        """The step of a ``merge-into``; raises ``RefusedReply``."""
        draft = self.batch[raw.file]
        _refuse_path(raw.target, "target")
        block = record.update(raw.additions, record.source(draft.name, draft.text, self.today).day)
        target = raw.target.strip()
        rewritten = self._rewritten(target)
        if rewritten:
            return Step(
                MERGE, draft.name, rewritten.name, block, before=rewritten.before, base=rewritten.file
            )
        name = self._record(target)
        before = self.folder.read(name)
        if before is None:
            raise RefusedReply("the target is no regular file")
        return Step(MERGE, draft.name, name, block, before=before)

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

    def _rewritten(self, target: str) -> Step | None:
        """The one rewrite of this reply that a target names, by its slug or its new name."""
        if target in self.folder.names:
            return None
        made = [step for step in self.steps if step.op == REWRITE and step.name == target]
        if made:
            return made[0]
        asked = self.slugs.get(_slug(target), [])
        if len(asked) > 1:
            raise RefusedReply("two rewrites have the slug of the target")
        if not asked:
            return None
        found = next((step for step in self.steps if step.op == REWRITE and step.file == asked[0]), None)
        if found is None:
            raise RefusedReply("the rewrite that the target names was refused")
        return found

    def _record(self, target: str) -> str:
        """The name of the one record that a target names; raises ``RefusedReply``."""
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
        ending = tuple(f"-{one}.md" for one in slugs)
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


def _slug(theirs: str) -> str:
    """Our slug of theirs, without a suffix or a time that they gave it."""
    theirs = theirs.strip().removesuffix(".md")
    return naming.slug(theirs[len(naming.time_prefix(theirs)) :] or theirs)


def _folded(name: str) -> str:
    """A name as file systems compare it that do not heed letter case or composition."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _told(text: str) -> str:
    text = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
    return text if len(text) <= _MOST_TOLD else text[: _MOST_TOLD - 1] + "…"
