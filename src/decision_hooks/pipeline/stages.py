"""The stages of the local pipeline that ask a model: same decision or not, worth keeping or not, which text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from decision_hooks.languages.en import Language
from decision_hooks.pipeline import questions
from decision_hooks.pipeline.drafts import Reading
from decision_hooks.pipeline.operations import (
    Slugs,
    delete,
    extracted_content,
    merge,
    own_content,
)
from decision_hooks.pipeline.pairs import MOST_CANDIDATES, Cluster, Pair, clusters, open_pairs, rounds
from decision_hooks.pipeline.questions import ANSWERED, FAILED, UNASKED, UNUSABLE, Judgement, Question
from decision_hooks.records import search
from decision_hooks.replies.operations import RawOperation
from decision_hooks.replies.plan import DELETE, MERGE, REWRITE

# Share of the run's time after which the questions of a stage are not begun any more
_PAIRS, _KEPT, _SECTIONS, _ADDITIONS = 0.6, 0.7, 0.85, 1.0

# Questions and a share of the time -> their answers
Ask = Callable[[Sequence[Question], float], Sequence[Judgement]]


class Records(NamedTuple):
    """The records that drafts are compared with."""

    searched: search.Index
    read: Callable[[str], str]  # the text of a record as a model may see it, "" for none
    names: frozenset[str] = frozenset()  # of everything in the folder


class Intent(NamedTuple):
    """The operation to write for a group's representative draft; "" leaves the draft as it is."""

    op: str = ""
    target: str = ""  # of a merge: a record, or the draft whose rewrite it is merged into
    why: str = ""


