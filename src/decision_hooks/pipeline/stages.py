"""The stages of the local pipeline that ask a model: what is the same, what is worth keeping, what is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from decision_hooks.languages.en import Language
from decision_hooks.pipeline import (
    operations as pipeline_records,
)
from decision_hooks.pipeline import (
    pairs as pipeline_pairs,
)
from decision_hooks.pipeline import (
    questions as pipeline_questions,
)
from decision_hooks.pipeline.drafts import Reading
from decision_hooks.pipeline.pairs import Cluster, Pair
from decision_hooks.pipeline.questions import ANSWERED, FAILED, UNASKED, UNUSABLE, Answer, Question
from decision_hooks.records import search
from decision_hooks.replies.operations import RawOperation
from decision_hooks.replies.plan import DELETE, MERGE, REWRITE

# Share of the run's time after which the questions of a stage are not begun any more
_PAIRS, _KEPT, _SECTIONS, _ADDITIONS = 0.6, 0.7, 0.85, 1.0

Ask = Callable[
    [Sequence[Question], float], Sequence[Answer]
]  # questions and a share of the time -> their answers


class Shelf(NamedTuple):
    """The records that stand."""

    searched: search.Index
    read: Callable[[str], str]  # the text of a record as a model may see it, "" for none
    names: frozenset[str] = frozenset()  # of everything in the folder


class Fate(NamedTuple):
    """What shall become of a draft that stands for its group: an operation to be written, or "" (it stays)."""

    op: str = ""
    target: str = ""  # of a merge: a record, or the draft whose rewrite it goes into
    why: str = ""


class Stages:
    """The drafts that stand for their groups on their way through the stages."""

    def __init__(self, drafts: Sequence[Reading], shelf: Shelf, ask: Ask, language: Language) -> None:
        self.drafts = {draft.name: draft for draft in drafts}
        self.shelf = shelf
        self.language = language
        self.why: dict[str, str] = {}  # of drafts that stay
        self.asked = self.usable = 0
        self._ask = ask

    def _put(self, questions: Sequence[Question], share: float) -> Sequence[Answer]:
        if not questions:
            return ()
        answers = self._ask(questions, share)
        self.asked += sum(answer.state != UNASKED for answer in answers)
        self.usable += sum(answer.state == ANSWERED for answer in answers)
        return answers

    def operations(self) -> dict[str, RawOperation]:
        """Go through all stages: the operations by draft; ``why`` tells of the others why they stay."""
        same, unsure = self._compare()
        fates = self._judge(pipeline_pairs.clusters(list(self.drafts), same), unsure)
        return self._write(fates)

    # -- stage 1: which are the same

    def _compare(self) -> tuple[list[Pair], set[str]]:
        """The pairs that two answers call the same, and the drafts of which something was not answered."""
        names = list(self.drafts)
        texts = [(name, self.drafts[name].text) for name in names]
        same: list[Pair] = []
        unsure: set[str] = set()
        candidates = search.candidates(self.shelf.searched, texts, pipeline_pairs.MOST_CANDIDATES)
        for number, wave in enumerate(pipeline_pairs.waves(names, candidates)):
            pairs = pipeline_pairs.open_pairs(wave, same, self._anchors(same))
            for pair, answer in zip(pairs, self._twice(pairs), strict=True):
                if answer.state == ANSWERED and answer.yes:
                    same.append(pair)
                elif answer.state == FAILED or (answer.state == UNASKED and number == 0):
                    unsure.add(pair.draft)  # the other can be found again once it is a record
        return same, unsure

    def _twice(self, pairs: Sequence[Pair]) -> list[Answer]:
        """One answer a pair; a yes is asked for again, the other way round."""
        questions = [self._same(pair) for pair in pairs]
        answers = list(self._put(questions, _PAIRS))
        again = [n for n, answer in enumerate(answers) if answer.state == ANSWERED and answer.yes]
        second = self._put([pipeline_questions.swapped(questions[n]) for n in again], _PAIRS)
        for n, answer in zip(again, second, strict=True):
            answers[n] = answer
        return answers

    def _same(self, pair: Pair) -> Question:
        return pipeline_questions.same(
            (pair.draft, self.drafts[pair.draft].shown), (pair.other, self._text(pair.other)), pair.is_draft
        )

    def _text(self, name: str) -> str:
        return self.drafts[name].shown if name in self.drafts else self.shelf.read(name)

    def _anchors(self, same: Sequence[Pair]) -> dict[str, str]:
        found: dict[str, str] = {}
        for cluster in pipeline_pairs.clusters(list(self.drafts), same):
            found.update(dict.fromkeys(cluster.drafts, self._longest(cluster.drafts)))
        return found

    def _longest(self, names: Sequence[str]) -> str:
        return max(names, key=lambda name: len(self.drafts[name].text))

    # -- stage 1b: what is worth keeping

    def _judge(self, found: Sequence[Cluster], unsure: set[str]) -> dict[str, Fate]:
        """What shall become of each draft."""
        fates: dict[str, Fate] = {}
        alone: list[str] = []
        for cluster in found:
            if any(cluster.targets):
                merges = zip(cluster.drafts, cluster.targets, strict=True)
                fates.update({name: Fate(MERGE, target) for name, target in merges})
            elif unsure & set(cluster.drafts):
                fates.update(dict.fromkeys(cluster.drafts, Fate(why="a comparison was not answered")))
            elif len(cluster.drafts) > 1:
                anchor = self._longest(cluster.drafts)
                fates.update(dict.fromkeys(cluster.drafts, Fate(MERGE, anchor)))
                fates[anchor] = Fate(REWRITE)
            else:
                alone += cluster.drafts
        return fates | self._kept(alone)

    def _kept(self, names: Sequence[str]) -> dict[str, Fate]:
        """A draft is trivial when two answers say so."""
        questions = [pipeline_questions.kept(self.drafts[name]) for name in names]
        answers = dict(zip(names, self._put(questions, _KEPT), strict=True))
        doubted = [name for name in names if answers[name].state == ANSWERED and not answers[name].yes]
        again = [pipeline_questions.kept(self.drafts[name]) for name in doubted]
        answers.update(zip(doubted, self._put(again, _KEPT), strict=True))
        return {name: _fate_alone(answer) for name, answer in answers.items()}

    # -- stages 2 and 3: what is written

    def _write(self, fates: Mapping[str, Fate]) -> dict[str, RawOperation]:
        """The operations of drafts whose texts could be written; why the others stay is noted."""
        found: dict[str, RawOperation] = {}
        for name, fate in fates.items():
            if fate.op == DELETE:
                found[name] = pipeline_records.delete(name, fate.why)
            elif not fate.op:
                self.why[name] = fate.why
        found |= self._rewrites([name for name, fate in fates.items() if fate.op == REWRITE])
        found |= self._merges({n: fate.target for n, fate in fates.items() if fate.op == MERGE}, found)
        return found

    def _rewrites(self, names: Sequence[str]) -> dict[str, RawOperation]:
        contents = {
            name: pipeline_records.own_content(self.drafts[name], self.language, whole=True) for name in names
        }
        unread = [name for name in names if not contents[name]]
        questions = [pipeline_questions.sections(self.drafts[name]) for name in unread]
        titles: dict[str, str] = {}
        for name, answer in zip(unread, self._put(questions, _SECTIONS), strict=True):
            if answer.sections is not None:
                contents[name] = pipeline_records.extracted_content(
                    self.drafts[name], answer.sections, self.language
                )
                titles[name] = answer.sections.title
        slugs = pipeline_records.Slugs({*self.shelf.names, *self.drafts})
        found = {}
        for name in names:
            draft = self.drafts[name]
            if contents[name]:
                slug = slugs.of(titles.get(name, ""), draft.title, name)
                found[name] = pipeline_records.rewrite(draft, slug, contents[name])
            else:
                self.why[name] = "its sections could not be read"
        return found

    def _merges(
        self, targets: Mapping[str, str], made: Mapping[str, RawOperation]
    ) -> dict[str, RawOperation]:
        ready = {}
        for name, target in targets.items():
            if target in self.drafts and target not in made:
                self.why[name] = f"it goes with {target}"
            else:
                ready[name] = target
        questions = [
            pipeline_questions.additions(
                self.drafts[name], (target, self._text(target)), target in self.drafts
            )
            for name, target in ready.items()
        ]
        found = {}
        for (name, target), answer in zip(ready.items(), self._put(questions, _ADDITIONS), strict=True):
            operation = None
            if answer.state == ANSWERED and not answer.additions:
                operation = pipeline_records.delete(name, f"it is covered by {target}")
            elif answer.state == ANSWERED:
                into = made[target].slug if target in made else target
                lines = "\n".join(f"* {item}" for item in answer.additions)
                operation = pipeline_records.merge(self.drafts[name], into, lines)
            if operation is None:
                self.why[name] = f"what it adds to {target} could not be written"
            else:
                found[name] = operation
        return found


def _fate_alone(answer: Answer) -> Fate:
    if answer.state in (FAILED, UNASKED):
        return Fate(why="whether it is worth keeping was not answered")
    if answer.state == UNUSABLE or answer.yes:
        return Fate(REWRITE)
    return Fate(DELETE, why="it holds no decision worth keeping")
