"""Asks the questions of the local pipeline: some at once, each within its own time, all within that of the run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from decision_hooks.backends import answers as backend_answers
from decision_hooks.backends import call, prompts
from decision_hooks.languages.en import Language
from decision_hooks.pipeline import questions as pipeline_questions
from decision_hooks.pipeline.questions import (
    ADDITIONS,
    ANSWERED,
    FAILED,
    KEPT,
    SAME,
    SECTIONS,
    UNASKED,
    Answer,
    Question,
)
from decision_hooks.system.parallel import Countdown, Stop, in_parallel

_LIMITS = {SAME: 60.0, KEPT: 60.0, SECTIONS: 150.0, ADDITIONS: 120.0}  # seconds for one call
_MOST_SHARE = 0.25  # of the run's time for one call
_LEAST = 0.2  # seconds; with less left no call is begun
_GIVEN_UP = 3  # calls that fail in a row, none having been answered before: the program is dead
_GIVEN_UP_LATER = 6  # the same, after some answers
_HOPELESS = 8  # calls without one usable answer: the model is not up to it
_TOLD_EVERY = 10  # questions after which progress is told


class Model(NamedTuple):
    """Whom to ask, and in which world."""

    backend: call.Backend
    root: str
    environ: Mapping[str, str]
    language: Language
    jobs: int  # calls at once


class Asking:
    """The questions of one run; it remembers what came of them."""

    def __init__(self, model: Model, clock: Countdown, tell: Callable[[str], None]) -> None:
        self.questions = 0  # that were asked, their repetitions not counted
        self.retries = 0
        self._model = model
        self._clock = clock
        self._tell = tell
        self._stop = Stop()
        # State and answer of each; threads append to it.
        self._calls: list[tuple[str, backend_answers.Answer]] = []

    def ask(self, questions: Sequence[Question], share: float) -> list[Answer]:
        """The answers, in order; a question that had not begun after that share of the run's time is ``UNASKED``.

        A call that fails or a reply in another form is tried once more.
        """
        until = self._clock.seconds * (1 - share)
        self._tell(f"{questions[0].kind}: {len(questions)} questions")
        answers: list[Answer] = []
        for begin in range(0, len(questions), _TOLD_EVERY):
            if begin:
                self._tell(f"{questions[0].kind}: {begin} of {len(questions)}")
            some = questions[begin : begin + _TOLD_EVERY]
            found = in_parallel(lambda one: self._answer(one, until), some, self._model.jobs, self._stop)
            answers += [answer for answer, _ in found]
            self.questions += sum(calls > 0 for _, calls in found)
            self.retries += sum(calls > 1 for _, calls in found)
        return answers

    @property
    def usable(self) -> bool:
        """Whether any answer could be used."""
        return any(state == ANSWERED for state, _ in self._calls)

    @property
    def trouble(self) -> backend_answers.Answer | None:
        """The first answer that was an error which ends the run, else the last error, None without any."""
        troubles = [answer for _, answer in self._calls if answer.trouble]
        ending = [answer for answer in troubles if answer.trouble in backend_answers.SPENT_NOTHING]
        return next(iter(ending or troubles[-1:]), None)

    def _answer(self, question: Question, until: float) -> tuple[Answer, int]:
        """The answer, and how many calls it took."""
        state, prompt = UNASKED, ""
        for calls in range(2):
            if self._is_over():
                return Answer(FAILED), calls
            left = self._clock.left()
            if left < _LEAST or (not calls and left < until):
                return Answer(state), calls
            prompt = prompt or self._prompt(question)
            answer = self._call(question, prompt, left)
            if answer.state == ANSWERED:
                return answer, calls + 1
            state = answer.state
        return Answer(state), 2

    def _call(self, question: Question, prompt: str, left: float) -> Answer:
        def is_answer(text: str) -> bool:
            return pipeline_questions.read(question, text).state == ANSWERED

        limit = min(_LIMITS[question.kind], self._clock.seconds * _MOST_SHARE, left)
        reply = call.ask(
            self._model.backend,
            prompt,
            root=self._model.root,
            environ=self._model.environ,
            timeout=limit,
            is_answer=is_answer,
            stopped=self._stop.given,
        )
        answer = Answer(FAILED) if reply.trouble else pipeline_questions.read(question, reply.text)
        self._calls.append((answer.state, reply))
        return answer

    def _is_over(self) -> bool:
        """Whether no further call makes sense: an error that none would escape, or a model that never answers."""
        if self._stop.given():
            return True
        calls = list(self._calls)
        if any(answer.trouble in backend_answers.SPENT_NOTHING for _, answer in calls):
            return True
        usable = any(state == ANSWERED for state, _ in calls)
        if len(calls) >= _HOPELESS and not usable:
            return True
        last = [state for state, _ in calls[-(_GIVEN_UP_LATER if usable else _GIVEN_UP) :]]
        return len(last) >= _GIVEN_UP and all(state == FAILED for state in last)

    def _prompt(self, question: Question) -> str:
        language = self._model.language
        values = dict(question.values) | {
            "language": language.name,
            "boundary": prompts.boundary(os.urandom(8)),
        }
        return prompts.fill(f"local-{question.kind}", language.code, values)


def failed_wholly(asking: Asking) -> str:
    """Why a run of which no answer could be used came to nothing; "" when some could, or nothing was asked."""
    if asking.usable or not asking.questions:
        return ""
    trouble = asking.trouble
    if trouble is None:
        return "the model never answered in the form that was asked for"
    return " ".join(f"{trouble.trouble}: {trouble.detail}".split())[:300]
