"""The results of the local pipeline on recorded batches with a perfect judge: ``python bench/pipeline.py FOLDER``.

The folder holds ``batch-*.json`` and ``blobs/<id>.md`` (see ``bench/retrieval.py``). The judge answers each question
as the batch came out: two texts are the same when they went into one file, a draft is worth keeping when it was
not deleted, sections and additions are those that were written. Measured are the drafts whose operation and target
come out as recorded (a merge into another draft of the batch may have either of the two as its anchor: counted
apart), the questions a batch, and the recorded merges whose target was among the candidates of their draft.
Drafts that were deleted because they were covered elsewhere count as trivial: the record does not say which was
the reason. Merges count as recorded when their addition shares at least 0.6 of its words with the draft; the others
are inferred too loosely and are measured only with ``--all-merges``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from decision_hooks.languages import table
from decision_hooks.pipeline import questions, run
from decision_hooks.pipeline.pairs import MOST_CANDIDATES, worth_asking
from decision_hooks.pipeline.questions import ANSWERED, Extracted, Judgement, Question
from decision_hooks.pipeline.stages import Records
from decision_hooks.records import front_matter, headings, search
from decision_hooks.records.front_matter import DraftFile

LEAST_OVERLAP = 0.6
READ = Callable[[str], str]


class Truth(NamedTuple):
    """What became of a draft."""

    op: str
    file: str = ""  # that it is in now
    content: str = ""  # of a rewrite
    sure: bool = True


class Measured(NamedTuple):
    """One batch: how its drafts came out, what was asked, whether each merge was within reach."""

    drafts: Counter[str]
    asked: Counter[str]
    every_pair: int
    reachable: list[bool]
    seconds: float


def main() -> None:
    """Print the measures over all batches."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--all-merges", action="store_true", help="count merges that are inferred loosely, too"
    )
    options = parser.parse_args()
    read = reader(options.folder)
    paths = sorted(options.folder.glob("batch-*.json"))
    found = [
        measured(json.loads(path.read_text(encoding="utf-8")), read, options.all_merges) for path in paths
    ]
    report(found)


def reader(folder: Path) -> READ:
    """A function that reads blobs."""

    @cache
    def read(blob: str) -> str:
        return (folder / "blobs" / f"{blob}.md").read_text(encoding="utf-8", errors="replace")

    return read


@cache
def indexed(name: str, text: str) -> search.Indexed:
    """A record as the index knows it; most records stand in many batches."""
    return search.index_record(name, text)


def truths(batch: Mapping[str, Any], read: READ) -> dict[str, Truth]:
    """What became of each draft of a batch."""
    became = batch["became"]
    found = {name: Truth("delete") for name in became.get("delete", [])}
    for one in became.get("rewrite", []):
        found[one["draft"]] = Truth("rewrite", one["file"], read(one["content"]))
    for one in became.get("merge-into", []):
        found[one["draft"]] = Truth("merge-into", one["target"], sure=one.get("overlap", 0) >= LEAST_OVERLAP)
    return found


