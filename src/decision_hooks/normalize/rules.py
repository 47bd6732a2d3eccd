"""The backend ``rules``: a batch normalised without any model, its operations as a backend would reply them."""

from __future__ import annotations

from collections.abc import Sequence

from decision_hooks.languages import table
from decision_hooks.normalize import batching
from decision_hooks.normalize.job import Job
from decision_hooks.pipeline import operations, run
from decision_hooks.pipeline.drafts import Draft
from decision_hooks.system import adr_folder


def reply(job: Job, folder: adr_folder.Listing, batch: Sequence[batching.Waiting]) -> str:
    """The operations of a batch as JSON; why a draft is left goes to the log."""
    drafts = [Draft(draft.name, draft.text, "") for draft in batch]
    outcome = run.by_rules(drafts, folder.names, table.language(job.settings.language))
    for left in outcome.left:
        job.at.log.write(f"left: {left.name}: {left.why}")
    return operations.as_json(outcome.operations)
