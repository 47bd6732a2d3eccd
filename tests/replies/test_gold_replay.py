"""Batches of daily use: their operations lead to the folder that is recorded, but for what is better now."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from decision_hooks.languages import table
from decision_hooks.records import front_matter, madr, naming
from decision_hooks.records.front_matter import DraftFile
from decision_hooks.replies import record
from decision_hooks.replies.operations import operations
from decision_hooks.replies.plan import Folder, Plan, plan
from decision_hooks.text import markdown
from support.gold import BATCHES, loaded

UK = table.language("uk")


def replayed(batch: dict[str, Any]) -> Plan:
    drafts, records = batch["drafts"], batch["records"]
    reply = (
        "Ось операції:\n```json\n"
        + json.dumps({"operations": batch["operations"]}, ensure_ascii=False)
        + "\n```\n"
    )
    folder = Folder(frozenset(drafts) | frozenset(records), frozenset(drafts), records.get)
    return plan(
        operations(reply),
        batch=[DraftFile(name, text) for name, text in drafts.items()],
        folder=folder,
        language=UK,
    )


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def test_there_are_batches() -> None:
    assert len(BATCHES) == 4


@pytest.mark.parametrize("path", BATCHES, ids=lambda path: path.stem)
def test_every_operation_is_accepted_and_leads_to_its_file(path: Path) -> None:
    batch = loaded(path)
    found = replayed(batch)
    assert found.refusals == ()
    assert found.accepted == {item["file"] for item in batch["operations"]}
    by_file = {step.file: step for step in found.operations}
    for item in batch["operations"]:
        step = by_file[item["file"]]
        if item["op"] == "rewrite":
            assert step.name == f"{naming.time_prefix(item['file'])}{naming.slug(item['slug'])}.md"
        elif item["op"] == "merge-into":
            assert step.name.endswith(item["becomes"])
            assert item["additions"].strip() in step.text


@pytest.mark.parametrize("path", BATCHES, ids=lambda path: path.stem)
def test_records_have_the_form_and_all_that_was_written(path: Path) -> None:
    batch = loaded(path)
    contents = {item["file"]: item["content"] for item in batch["operations"] if item["op"] == "rewrite"}
    for step in replayed(batch).operations:
        if step.op != "rewrite":
            continue
        read, theirs = front_matter.read(step.text), front_matter.read(contents[step.file])
        assert read.valid
        assert list(read.front)[:5] == ["type", "title", "description", "status", "date"]
        headings = [f"{'#' * line.level} {line.title}" for line in markdown.lines(read.body) if line.level]
        assert [heading for heading in headings if heading in madr.HEADINGS] == list(madr.HEADINGS)
        text = "\n".join(
            line.text
            for line in markdown.lines(theirs.body)
            if not line.level and not line.text.startswith(("**Status", "**Date"))
        )
        assert not words(text) - words(read.body)


@pytest.mark.parametrize("path", BATCHES, ids=lambda path: path.stem)
def test_a_record_made_of_a_record_is_the_same(path: Path) -> None:
    batch = loaded(path)
    for step in replayed(batch).operations:
        if step.op == "rewrite":
            drawn = record.source(step.file, batch["drafts"][step.file])
            assert record.record(step.text, "other", drawn, UK) == step.text


@pytest.mark.parametrize("path", BATCHES, ids=lambda path: path.stem)
def test_drafts_go_and_records_keep_what_they_had(path: Path) -> None:
    batch = loaded(path)
    found = replayed(batch)
    assert set(found.removals) == set(batch["drafts"])
    for write in found.writes:
        if write.before is not None:
            assert write.text.startswith(batch["records"][write.name].rstrip("\n"))
