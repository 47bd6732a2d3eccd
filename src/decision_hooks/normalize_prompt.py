"""The prompt of one batch: drafts as data, for each the records that it most likely repeats."""

from __future__ import annotations

import os
from collections.abc import Sequence

from decision_hooks import prompts
from decision_hooks.normalize import Job
from decision_hooks.records import batching, document, madr, retrieval, sensitive
from decision_hooks.records.privacy import home_as_tilde
from decision_hooks.system import adr_folder, files
from decision_hooks.system.project import Project

_LIKELY = 8  # records shown for each draft
_NAMES_BUDGET = 12_000  # characters for the names of the other records
_DRAFT_BUDGET = batching.MOST_CHARACTERS


def prompt(job: Job, folder: adr_folder.Listing, batch: Sequence[batching.Waiting]) -> str:
    """The whole prompt for a batch."""
    language = madr.language(job.settings.language)
    phrases = madr.phrases(language)
    boundary = prompts.boundary(os.urandom(12))
    index = record_index(job.place, folder.records)
    shown: dict[str, None] = {}
    blocks = [_block(job, draft, index, boundary, shown) for draft in batch]
    values = {
        "language": language.name,
        "boundary": boundary,
        "drafts": "\n".join(blocks),
        "count": str(len(batch)),
        "files": ", ".join(f"`{draft.name}`" for draft in batch),
        "other_records": _names([name for name in folder.records if name not in shown]),
        "phrase_context": phrases.context,
        "phrase_options": phrases.options,
        "phrase_consequences": phrases.consequences,
        "phrase_more": phrases.more,
    }
    return prompts.fill("normalize", language.code, values)


def record_index(place: Project, names: Sequence[str]) -> retrieval.Index:
    """The index of the records' bodies, cached by size and time of each file."""
    cache = place.state_file("records.index")
    stored = retrieval.load(files.read_bytes(cache) or b"")
    current: dict[str, tuple[int, int, retrieval.Indexed]] = {}
    for name in names:
        try:
            found = os.lstat(os.path.join(place.adr, name))
        except OSError:
            continue
        old = stored.get(name)
        if old and old[:2] == (found.st_size, found.st_mtime_ns):
            current[name] = old
            continue
        text = adr_folder.read(place.adr, name)
        if text:
            current[name] = (found.st_size, found.st_mtime_ns, retrieval.index_record(name, text.text))
    if current != stored:
        files.write_atomic(cache, retrieval.dump(current))
    return retrieval.build_index([one for _, _, one in current.values()])


def _block(
    job: Job, draft: batching.Waiting, index: retrieval.Index, boundary: str, shown: dict[str, None]
) -> str:
    read = document.read(draft.text)
    likely = [name for name, _ in retrieval.likely(index, draft.text, _LIKELY)]
    shown.update(dict.fromkeys(likely))
    lines = [f"{boundary} DRAFT {draft.name}"]
    unverified = read.front.get("unverified")
    if isinstance(unverified, list) and unverified:
        lines.append("NOT EVIDENCED: " + "; ".join(str(item) for item in unverified))
    lines.append("LIKELY RECORDS:" if likely else "LIKELY RECORDS: none")
    lines.extend(f"- {_described(index, name)}" for name in likely)
    text = home_as_tilde(sensitive.mask(read.body).text, job.world.home)[:_DRAFT_BUDGET]
    return "\n".join([*lines, f"{boundary} TEXT", text.strip()])


def _described(index: retrieval.Index, name: str) -> str:
    one = index.record(name)
    told = ": ".join(part for part in (one.title, one.description) if part)
    return f"`{name}` {told[:300]}".rstrip()


def _names(names: Sequence[str]) -> str:
    told: list[str] = []
    size = 0
    for name in reversed(names):  # newest first
        size += len(name) + 4
        if size > _NAMES_BUDGET:
            told.append(f"and {len(names) - len(told)} more")
            break
        told.append(f"`{name}`")
    return ", ".join(told) or "none"
