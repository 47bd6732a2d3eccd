"""Recall of the retrieval on recorded merges, and its time: ``python bench/retrieval.py FOLDER``.

The folder holds ``batch-*.json`` and ``blobs/<id>.md``. A batch names ``drafts`` and the ``records`` of its
time (name -> blob), and under ``became`` its ``merge-into`` operations (draft, target, overlap).
A merge counts if its addition shares at least 0.6 of its words with the draft, because merges are inferred. It is
found at k if its target is among the first k of all these records. A merge with another target (the rewrite of
another draft of the batch) is no merge into a record: it is counted apart, and in the measure of candidates it is
found if that other draft is among them. Some of the records have a session in their front matter: they are drafts
of a later batch. The measure is printed with them, and without them as in the product, where a draft is never a
target.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from decision_hooks.records import front_matter, search
from decision_hooks.state import record_index

PLACES = (1, 3, 5, 10, 12, 20)
LEAST_OVERLAP = 0.6
CANDIDATES = 12


class Merge(NamedTuple):
    """A draft that was merged, and the rank of its target, None if there is none."""

    number: int  # of the batch
    into_record: bool
    rank: int | None
    candidate: bool  # among the candidates of the local pipeline


def main() -> None:
    """Print recall over all batches and over each half of them, then the time for many records."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--overlap", type=float, default=LEAST_OVERLAP)
    parser.add_argument(
        "--records", type=int, default=2000, help="how many records the time is measured with"
    )
    options = parser.parse_args()
    read = _reader(options.folder)
    paths = sorted(options.folder.glob("batch-*.json"))
    for with_drafts in (True, False):
        print("among all files" if with_drafts else "among the records alone")
        merges: list[Merge] = []
        for number, path in enumerate(paths):
            batch = json.loads(path.read_text(encoding="utf-8"))
            merges += measured(number, batch, read, least=options.overlap, with_drafts=with_drafts)
        report("all batches", merges)
        report("even batches", [one for one in merges if one.number % 2 == 0])
        report("odd batches", [one for one in merges if one.number % 2])
    print(timing(_newest(paths, read, options.records)))


def _reader(folder: Path) -> Callable[[str], str]:
    @cache
    def read(blob: str) -> str:
        return (folder / "blobs" / f"{blob}.md").read_text(encoding="utf-8", errors="replace")

    return read


def measured(
    number: int, batch: Mapping[str, Any], read: Callable[[str], str], *, least: float, with_drafts: bool
) -> list[Merge]:
    """The merges of a batch that count."""
    wanted = [one for one in batch["became"].get("merge-into", []) if one.get("overlap", 0) >= least]
    if not wanted:
        return []
    texts = {name: read(blob) for name, blob in batch["records"].items()}
    index = search.build_index(
        search.index_record(name, text)
        for name, text in texts.items()
        if with_drafts or front_matter.session_of(text) is None
    )
    drafts = [(name, read(blob)) for name, blob in batch["drafts"].items()]
    near = dict(zip(batch["drafts"], search.candidates(index, drafts, CANDIDATES), strict=True))
    by_file = {one["file"]: one["draft"] for one in batch["became"].get("rewrite", [])}
    found = []
    for merge in wanted:
        target = merge["target"]
        ranked = [name for name, _ in search.likely(index, dict(drafts)[merge["draft"]], len(texts))]
        rank = ranked.index(target) + 1 if target in ranked else None
        goal = target if target in texts else by_file.get(target)
        reached = goal in [one.name for one in near[merge["draft"]]]
        found.append(Merge(number, target in texts, rank, reached))
    return found


def report(label: str, merges: Sequence[Merge]) -> None:
    """Print one line of recall."""
    ranks = [one.rank for one in merges if one.into_record]
    shares = [f"{_share([rank is not None and rank <= k for rank in ranks])} at {k}" for k in PLACES]
    near = _share([one.candidate for one in merges])
    print(f"{label}: {len(ranks)} merges into records: {', '.join(shares)};", end=" ")
    print(f"{len(merges) - len(ranks)} into rewrites; {near} among {CANDIDATES} candidates")


def _share(hits: Sequence[bool]) -> str:
    return f"{sum(hits) / len(hits):.2f}" if hits else "none"


def _newest(
    paths: Sequence[Path], read: Callable[[str], str], many: int
) -> tuple[list[tuple[str, str]], list[str]]:
    """So many records, repeated under other names where there are too few, and ten drafts."""
    batch = json.loads(paths[-1].read_text(encoding="utf-8"))
    every = [(name, read(blob)) for name, blob in batch["records"].items()]
    records = [(f"{turn}-{name}", text) for turn in range(many // len(every) + 1) for name, text in every][
        :many
    ]
    return records, [read(blob) for blob in list(batch["drafts"].values())[:10]]


def timing(given: tuple[list[tuple[str, str]], list[str]]) -> str:
    """Seconds for the steps of a run."""
    records, drafts = given
    steps = [time.perf_counter()]
    kept = {name: (len(text), 1, search.index_record(name, text)) for name, text in records}
    steps.append(time.perf_counter())
    data = record_index.dump(kept)
    steps.append(time.perf_counter())
    loaded = record_index.load(data)
    steps.append(time.perf_counter())
    index = search.build_index(one for _, _, one in loaded.values())
    steps.append(time.perf_counter())
    for draft in drafts:
        search.likely(index, draft, CANDIDATES)
    steps.append(time.perf_counter())
    cold, dumped, read, built, ranked = (after - before for before, after in pairwise(steps))
    size = sum(len(text.encode()) for _, text in records) / len(records) / 1000
    return (
        f"{len(records)} records of {size:.1f} KB, {len(drafts)} drafts: from nothing {cold:.2f} s, "
        f"dump {dumped:.2f} s of {len(data) / 1e6:.1f} MB; load {read:.2f} s + index {built:.2f} s + "
        f"rank {ranked:.2f} s = {read + built + ranked:.2f} s"
    )


if __name__ == "__main__":
    main()