class Stages:
    """The representatives of near-duplicates on their way through the stages."""

    def __init__(self, drafts: Sequence[Reading], records: Records, ask: Ask, language: Language) -> None:
        self.drafts = {draft.name: draft for draft in drafts}
        self.records = records
        self.language = language
        self.why: dict[str, str] = {}  # of drafts without an operation
        self.asked = self.usable = 0
        self._ask = ask

    def _put(self, asked: Sequence[Question], share: float) -> Sequence[Judgement]:
        if not asked:
            return ()
        answers = self._ask(asked, share)
        self.asked += sum(answer.state != UNASKED for answer in answers)
        self.usable += sum(answer.state == ANSWERED for answer in answers)
        return answers

    def operations(self) -> dict[str, RawOperation]:
        """Go through all stages: the operations by draft; ``why`` has the reasons of the other drafts."""
        same, unsure = self._compare()
        return self._write(self._judge(clusters(list(self.drafts), same), unsure))

    # -- stage 1: which are the same

    def _compare(self) -> tuple[list[Pair], set[str]]:
        """The pairs that two answers call the same, and the drafts with an unanswered comparison."""
        names = list(self.drafts)
        texts = [(name, self.drafts[name].text) for name in names]
        same: list[Pair] = []
        unsure: set[str] = set()
        candidates = search.candidates(self.records.searched, texts, MOST_CANDIDATES)
        for number, likely in enumerate(rounds(names, candidates)):
            pairs = open_pairs(likely, same, self._representatives(same))
            for pair, answer in zip(pairs, self._twice(pairs), strict=True):
                if answer.state == ANSWERED and answer.yes:
                    same.append(pair)
                elif answer.state == FAILED or (answer.state == UNASKED and number == 0):
                    unsure.add(pair.draft)  # the other can be found again once it is a record
        return same, unsure

    def _twice(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """One answer a pair; a yes is asked for again, the other way round."""
        asked = [self._same(pair) for pair in pairs]
        answers = list(self._put(asked, _PAIRS))
        again = [n for n, answer in enumerate(answers) if answer.state == ANSWERED and answer.yes]
        second = self._put([questions.swapped(asked[n]) for n in again], _PAIRS)
        for n, answer in zip(again, second, strict=True):
            answers[n] = answer
        return answers

    def _same(self, pair: Pair) -> Question:
        one = pair.draft, self.drafts[pair.draft].shown
        return questions.same(one, (pair.other, self._text(pair.other)), pair.is_draft)

    def _text(self, name: str) -> str:
        return self.drafts[name].shown if name in self.drafts else self.records.read(name)

    def _representatives(self, same: Sequence[Pair]) -> dict[str, str]:
        joined = clusters(list(self.drafts), same)
        return {name: self._longest(cluster.drafts) for cluster in joined for name in cluster.drafts}

    def _longest(self, names: Sequence[str]) -> str:
        return max(names, key=lambda name: len(self.drafts[name].text))

    # -- stage 1b: what is worth keeping

    def _judge(self, joined: Sequence[Cluster], unsure: set[str]) -> dict[str, Intent]:
        intents: dict[str, Intent] = {}
        alone: list[str] = []
        for cluster in joined:
            if any(cluster.targets):
                merges = zip(cluster.drafts, cluster.targets, strict=True)
                intents.update({name: Intent(MERGE, target) for name, target in merges})
            elif unsure & set(cluster.drafts):
                intents.update(dict.fromkeys(cluster.drafts, Intent(why="a comparison was not answered")))
            elif len(cluster.drafts) > 1:
                longest = self._longest(cluster.drafts)
                intents.update(dict.fromkeys(cluster.drafts, Intent(MERGE, longest)))
                intents[longest] = Intent(REWRITE)
            else:
                alone += cluster.drafts
        return intents | self._kept(alone)

    def _kept(self, names: Sequence[str]) -> dict[str, Intent]:
        """A draft is trivial when two answers say so."""
        asked = {name: questions.kept(self.drafts[name]) for name in names}
        answers = dict(zip(names, self._put(list(asked.values()), _KEPT), strict=True))
        doubted = [name for name in names if answers[name].state == ANSWERED and not answers[name].yes]
        again = self._put([asked[name] for name in doubted], _KEPT)
        answers.update(zip(doubted, again, strict=True))
        return {name: _intent_alone(answer) for name, answer in answers.items()}

    # -- stages 2 and 3: what is written

    def _write(self, intents: Mapping[str, Intent]) -> dict[str, RawOperation]:
        """The operations of drafts whose texts could be written; notes why the others have none."""
        written: dict[str, RawOperation] = {}
        for name, intent in intents.items():
            if intent.op == DELETE:
                written[name] = delete(name, intent.why)
            elif not intent.op:
                self.why[name] = intent.why
        written |= self._rewrites([name for name, intent in intents.items() if intent.op == REWRITE])
        merges = {name: intent.target for name, intent in intents.items() if intent.op == MERGE}
        return written | self._merges(merges, written)

    def _rewrites(self, names: Sequence[str]) -> dict[str, RawOperation]:
        contents = {name: own_content(self.drafts[name], self.language, whole=True) for name in names}
        unread = [name for name in names if not contents[name]]
        answers = self._put([questions.sections(self.drafts[name]) for name in unread], _SECTIONS)
        titles: dict[str, str] = {}
        for name, answer in zip(unread, answers, strict=True):
            if answer.sections is not None:
                contents[name] = extracted_content(self.drafts[name], answer.sections, self.language)
                titles[name] = answer.sections.title
        slugs = Slugs({*self.records.names, *self.drafts})
        rewrites = {}
        for name in names:
            draft = self.drafts[name]
            if contents[name]:
                slug = slugs.of(titles.get(name, ""), draft.title, name)
                rewrites[name] = RawOperation(REWRITE, name, slug=slug, content=contents[name])
            else:
                self.why[name] = "its sections could not be read"
        return rewrites

    def _merges(
        self, targets: Mapping[str, str], written: Mapping[str, RawOperation]
    ) -> dict[str, RawOperation]:
        ready = {}
        for name, target in targets.items():
            if target in self.drafts and target not in written:
                self.why[name] = f"it goes with {target}"
            else:
                ready[name] = target
        asked = [
            questions.additions(self.drafts[name], (target, self._text(target)), target in self.drafts)
            for name, target in ready.items()
        ]
        merges = {}
        for (name, target), answer in zip(ready.items(), self._put(asked, _ADDITIONS), strict=True):
            operation = None
            if answer.state == ANSWERED and not answer.additions:
                operation = delete(name, f"it is covered by {target}")
            elif answer.state == ANSWERED:
                into = written[target].slug if target in written else target
                lines = "\n".join(f"* {item}" for item in answer.additions)
                operation = merge(self.drafts[name], into, lines)
            if operation is None:
                self.why[name] = f"what it adds to {target} could not be written"
            else:
                merges[name] = operation
        return merges


def _intent_alone(answer: Judgement) -> Intent:
    if answer.state in (FAILED, UNASKED):
        return Intent(why="whether it is worth keeping was not answered")
    if answer.state == UNUSABLE or answer.yes:
        return Intent(REWRITE)
    return Intent(DELETE, why="it holds no decision worth keeping")
