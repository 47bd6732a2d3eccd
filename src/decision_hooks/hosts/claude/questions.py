"""Questions that Claude Code put to the person (AskUserQuestion), the options, and what was chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from decision_hooks.hosts.fields import NOTHING, Record, clean, items, mapping, objects, string
from decision_hooks.hosts.gathering import Call, Gathering
from decision_hooks.sessions.model import Choice, Option

_LEAD = "answered your questions:"
_TAILS = ('". You can now continue', '".\n\nYou can now continue')
_NOTES = '" user notes: '
_PREVIEW = '" selected preview:'


def is_answer(call: Call, result: Record, text: str) -> bool:
    """Whether a result has answers to questions."""
    if call.name:
        return call.name == "AskUserQuestion"
    return (bool(result.get("questions")) and "answers" in result) or _LEAD in text[:60]


def take(call: Call, result: Record, text: str, time: float, uuid: str, into: Gathering) -> None:
    """Add an answer entry and a choice for each question that was answered."""
    asked = {choice.question: choice for choice in _asked(call.value)}
    asked.update((choice.question, choice) for choice in _asked(result))
    answers = dict(_structured(result)) or dict(_from_text(text))
    if not answers:
        into.say("result", text, time, uuid, tool="AskUserQuestion")
    for question, (answer, notes) in answers.items():
        choice = asked.get(question, Choice("question", question, (), (), ""))
        chosen = _chosen(answer, choice.options)
        if chosen:
            choice = choice._replace(chosen=chosen, words=notes, time=time)
            into.say("answer", _answer_text(choice), time, uuid, tool="AskUserQuestion")
            into.choose(choice, uuid)


def offered(value: object) -> str:
    """The questions of a call with their options, as text."""
    return "\n".join(_question(choice) for choice in _asked(value))


def _asked(value: object) -> Iterator[Choice]:
    for question in objects(items(value if isinstance(value, dict) else NOTHING, "questions")):
        text = clean(string(question, "question")).strip()
        if text:
            yield Choice("question", text, tuple(_options(question)), (), "")


def _options(question: Record) -> Iterator[Option]:
    for option in items(question, "options"):
        if isinstance(option, str):
            option = {"label": option}
        label = clean(string(option, "label")).strip() if isinstance(option, dict) else ""
        if label and isinstance(option, dict):
            yield Option(label, clean(string(option, "description")).strip())


def _structured(result: Record) -> Iterator[tuple[str, tuple[str | tuple[str, ...], str]]]:
    annotations = mapping(result, "annotations")
    for question, answer in mapping(result, "answers").items():
        notes = clean(string(mapping(annotations, question), "notes")).strip()
        if isinstance(answer, list):
            many = tuple(clean(label).strip() for label in answer if isinstance(label, str) and label.strip())
            yield clean(question).strip(), (many, notes)
        elif isinstance(answer, str):
            yield clean(question).strip(), (clean(answer).strip(), notes)


def _from_text(text: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The pairs of ``User has answered your questions: "Q"="A", "Q2"="A2". You can now continue …``."""
    _, lead, body = text.partition(_LEAD)
    for tail in _TAILS:
        body = body.partition(tail)[0] + '"' if tail in body else body
    question, *rest = body.split('"="')
    question = question.strip().lstrip('"')
    for number, part in enumerate(rest):
        following = ""
        if number < len(rest) - 1:
            part, _, following = part.rpartition(', "')
        answer, notes = _answer(part)
        if lead and question:
            yield question.strip(), (answer, notes)
        question = following


def _answer(part: str) -> tuple[str, str]:
    """The answer and the notes beside it; what a preview showed is no answer."""
    answer, noted, notes = part.strip().rstrip(".").partition(_NOTES)
    answer = answer.partition(_PREVIEW)[0]
    return answer.removesuffix('"').strip(), notes.strip().removesuffix('"').strip() if noted else ""


def _chosen(answer: str | tuple[str, ...], options: Sequence[Option]) -> tuple[str, ...]:
    """Labels that were chosen, in order; other words of the answer stay together as one item."""
    if not isinstance(answer, str):
        return answer
    labels = sorted((option.label for option in options), key=len, reverse=True)
    chosen, rest = [], answer.strip()
    while rest:
        label = next((label for label in labels if rest == label or rest.startswith(label + ", ")), "")
        if not label:
            break
        chosen.append(label)
        rest = rest[len(label) + 2 :].strip()
    return (*chosen, rest) if rest else tuple(chosen)


def _question(choice: Choice) -> str:
    lines = [f"Question: {choice.question}"]
    if choice.options:
        lines.append("Options offered:")
    lines.extend(f"- {o.label}: {o.description}" if o.description else f"- {o.label}" for o in choice.options)
    return "\n".join(lines)


def _answer_text(choice: Choice) -> str:
    text = f"{_question(choice)}\nThe user chose: {', '.join(choice.chosen)}"
    return f"{text}\nThe user added: {choice.words}" if choice.words else text
