"""The operations of the local pipeline: records assembled of sections, merges, deletes; each lawful by itself."""

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
from decision_hooks.replies.plan import DELETE, MERGE, REWRITE

_MOST_ALSO = 300  # characters told of a further decision


class Slugs:
    """Gives each record of a reply a slug of its own that stands for nothing else in the folder."""

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
    """A slug that the judgement of operations leaves as it is: without a time that it could begin with."""
    slug = naming.slug(title)
    while time := naming.time_prefix(slug):
        slug = naming.slug(slug[len(time) :])
    return slug


def own_content(draft: Reading, language: Language, *, whole: bool) -> str:
    """The content of a record made of a draft's own sections; "" unless it holds exactly one decision.

    ``whole``: only when the decision tells its context and its outcome.
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
    return _lawful(_record(draft.title, body), draft, language)


def extracted_content(draft: Reading, found: Extracted, language: Language) -> str:
    """The content of a record made of the sections that a model found; further decisions are told in a line each."""
    also = [_also(one) for one in draft.decisions[1:]]
    rest = found.texts.more
    if any(also):
        rest = "\n\n".join(filter(None, (rest, "\n".join(filter(None, also)))))
    body = madr.assemble(found.texts._replace(more=rest), language)
    return _lawful(_record(found.title or draft.title, body), draft, language)


def _also(one: Decided) -> str:
    outcome = " ".join(one.arranged.texts.outcome.split())
    told = "" if is_silent(outcome) else cut(outcome, _MOST_ALSO)
    return "* " + ": ".join(filter(None, (one.title, told))) if one.title or told else ""


def _record(title: str, body: str) -> str:
    return front_matter.render([("type", "ADR"), ("title", title or "ADR")], body)


def _lawful(content: str, draft: Reading, language: Language) -> str:
    try:
        record.record(content, "x", record.source(draft.name, draft.text), language)
    except RefusedReply:
        return ""
    return content


def rewrite(draft: Reading, slug: str, content: str) -> RawOperation:
    """A draft that becomes a record."""
    return RawOperation(REWRITE, draft.name, slug=slug, content=content)


def merge(draft: Reading, target: str, additions: str) -> RawOperation | None:
    """A draft that goes into a record or the rewrite of that slug; None when its additions cannot be appended."""
    try:
        record.update(additions, "")
    except RefusedReply:
        return None
    return RawOperation(MERGE, draft.name, target=target, additions=additions)


def delete(name: str, reason: str) -> RawOperation:
    """A draft that goes."""
    return RawOperation(DELETE, name, reason=reason)


def as_json(operations: Sequence[RawOperation]) -> str:
    """The operations as a reply has them."""
    found = [
        {name: value for name in FIELDS if (value := getattr(operation, name))} for operation in operations
    ]
    return json.dumps({"operations": found}, ensure_ascii=False)
