"""Results of Claude Code's tools; some hold what the person decided: answers, judged plans, rejections."""

from __future__ import annotations

import re

from decision_hooks.hosts.claude import questions
from decision_hooks.hosts.edit_tools import edited_paths
from decision_hooks.hosts.fields import NOTHING, Record, blocks, clean, mapping, string, text_of
from decision_hooks.hosts.gathering import Call, Gathering
from decision_hooks.hosts.markup import without_reminders
from decision_hooks.sessions.model import Choice

_AGENTS = ("Task", "Agent")
_FRAME = "The report follows:\n"
_TRAILER = re.compile(r"\nagentId: [^\n]*(?:\n<usage>.*)?\Z", re.DOTALL)
_SAID = "the user said:"
_NOTE = "\n\nNote: The user's next message may contain"


def is_failure(block: Record, record: Record) -> bool:
    """Whether a result is an error or a refusal: the tool changed nothing."""
    if block.get("is_error") is True or string(record, "toolDenialKind"):
        return True
    return string(record, "toolUseResult").startswith("Error:")


def take(block: Record, record: Record, time: float, uuid: str, into: Gathering) -> None:
    """Take one ``tool_result`` block of a user record."""
    identity = string(block, "tool_use_id")
    call = into.called(identity)
    text = without_reminders(clean(text_of(block.get("content")))).strip()
    failed = is_failure(block, record)
    if failed:
        into.fail(identity)
    reason = _reason(text) if failed else ""
    result = mapping(record, "toolUseResult")
    if call.name == "ExitPlanMode" or (not call.name and text.startswith("User has approved your plan")):
        _plan(call, result, text, failed, reason, time, uuid, into)
    elif questions.is_answer(call, result, text) and not failed:
        questions.take(call, result, text, time, uuid, into)
    elif reason:
        into.say(
            "answer",
            f"The user rejected {_described(call, into)} and said: {reason}",
            time,
            uuid,
            tool=call.name,
        )
    else:
        _unknown_edit(call, record, identity, uuid, into)
        report = _report(result, text) if call.name in _AGENTS and not failed else ""
        into.say("report" if report else "result", report or text, time, uuid, tool=call.name, failed=failed)


def _report(result: Record, text: str) -> str:
    """What a subagent reported, without what the host writes around it; "" when it was only started."""
    if string(result, "status") == "async_launched" or text.startswith("Async agent launched"):
        return ""
    said = [string(block, "text") for block in blocks(result.get("content"))]
    said = [part for part in said if not part.startswith("<tools-used-before-summary>")]
    if not any(part.strip() for part in said):
        said = [_TRAILER.sub("", text.partition(_FRAME)[2] or text)]
    return clean("\n".join(said)).strip()


def _reason(text: str) -> str:
    """The person's words in a rejection, "" when there are none."""
    before, lead, said = text.partition(_SAID)
    if not lead or len(before) > 1000:
        return ""
    return said.partition(_NOTE)[0].strip()


def _described(call: Call, into: Gathering) -> str:
    if call.name == "AskUserQuestion":
        return "the questions\n" + questions.offered(call.value) + "\n"
    paths = edited_paths(call.name, call.value, into.edit_tools)
    command = string(call.value, "command") if isinstance(call.value, dict) else ""
    detail = " ".join(paths) or command[:200]
    return f"{call.name or 'a tool call'}{f' ({detail})' if detail else ''}"


def _plan(
    call: Call, result: Record, text: str, failed: bool, reason: str, time: float, uuid: str, into: Gathering
) -> None:
    value = call.value if isinstance(call.value, dict) else NOTHING
    proposed, approved = (clean(plan).strip() for plan in (string(value, "plan"), string(result, "plan")))
    if failed:
        rejected = f"The user sent the plan back and said: {reason}"
        answer = rejected if reason else "The user did not approve the plan."
        into.say("answer", answer, time, uuid, tool="ExitPlanMode")
        into.choose(Choice("plan-rejected", proposed or approved, (), (), reason, time), uuid)
        return
    if not approved:
        approved = text.partition("## Approved Plan")[2].partition("\n")[2].strip() or proposed
    into.say("plan", approved if approved != proposed else "", time, uuid)
    edited = " as edited by the user" if proposed and approved != proposed else ""
    into.say("answer", f"The user approved the plan{edited}.", time, uuid, tool="ExitPlanMode")
    into.choose(Choice("plan-approved", approved, (), (), "", time), uuid)


def _unknown_edit(call: Call, record: Record, identity: str, uuid: str, into: Gathering) -> None:
    """A done edit whose call was not seen, or of a tool that is not known: only its result has a patch."""
    result = mapping(record, "toolUseResult")
    if call.name not in into.edit_tools and isinstance(result.get("structuredPatch"), list):
        into.edit((string(result, "filePath"),), call=identity, uuid=uuid)
