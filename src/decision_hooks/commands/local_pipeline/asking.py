"""Asks the questions of the local pipeline: several at once, each with a time limit, all within that of the run."""

from __future__ import annotations

import os
from collections.abc import Sequence

from decision_hooks.backends import call, prompts
from decision_hooks.backends.answers import Answer
from decision_hooks.backends.base import Backend
from decision_hooks.backends.troubles import SPENT_NOTHING
from decision_hooks.languages import table
from decision_hooks.pipeline.questions import (
    ADDITIONS,
    ANSWERED,
    FAILED,
    KEPT,
    SAME,
    SECTIONS,
    UNASKED,
    Judgement,
    Question,
    read,
)
from decision_hooks.settings import NormalizeSettings
from decision_hooks.system.parallel import Countdown, Threads
from decision_hooks.system.world import World

_LIMITS = {SAME: 60.0, KEPT: 60.0, SECTIONS: 150.0, ADDITIONS: 120.0}  # seconds for one call
_MOST_SHARE = 0.25  # of the run's time for one call
_LEAST = 0.2  # seconds; with less left no call is begun
_GIVEN_UP = 3  # failed calls in a row, with no answer before: the program is dead
_GIVEN_UP_LATER = 6  # the same, after some answers
_HOPELESS = 8  # calls without one usable answer: the model is too weak
_REPORT_EVERY = 10  # questions


class Asking:
    """The questions of one run, and the calls that were made for them."""

    def __init__(
        self, backend: Backend, world: World, root: str, settings: NormalizeSettings, clock: Countdown
    ) -> None:
        self.questions = 0  # that were asked, their repetitions not counted
        self.retries = 0
        self._backend = backend
        self._world = world
        self._root = root
        self._language = table.language(settings.language)
        self._clock = clock
        self._threads = Threads(settings.local_jobs)
        # State and answer of each; threads append to it.
        self._calls: list[tuple[str, Answer]] = []

    def ask(self, questions: Sequence[Question], share: float) -> list[Judgement]:
        """The answers, in order; a question that had not begun after that share of the run's time is ``UNASKED``.

        A call that fails, or a reply in another form, is repeated once.
        """
        until = self._clock.seconds * (1 - share)
        self._world.err(f"{questions[0].kind}: {len(questions)} questions")
        answers: list[Judgement] = []
        for begin in range(0, len(questions), _REPORT_EVERY):
            if begin:
                self._world.err(f"{questions[0].kind}: {begin} of {len(questions)}")
            some = questions[begin : begin + _REPORT_EVERY]
            answered = self._threads.map(lambda question: self._answer(question, until), some)
            answers += [answer for answer, _ in answered]
            self.questions += sum(calls > 0 for _, calls in answered)
            self.retries += sum(calls > 1 for _, calls in answered)
        return answers

    def failure(self, *, operations: int) -> str:
        """Why the run failed: no answer could be used, and an error ended it or it has no operations; else ""."""
        if not self.questions or any(state == ANSWERED for state, _ in self._calls):
            return ""
        troubles = [answer for _, answer in self._calls if answer.trouble]
        ending = [answer for answer in troubles if answer.trouble in SPENT_NOTHING]
        if operations and not ending:
            return ""
        if not troubles:
            return "the model never answered in the form that was asked for"
        shown = (ending or troubles[-1:])[0]
        return " ".join(f"{shown.trouble}: {shown.detail}".split())[:300]

    def _answer(self, question: Question, until: float) -> tuple[Judgement, int]:
        """The answer, and how many calls it took."""
        state, prompt = UNASKED, ""
        for calls in range(2):
            if self._is_over():
                return Judgement(FAILED), calls
            left = self._clock.left()
            if left < _LEAST or (not calls and left < until):
                return Judgement(state), calls
            prompt = prompt or self._prompt(question)
            answer = self._call(question, prompt, left)
            if answer.state == ANSWERED:
                return answer, calls + 1
            state = answer.state
        return Judgement(state), 2

    def _call(self, question: Question, prompt: str, left: float) -> Judgement:
        limit = min(_LIMITS[question.kind], self._clock.seconds * _MOST_SHARE, left)
        reply = call.ask(
            self._backend,
            prompt,
            root=self._root,
            environ=self._world.environ,
            timeout=limit,
            is_answer=lambda text: read(question, text).state == ANSWERED,
            stopped=self._threads.stopped.is_set,
        )
        answer = Judgement(FAILED) if reply.trouble else read(question, reply.text)
        self._calls.append((answer.state, reply))
        return answer

    def _is_over(self) -> bool:
        """Whether to make no more calls: an error that every call would hit, or a model that never answers."""
        if self._threads.stopped.is_set():
            return True
        calls = list(self._calls)
        if any(answer.trouble in SPENT_NOTHING for _, answer in calls):
            return True
        usable = any(state == ANSWERED for state, _ in calls)
        if len(calls) >= _HOPELESS and not usable:
            return True
        last = [state for state, _ in calls[-(_GIVEN_UP_LATER if usable else _GIVEN_UP) :]]
        return len(last) >= _GIVEN_UP and all(state == FAILED for state in last)

    def _prompt(self, question: Question) -> str:
        named = {"language": self._language.name, "boundary": prompts.boundary(os.urandom(8))}
        values = dict(question.values) | named
        return prompts.fill(f"local-{question.kind}", self._language.code, values)
