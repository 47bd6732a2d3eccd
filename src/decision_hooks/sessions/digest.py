"""A session as the text that a model is to find decisions in: masked, within a budget, what is left out is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from decision_hooks.sessions.digest_budget import MARK, Piece, Share, shares
from decision_hooks.sessions.model import Entry, Session
from decision_hooks.text.cutting import head, tail

_SHOWN = 300  # characters of a tool's input and of its result
_MARGIN = 16_384  # characters around a cut that the mask sees too, so that it knows a secret that is cut
_CONTEXT = 8_000
_SUMMARY = 150
_LABELS = {"plan": "(plan) ", "answer": "(answer) ", "thinking": "(thinking) "}


class Context(NamedTuple):
    """What came before the part and was judged already: needed to understand it, no source of decisions."""

    first_request: str = ""
    titles: tuple[str, ...] = ()
    before_assistant: str = ""
    before_user: str = ""


NO_CONTEXT = Context()


class Digest(NamedTuple):
    """The text, the characters of the session that are not in it, and the number of typed requests."""

    text: str
    left_out: int
    requests: int


def render(
    session: Session,
    *,
    mask: Callable[[str], str],
    budget: int = 120_000,
    context: Context = NO_CONTEXT,
) -> Digest:
    """Write a digest of at most ``budget`` characters; each text is masked before it is cut."""
    before = _context(context, mask, min(_CONTEXT, budget // 4))
    texts = _Texts(session.entries, mask)
    requests = sum(entry.kind == "user" for entry in session.entries)
    room = budget - len(before)
    if sum(piece.cost for piece in texts.pieces) > room:
        room -= _SUMMARY
    text, left_out = _render(texts, shares(texts.pieces, room), before)
    for _ in range(4):
        if len(text) <= budget:
            break
        room -= len(text) - budget + MARK  # masking has made it longer
        text, left_out = _render(texts, shares(texts.pieces, room), before)
    return Digest(head(text, budget), left_out + max(0, len(text) - budget), requests)


def _render(texts: _Texts, kept: Sequence[Share], before: str) -> tuple[str, int]:
    lines: list[str] = []
    speaker, left_out = "", 0
    for number, (entry, piece, share) in enumerate(zip(texts.entries, texts.pieces, kept, strict=True)):
        left_out += piece.size - share.kept
        if not share.kept:
            continue
        now = _speaker(entry)
        if now != speaker:
            lines.append(f"\n{now}" if lines else now)
            speaker = now
        lines.append(_label(entry) + texts.shown(number, share))
    summary = (
        f"[{left_out:,} characters of the session are left out: tool results, tool inputs and thinking first, "
        "then the middle]\n\n"
        if left_out
        else ""
    )
    return before + summary + "\n".join(lines), left_out


class _Texts:
    """The entries of a session; a text is masked when it is first shown."""

    def __init__(self, entries: Sequence[Entry], mask: Callable[[str], str]) -> None:
        self.entries = entries
        self.pieces = [_piece(entry, entries[n - 1] if n else None) for n, entry in enumerate(entries)]
        self._mask = mask
        self._whole: dict[int, str] = {}

    def shown(self, number: int, share: Share) -> str:
        """A text with its share of characters, masked first."""
        entry, piece = self.entries[number], self.pieces[number]
        if entry.kind in ("tool", "result"):
            return head(self._masked(number, entry.text[:_MARGIN]), _SHOWN)
        if share.kept >= piece.size:
            return self._masked(number, entry.text)
        if piece.size <= 4 * _MARGIN:
            masked = self._masked(number, entry.text)
            first, last = masked, masked
        else:
            first = self._mask(entry.text[: share.head + _MARGIN]) if share.head else ""
            last = self._mask(entry.text[-share.tail - _MARGIN :]) if share.tail else ""
        mark = f"[… {piece.size - share.kept:,} characters left out …]"
        parts = (head(first, share.head).rstrip("\n"), mark, tail(last, share.tail).lstrip("\n"))
        return "\n".join(part for part in parts if part)

    def _masked(self, number: int, text: str) -> str:
        if number not in self._whole:
            self._whole[number] = self._mask(text)
        return self._whole[number]


def _piece(entry: Entry, before: Entry | None) -> Piece:
    size = min(len(entry.text), _SHOWN) if entry.kind in ("tool", "result") else len(entry.text)
    speaker = _speaker(entry)
    heading = 0 if before and _speaker(before) == speaker else len(speaker) + 2
    return Piece(entry.kind, size, len(_label(entry)) + 1 + heading)


def _speaker(entry: Entry) -> str:
    return "[user]" if entry.kind in ("user", "answer") else "[assistant]"


def _label(entry: Entry) -> str:
    if entry.kind in ("tool", "result"):
        return f"({entry.kind} {head(entry.tool, 80)}) " if entry.tool else f"({entry.kind}) "
    return _LABELS.get(entry.kind, "")


# -- context


def _context(context: Context, mask: Callable[[str], str], budget: int) -> str:
    """The block of what was judged already, at most ``budget`` characters with its last, empty lines."""
    begin = "[context: already judged, take no decision from it]"
    end = "[end of context]\n\n"
    room = budget - len(begin) - len(end) - 200
    if room < 200 or context == NO_CONTEXT:
        return ""
    parts = [begin]
    titles = _titles(context.titles, mask, room // 3)
    first = _ends(context.first_request, mask, room // 5)
    user = "" if context.before_user == context.first_request else context.before_user
    user = _ends(user, mask, room // 5)
    rest = room - len(titles) - len(first) - len(user)
    for heading, text in (
        ("First request of the session:", first),
        ("Decisions already written:", titles),
        ("The user's words before this part:", user),
        ("The assistant's last message before this part:", _ends(context.before_assistant, mask, rest)),
    ):
        if text:
            parts.append(f"{heading}\n{text}\n")
    return "\n".join([*parts, end]) if len(parts) > 1 else ""


def _titles(titles: Sequence[str], mask: Callable[[str], str], room: int) -> str:
    """The newest titles that have room, oldest first."""
    lines: list[str] = []
    for title in reversed(titles):
        line = "- " + head(mask(title[:_MARGIN]), 200).replace("\n", " ")
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    return "\n".join(reversed(lines))


def _ends(text: str, mask: Callable[[str], str], room: int) -> str:
    """A text with its beginning and, larger, its end: what was offered last stands there."""
    if len(text) > 4 * _MARGIN:
        text = f"{mask(text[: 2 * _MARGIN])[:_MARGIN]}\n{mask(text[-2 * _MARGIN :])[-_MARGIN:]}"
    else:
        text = mask(text)
    if len(text) <= room:
        return text.strip()
    mark = "\n[…]\n"
    first = head(text, room // 4)
    return f"{first.rstrip()}{mark}{tail(text, room - len(mark) - len(first)).lstrip()}".strip()
