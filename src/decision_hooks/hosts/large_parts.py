"""What is looked for in the bulk of a very large part, as bytes: requests, answers and edits of each host."""

from __future__ import annotations

from typing import NamedTuple

from decision_hooks.hosts import line_filter, transcript

RESULTS = 64 * 1024  # bytes after a call in which its failure is looked for


class Needles(NamedTuple):
    """Bytes of which a line holds one when it may be what is looked for."""

    edits: tuple[bytes, ...]
    requests: tuple[bytes, ...]


_OF_HOST = {
    "claude": Needles((b'_path"',), (b'"user"', b'"queue', b'"AskUserQuestion"', b'"ExitPlanMode"')),
    "cursor": Needles((b'path"', b"Begin Patch"), (b'"user"',)),
    "pi": Needles((b'"path"',), (b'"user"',)),
    "codex": Needles((b"atch", b"FileChange"), (b'"user"', b"_message", b"UserMessage")),
}
_OF_ANY = Needles((b'path"', b"atch", b"FileChange"), (b'"user"', b'"queue', b"_message"))


def needles(first_line: bytes) -> Needles:
    """The needles for the host whose file begins with that line."""
    return _OF_HOST.get(transcript.parse([first_line]).host, _OF_ANY)


def is_request(line: bytes) -> bool:
    """Whether a line may hold what a person typed or judged, or the question that was put."""
    if b'"tool_result"' in line:
        return (
            b"answered your questions" in line
            or b"approved your plan" in line
            or b"the user said:" in line
            or b'"answers"' in line
        )
    if b'"AskUserQuestion"' in line or b'"ExitPlanMode"' in line:
        return True
    return b'"toolResult"' not in line and line_filter.worth_reading(line)


def is_edit(line: bytes) -> bool:
    """Whether a line may be a call of an edit tool, or the event of a patch."""
    return line_filter.edit_like(line)


def failures(following: bytes) -> list[bytes]:
    """The lines after a call that may be the results of calls that failed; to be sought within ``RESULTS``."""
    return [line for line in following.split(b"\n") if _is_failure(line)]


def _is_failure(line: bytes) -> bool:
    return (b"rror" in line or b"_output" in line) and line_filter.edit_like(line)
