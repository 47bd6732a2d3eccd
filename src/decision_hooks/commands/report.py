"""Wording and layout that the reports of the subcommands share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from decision_hooks.system.runlog import one_line
from decision_hooks.text.controls import visible


def columns(rows: Iterable[Sequence[str]], indent: str = "") -> list[str]:
    """Rows of cells as aligned lines; the last cell of a row is not padded."""
    table = [[one_line(cell) for cell in row] for row in rows]
    most = max((len(row) for row in table), default=0)
    widths = [max((len(row[at]) for row in table if len(row) > at + 1), default=0) for at in range(most)]
    lines = []
    for row in table:
        padded = [cell.ljust(widths[at]) for at, cell in enumerate(row[:-1])]
        lines.append((indent + "  ".join([*padded, *row[-1:]])).rstrip())
    return lines


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: ``1 draft``, ``2 drafts``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def shortened(text: str, most: int) -> str:
    """A text on one line, cut at ``most`` characters with an ellipsis."""
    line = one_line(" ".join(text.split()))
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def minute(iso: str) -> str:
    """An ISO time as a person reads it: the day and the minute."""
    return iso[:16].replace("T", " ")


def json_text(value: object) -> str:
    """A value as indented JSON for a machine to read, control characters in its texts as on a terminal."""
    import json

    return json.dumps(_visible(value), ensure_ascii=False, indent=2)


def _visible(value: object) -> object:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {_visible(key): _visible(item) for key, item in value.items()}
    return [_visible(item) for item in value] if isinstance(value, (list, tuple)) else value
