"""Recorded batches of daily use: a folder of drafts and records, and the operations that were done on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from decision_hooks.records import naming

BATCHES = sorted((Path(__file__).parent.parent / "data" / "gold").glob("*.json"))


def loaded(path: Path) -> dict[str, Any]:
    """A batch with its operations as a model would write them: a slug to rewrite to, a target to merge into."""
    batch: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    made = {item["becomes"] for item in batch["operations"] if item["op"] == "rewrite"}
    for item in batch["operations"]:
        name = item.get("becomes", "")
        slug = name.removesuffix(".md")[len(naming.time_prefix(name)) :]
        if item["op"] == "rewrite":
            item["slug"] = slug
        elif item["op"] == "merge-into":
            item["target"] = slug if name in made else name
    return batch
