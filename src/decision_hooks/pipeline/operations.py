"""Makes the operations of the local pipeline: rewrites from sections, merges, deletes; each passes the judgement."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from decision_hooks.errors import RefusedReply
from decision_hooks.languages.en import Language
from decision_hooks.pipeline.drafts import Decided, Reading, cut, is_silent
from decision_hooks.pipeline.questions import Extracted
from decision_hooks.records import front_matter, madr, naming
from decision_hooks.replies import record
from decision_hooks.replies.operations import FIELDS, RawOperation
from decision_hooks.replies.plan import DELETE, MERGE

_MOST_ALSO = 300  # characters of each further decision


class Slugs:
    """Gives each record of a reply a slug that nothing else in the folder has."""

    def __init__(self, taken: Collection[str]) -> None:
        self._taken = {name.casefold() for name in taken}

    def of(self, *titles: str) -> str:
        """A slug of the first title that has one."""
        stem = next(filter(None, map(_slug, titles)), "decision")
        number, slug = 1, stem
        while slug.casefold() in self._taken:
            number += 1
            slug = _slug(f"{naming.slug(stem, naming.MOST_CHARACTERS - 8)} {number}")
        self._taken.add(slug.casefold())
        return slug


def _slug(title: str) -> str:
    """A slug without a leading time, which the judgement of operations would remove."""
    slug = naming.slug(title)
    while time := naming.time_prefix(slug):
        slug = naming.slug(slug[len(time) :])
    return slug


def own_content(draft: Reading, language: Language, *, whole: bool) -> str:
    """The content of a record from a draft's own sections; "" unless it has exactly one decision.

    ``whole``: only if the decision has a context and an outcome.
    """
    found = draft.single
    if found is None:
        return ""
    texts = found.arranged.texts
    if whole and not (texts.outcome and texts.context):
        return ""
    body = madr.assemble(texts, language, found.arranged.extras)
    if found.arranged.preamble.strip():
        body = f"{found.arranged.preamble}\n\n{body}"
    return _accepted(draft, draft.title, body, language)


def extracted_content(draft: Reading, found: Extracted, language: Language) -> str:
    """The content of a record from the sections that a model found; each further decision takes one line."""
    also = [_also(decision) for decision in draft.decisions[1:]]
    rest = found.texts.more
    if any(also):
        rest = "\n\n".join(filter(None, (rest, "\n".join(filter(None, also)))))
    body = madr.assemble(found.texts._replace(more=rest), language)
    return _accepted(draft, found.title or draft.title, body, language)


def _also(decision: Decided) -> str:
    outcome = " ".join(decision.arranged.texts.outcome.split())
    outcome = "" if is_silent(outcome) else cut(outcome, _MOST_ALSO)
    parts = [part for part in (decision.title, outcome) if part]
    return "* " + ": ".join(parts) if parts else ""


def _accepted(draft: Reading, title: str, body: str, language: Language) -> str:
    """The content with this title and body, "" if the judgement of operations would refuse it."""
    content = front_matter.render([("type", "ADR"), ("title", title or "ADR")], body)
    try:
        record.record(content, "x", record.source(draft.name, draft.text), language)
    except RefusedReply:
        return ""
    return content


def merge(draft: Reading, target: str, additions: str) -> RawOperation | None:
    """The merge of a draft into a record, or into the rewrite with that slug; None if nothing can be appended."""
    try:
        record.update(additions, "")
    except RefusedReply:
        return None
    return RawOperation(MERGE, draft.name, target=target, additions=additions)


def delete(name: str, reason: str) -> RawOperation:
    """The operation that removes a draft."""
    return RawOperation(DELETE, name, reason=reason)


def as_json(operations: Sequence[RawOperation]) -> str:
    """The operations in the form of a reply."""
    items = [
        {name: value for name in FIELDS if (value := getattr(operation, name))} for operation in operations
    ]
    return json.dumps({"operations": items}, ensure_ascii=False)
