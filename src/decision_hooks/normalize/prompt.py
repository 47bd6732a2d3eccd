"""The prompt of one batch: drafts as data, each with the records that it most likely repeats."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from decision_hooks.backends import prompts
from decision_hooks.languages import table
from decision_hooks.normalize.batching import MOST_CHARACTERS
from decision_hooks.normalize.job import Job
from decision_hooks.privacy.mask import outgoing
from decision_hooks.records import front_matter, search
from decision_hooks.records.front_matter import DraftFile
from decision_hooks.state.record_index import record_index
from decision_hooks.system import adr_folder

_LIKELY = 8  # records shown for each draft
_MOST_DESCRIBED = 300  # characters of a record's title and description
_NAMES_BUDGET = 12_000  # characters for the names of the other records
_UNVERIFIED_BUDGET = 4_000  # characters for the unverified claims of a draft


def batch_prompt(job: Job, folder: adr_folder.Snapshot, batch: Sequence[DraftFile]) -> str:
    """The whole prompt for a batch."""
    language = table.language(job.settings.language)
    boundary = prompts.boundary(os.urandom(12))
    index = record_index(job.at.project, folder.records)
    shown: dict[str, None] = {}
    blocks = [_block(job, draft, index, boundary, shown) for draft in batch]
    values = {
        "language": language.name,
        "boundary": boundary,
        "drafts": "\n".join(blocks),
        "count": str(len(batch)),
        "files": _lines(draft.name for draft in batch),
        "other_records": _names([name for name in folder.records if name not in shown]),
        **table.phrase_values(language),
    }
    return prompts.fill("normalize", language.code, values)


# -- the parts


def _block(job: Job, draft: DraftFile, index: search.Index, boundary: str, shown: dict[str, None]) -> str:
    read = front_matter.read(draft.text)
    likely = [name for name, _ in search.likely(index, draft.text, _LIKELY)]
    shown.update(dict.fromkeys(likely))
    lines = [f"{boundary} DRAFT {draft.name}"]
    unverified = " ".join("; ".join(read.texts("unverified")).split())
    if unverified:
        lines.append("NOT EVIDENCED: " + outgoing(unverified, job.at.world.home)[:_UNVERIFIED_BUDGET])
    lines.append("LIKELY RECORDS:" if likely else "LIKELY RECORDS: none")
    lines.extend(
        f"- `{name}` {outgoing(_described(index, name), job.at.world.home)}".rstrip() for name in likely
    )
    return "\n".join([*lines, f"{boundary} TEXT", _cut(outgoing(read.body, job.at.world.home).strip())])


def _described(index: search.Index, name: str) -> str:
    record = index.record(name)
    return ": ".join(filter(None, (record.title, record.description)))[:_MOST_DESCRIBED]


def _cut(text: str) -> str:
    left = len(text) - MOST_CHARACTERS
    return f"{text[:-left]}\n[{left} more characters are left out]" if left > 0 else text


def _names(names: Sequence[str]) -> str:
    shown: list[str] = []
    size = 0
    for name in reversed(names):  # newest first
        size += len(name) + 4
        if size > _NAMES_BUDGET:
            shown.append(f"and {len(names) - len(shown)} more")
            break
        shown.append(name)
    return _lines(shown) or "none"


def _lines(names: Iterable[str]) -> str:
    return "\n".join(f"- {name}" for name in names)
