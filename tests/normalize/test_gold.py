"""Batches of daily use through the installed program: a fake agent replies what was done, the folder comes out so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from decision_hooks.records import naming
from support.gold import BATCHES, loaded
from support.inbox import NOW
from support.sandbox import NORMALIZE, Sandbox

ENV = {**NOW, "ADR_LANGUAGE": "uk", "ADR_NORMALIZE_BATCH": "100"}
HEADINGS = [
    "## Context and Problem Statement",
    "## Considered Options",
    "## Decision Outcome",
    "### Consequences",
    "## More Information",
]


def played(sandbox: Sandbox, path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The operations of a batch, done by the hook on its folder, and what the hook logged."""
    batch = loaded(path)
    for name, text in [*batch["records"].items(), *batch["drafts"].items()]:
        sandbox.write(f"docs/adr/{name}", text)
    sandbox.fake("claude").answers(json.dumps({"operations": batch["operations"]}, ensure_ascii=False))
    done = sandbox.normalize({}, env=ENV)
    assert (done.rc, done.stdout) == (0, "")
    return batch["operations"], done.messages


@pytest.mark.parametrize("path", BATCHES, ids=lambda path: path.stem)
def test_the_folder_comes_out_as_recorded_and_undo_gives_it_back(sandbox: Sandbox, path: Path) -> None:
    batch = json.loads(path.read_text(encoding="utf-8"))
    operations, messages = played(sandbox, path)
    before = {**batch["records"], **batch["drafts"]}
    assert not [line for line in messages if line.startswith(("refused", "changed", "left"))]
    records = sandbox.records()
    assert sandbox.drafts().keys() == batch["drafts"].keys() - {item["file"] for item in operations}
    made = set()
    for item in operations:
        line = next(line for line in messages if f": {item['file']}" in line)
        name = line.partition(" -> ")[2]
        if item["op"] == "rewrite":
            made.add(name)
            slug = item["slug"]
            assert name.removesuffix(".md")[len(naming.time_prefix(name)) :] == naming.slug(slug)
            assert naming.time_prefix(name) == naming.time_prefix(item["file"])
            _is_whole(records[name])
        elif item["op"] == "merge-into":
            assert item["additions"].strip().splitlines()[-1].strip() in records[name]
            assert records[name].startswith(before.get(name, records[name]).rstrip())
    assert records.keys() == batch["records"].keys() | made
    merged = {line.partition(" -> ")[2] for line in messages if line.startswith("merge-into")}
    for name in batch["records"].keys() - merged:
        assert records[name] == batch["records"][name]
    assert sandbox.run(NORMALIZE, None, "undo").rc == 0
    assert {**sandbox.records(), **sandbox.drafts()} == before


def _is_whole(text: str) -> None:
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["type"] == "ADR"
    assert front["title"]
    assert front["description"]
    assert front["status"] == "accepted"
    body = text.split("---\n", 2)[2]
    found = [line for line in body.splitlines() if line in HEADINGS]
    assert found == HEADINGS
