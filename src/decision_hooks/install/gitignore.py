"""Our block in a project's ``.gitignore``: added at the end, taken out again, nothing else touched. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

BEGIN = "# decision-hooks: begin (local files of the Stop hooks, do not commit)"
END = "# decision-hooks: end"


class Rule(NamedTuple):
    """A line, and the paths that it should cover: it is not needed where git ignores all of them."""

    line: str
    samples: tuple[str, ...]
    tracked: str = ""  # a part of "/path\n": where git tracks such a file, the line is not added


RULES = (
    Rule("node_modules/", ("node_modules/x",), "/node_modules/"),
    Rule("dist/", ("dist/x",), "/dist/"),
    Rule("*.secret", ("x.secret",), ".secret\n"),
    Rule(
        ".claude/hooks/*.log",
        (".claude/hooks/capture-decisions.log", ".claude/hooks/normalize-decisions.log"),
    ),
    Rule(".claude/hooks/.normalize-state", (".claude/hooks/.normalize-state",)),
    Rule(".claude/hooks/.normalize.lock", (".claude/hooks/.normalize.lock",)),
    Rule(".claude/scheduled_tasks.lock", (".claude/scheduled_tasks.lock",)),
)
OWN = tuple(path for rule in RULES for path in rule.samples if path.startswith(".claude/hooks/"))


def needed(
    data: bytes, ignored: Callable[[list[str]], Collection[str]], tracked: Callable[[], str]
) -> tuple[str, ...]:
    """The lines that a project lacks; a line that is there already counts, whatever git says.

    ``ignored`` gives those of some paths that git ignores, ``tracked`` the files of git, one a line; each is
    asked once at most.
    """
    there = {line.strip() for line in _text(data).splitlines()}
    rules = [rule for rule in RULES if rule.line not in there]
    covered = set(ignored([path for rule in rules for path in rule.samples])) if rules else set()
    rules = [rule for rule in rules if not covered.issuperset(rule.samples)]
    files = tracked() if any(rule.tracked for rule in rules) else ""
    listed = "/" + files.replace("\n", "\n/")
    return tuple(rule.line for rule in rules if not rule.tracked or rule.tracked not in listed)


def with_lines(data: bytes, lines: Sequence[str]) -> bytes:
    """The file with these lines in our block; unchanged when there are none to add."""
    if not lines:
        return data
    text = _text(data)
    newline = "\r\n" if "\r\n" in text else "\n"
    body = "".join(line + newline for line in lines)
    parts = text.splitlines(keepends=True)
    end = _position(parts, END)
    if _position(parts, BEGIN) is not None and end is not None:
        return _bytes("".join(parts[:end]) + body + "".join(parts[end:]))
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return _bytes(f"{text}{gap}{BEGIN}{newline}{body}{END}{newline}")


def without_block(data: bytes) -> bytes:
    """The file without our block; lines in it that are not ours stay."""
    parts = _text(data).splitlines(keepends=True)
    begin, end = _position(parts, BEGIN), _position(parts, END)
    if begin is None or end is None or end < begin:
        return data
    ours = {rule.line for rule in RULES}
    kept = [part for part in parts[begin + 1 : end] if part.strip() not in ours]
    if begin and not kept and not parts[begin - 1].strip():
        begin -= 1  # the empty line that came with the block
    return _bytes("".join(parts[:begin] + kept + parts[end + 1 :]))


def _position(parts: Sequence[str], mark: str) -> int | None:
    return next((at for at, part in enumerate(parts) if part.strip() == mark), None)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