def measured(batch: Mapping[str, Any], read: READ, all_merges: bool) -> Measured:
    """Run the pipeline on one batch."""
    texts = {name: read(blob) for name, blob in batch["records"].items()}
    records = {name: text for name, text in texts.items() if front_matter.session_of(text) is None}
    drafts = [DraftFile(name, read(blob)) for name, blob in batch["drafts"].items()]
    truth = truths(batch, read)
    index = search.build_index(indexed(name, text) for name, text in records.items())
    asked: Counter[str] = Counter()
    begun = time.perf_counter()
    outcome = run.by_model(
        drafts,
        Records(index, lambda name: records.get(name, ""), frozenset(records)),
        lambda questions, share: [judged(question, truth, asked) for question in questions],
        table.language("uk"),
    )
    seconds = time.perf_counter() - begun
    counts = Counter(kinds(outcome, truth, all_merges))
    reachable = reached(index, drafts, truth, records)
    many = len(drafts)
    return Measured(counts, asked, many * (many - 1) // 2 + many * len(records), reachable, seconds)


def judged(question: Question, truth: Mapping[str, Truth], asked: Counter[str]) -> Judgement:
    """The answer that leads to what became of the drafts."""
    asked[question.kind] += 1
    one = truth[question.about[0]]
    if question.kind == questions.SAME:
        other = question.about[1]
        return Judgement(
            ANSWERED, yes=one.file != "" and one.file == (truth[other].file if other in truth else other)
        )
    if question.kind == questions.KEPT:
        return Judgement(ANSWERED, yes=one.op != "delete")
    if question.kind == questions.SECTIONS:
        texts = headings.parse_body(front_matter.split(one.content).body).texts
        return Judgement(
            ANSWERED, sections=Extracted("", texts._replace(outcome=texts.outcome or "As decided."))
        )
    return Judgement(ANSWERED, additions=("As it was added.",))


def kinds(outcome: run.Proposal, truth: Mapping[str, Truth], all_merges: bool) -> list[str]:
    """How each draft came out: ``same``, ``same file`` (the other of two is the anchor), or both operations."""
    made = {one.slug: one.file for one in outcome.operations if one.slug}
    operations = {one.file: one for one in outcome.operations}
    found = []
    for name, one in truth.items():
        if not one.sure and not all_merges:
            continue
        operation = operations.get(name)
        ours = operation.op if operation else "left"
        anchor = made.get(operation.target, operation.target) if operation else ""
        into = truth[anchor].file if anchor in truth else anchor
        together = one.file != "" and any(
            other.file == one.file for key, other in truth.items() if key != name
        )
        if ours == one.op and (ours != "merge-into" or into == one.file):
            found.append(f"same {ours}")
        elif together and {ours, one.op} == {"merge-into", "rewrite"}:
            found.append("same file, the other draft is the anchor")
        else:
            found.append(f"{one.op} came out as {ours}")
    return found


def reached(
    index: search.Index, drafts: Sequence[DraftFile], truth: Mapping[str, Truth], records: Mapping[str, str]
) -> list[bool]:
    """Of each merge that counts whether its target, or the draft that became it, is among the candidates."""
    near = search.candidates(index, [(one.name, one.text) for one in drafts], MOST_CANDIDATES)
    made = {one.file: name for name, one in truth.items() if one.op == "rewrite"}
    found = []
    for draft, others in zip(drafts, near, strict=True):
        one = truth[draft.name]
        if one.op == "merge-into" and one.sure:
            goal = one.file if one.file in records else made.get(one.file, "")
            found.append(goal in [other.name for other in worth_asking(others)])
    return found


def report(found: Sequence[Measured]) -> None:
    """Print the sums."""
    drafts = sum((one.drafts for one in found), Counter[str]())
    asked = sum((one.asked for one in found), Counter[str]())
    reachable = [hit for one in found for hit in one.reachable]
    total = sum(drafts.values())
    exact = sum(count for kind, count in drafts.items() if kind.startswith("same") and "," not in kind)
    alike = sum(count for kind, count in drafts.items() if kind.startswith("same"))
    print(
        f"{len(found)} batches, {total} drafts: operation and target as recorded {exact / total:.3f},",
        end=" ",
    )
    print(f"with either draft as the anchor {alike / total:.3f}")
    for kind, count in drafts.most_common():
        print(f"  {count:4} {kind}")
    print(
        f"merges within reach of {MOST_CANDIDATES} candidates: {sum(reachable)} of {len(reachable)}", end=" "
    )
    print(f"({sum(reachable) / max(1, len(reachable)):.3f})")
    many = len(found)
    print(f"questions a batch: {sum(asked.values()) / many:.1f}", end=" ")
    print(f"({', '.join(f'{kind} {count / many:.1f}' for kind, count in asked.most_common())}),", end=" ")
    every = sum(one.every_pair for one in found) / many
    print(f"for every pair {every:.1f}; at most {max(sum(one.asked.values()) for one in found)}")
    print(f"seconds a batch without the model: {sum(one.seconds for one in found) / many:.2f}")


if __name__ == "__main__":
    main()
