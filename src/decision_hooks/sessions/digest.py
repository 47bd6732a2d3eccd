"""Renders a session as prompt text: masked, within a budget, with a note on omissions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from decision_hooks.sessions.marks import without_marks
from decision_hooks.sessions.model import Entry, Session
from decision_hooks.text.cutting import head, one_line, tail

_SHOWN = 300  # characters of a tool's input and of its result
_MARGIN = 16_384  # characters around a cut that the mask sees too, so that it knows a secret that is cut
_CONTEXT = 8_000
_SUMMARY = 150
_MARK = 40  # characters that the mark of a cut costs at most
_LONG = 2000  # requests over this keep head and tail
_SHORT = 200  # characters that a request in the middle keeps before it goes
_LEAST = 200  # a smaller part of a cut text says nothing

_GOES_FIRST = ("result", "tool", "thinking")
_REQUESTS = ("user", "answer", "plan")
_LABELS = {"plan": "(plan) ", "answer": "(answer) ", "thinking": "(thinking) "}


class Context(NamedTuple):
    """What came before the part and was judged already: it helps to understand the part."""

    first_request: str = ""
    titles: tuple[str, ...] = ()
    before_assistant: str = ""
    before_user: str = ""


NO_CONTEXT = Context()


def render(
    session: Session,
    *,
    mask: Callable[[str], str],
    mask_all: Callable[[Sequence[str]], Sequence[str]] | None = None,
    budget: int = 120_000,
    context: Context = NO_CONTEXT,
) -> str:
    """Write a digest of at most ``budget`` characters; each text is masked before it is cut.

    ``mask_all`` masks many texts in one pass, each as ``mask`` does.
    """
    before = _context(context, mask, min(_CONTEXT, budget // 4))
    entries, masked = session.entries, dict[str, str]()
    pieces = [_piece(entry, entries[n - 1] if n else None) for n, entry in enumerate(entries)]
    room = budget - len(before)
    if sum(piece.cost for piece in pieces) > room:
        room -= _SUMMARY
    for _ in range(5):
        parts = list(zip(entries, pieces, shares(pieces, room), strict=True))
        missing = [text for text in _texts(parts) if text not in masked]
        masked.update(zip(missing, mask_all(missing) if mask_all else map(mask, missing), strict=True))
        text = before + _render(parts, masked.__getitem__)
        if len(text) <= budget:
            break
        room -= len(text) - budget + _MARK  # masking has made it longer
    return head(text, budget)


def _texts(parts: Sequence[tuple[Entry, Piece, Share]]) -> Iterable[str]:
    """Each text once that is masked for these parts."""
    texts: dict[str, str] = {}
    for entry, piece, share in parts:
        if share.kept:
            _shown(entry, piece, share, lambda text: texts.setdefault(text, ""))
    return texts


def _render(parts: Sequence[tuple[Entry, Piece, Share]], mask: Callable[[str], str]) -> str:
    lines: list[str] = []
    speaker, left_out = "", 0
    for entry, piece, share in parts:
        left_out += piece.size - share.kept
        if not share.kept:
            continue
        now = _speaker(entry)
        if now != speaker:
            lines.append(f"\n{now}" if lines else now)
            speaker = now
        lines.append(_label(entry) + _shown(entry, piece, share, mask))
    summary = (
        f"[{left_out:,} characters of the session are left out: tool results, tool inputs and thinking first, "
        "then the middle]\n\n"
        if left_out
        else ""
    )
    return summary + "\n".join(lines)


def _shown(entry: Entry, piece: Piece, share: Share, mask: Callable[[str], str]) -> str:
    """A text with its share of characters, masked before it is cut."""
    if entry.kind in ("tool", "result"):
        return without_marks(head(mask(entry.text[:_MARGIN]), _SHOWN))
    if share.kept >= piece.size:
        return without_marks(mask(entry.text))
    if piece.size <= 4 * _MARGIN:
        first = last = mask(entry.text)
    else:
        first = mask(entry.text[: share.head + _MARGIN]) if share.head else ""
        last = mask(entry.text[-share.tail - _MARGIN :]) if share.tail else ""
    mark = f"[… {piece.size - share.kept:,} characters left out …]"
    parts = (head(first, share.head).rstrip("\n"), mark, tail(last, share.tail).lstrip("\n"))
    return "\n".join(without_marks(part) for part in parts if part)


def _piece(entry: Entry, before: Entry | None) -> Piece:
    size = min(len(entry.text), _SHOWN) if entry.kind in ("tool", "result") else len(entry.text)
    speaker = _speaker(entry)
    heading = 0 if before and _speaker(before) == speaker else len(speaker) + 2
    return Piece(entry.kind, size, len(_label(entry)) + 1 + heading)


def _speaker(entry: Entry) -> str:
    return "[user]" if entry.kind in ("user", "answer") else "[assistant]"


def _label(entry: Entry) -> str:
    if entry.kind in ("tool", "result"):
        return f"({entry.kind} {head(one_line(entry.tool), 80)}) " if entry.tool else f"({entry.kind}) "
    return _LABELS.get(entry.kind, "")


# -- context


def _context(context: Context, mask: Callable[[str], str], budget: int) -> str:
    """The block of the context, at most ``budget`` characters with its last, empty lines."""
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
            parts.append(f"{heading}\n{without_marks(text)}\n")
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
    """The beginning of a text and, larger, its end, where the last offer is."""
    if len(text) > 4 * _MARGIN:
        text = f"{mask(text[: 2 * _MARGIN])[:_MARGIN]}\n{mask(text[-2 * _MARGIN :])[-_MARGIN:]}"
    else:
        text = mask(text)
    if len(text) <= room:
        return text.strip()
    mark = "\n[…]\n"
    first = head(text, room // 4)
    return f"{first.rstrip()}{mark}{tail(text, room - len(mark) - len(first)).lstrip()}".strip()


# -- the budget: lengths in, shares out


class Piece(NamedTuple):
    """A kind of entry and the characters that it takes."""

    kind: str
    size: int
    around: int = 0  # characters of its label, its line end, and the heading of a turn that it begins

    @property
    def cost(self) -> int:
        """Characters with label, line end and heading."""
        return self.size + self.around


class Share(NamedTuple):
    """How many characters of the beginning and the end of a piece are kept; ``head`` is its size when all is."""

    head: int
    tail: int = 0

    @property
    def kept(self) -> int:
        """Characters that are kept."""
        return self.head + self.tail


_NOTHING = Share(0)


def shares(pieces: Sequence[Piece], budget: int) -> list[Share]:
    """The share of each piece, so that all together cost at most ``budget`` if possible.

    Tool results, tool inputs and thinking go first, oldest first; then assistant text from the middle, down to
    half the budget; then long requests keep head and tail; then those in the middle keep little, then go.
    """
    given = [Share(piece.size) for piece in pieces]
    excess = sum(piece.cost for piece in pieces) - budget
    for number in (number for kind in _GOES_FIRST for number in _of_kinds(pieces, (kind,))):
        if excess <= 0:
            return given
        given[number] = _NOTHING
        excess -= pieces[number].cost
    if excess <= 0:
        return given
    texts, requests = _of_kinds(pieces, ("assistant",)), _of_kinds(pieces, _REQUESTS)
    asked = sum(pieces[number].cost for number in requests)
    _cut_middle(pieces, texts, max(budget - asked, budget // 2), given)
    kept = sum(_cost(pieces[number], given[number]) for number in texts)
    _shorten(pieces, requests, budget - kept, given)
    return given


def _of_kinds(pieces: Sequence[Piece], kinds: Sequence[str]) -> list[int]:
    return [number for number, piece in enumerate(pieces) if piece.kind in kinds]


def _cost(piece: Piece, share: Share) -> int:
    if not share.kept:
        return 0
    return share.kept + piece.cost - piece.size + (_MARK if share.kept < piece.size else 0)


def _cut_middle(pieces: Sequence[Piece], texts: Sequence[int], room: int, given: list[Share]) -> None:
    """Take the middle out of the stream of texts; those of ordinary length go whole rather than in part."""
    total = sum(pieces[number].cost for number in texts)
    if total <= room:
        return
    room = max(0, room - 2 * _MARK)
    begin, end = (room + 1) // 2, total - room // 2
    place = 0
    for number in texts:
        piece = pieces[number]
        first, last = place, place + piece.cost
        place = last
        if last <= begin or first >= end:
            continue
        fixed = piece.cost - piece.size
        before = min(begin - first, piece.size) - fixed
        after = min(last - end, piece.size) - (fixed if before < _LEAST else 0)
        share = Share(before if before >= _LEAST else 0, after if after >= _LEAST else 0)
        given[number] = share if piece.size > _LONG and share.kept < piece.size else _NOTHING


def _shorten(pieces: Sequence[Piece], requests: Sequence[int], room: int, given: list[Share]) -> None:
    def excess() -> int:
        return sum(_cost(pieces[number], given[number]) for number in requests) - room

    if excess() <= 0:
        return
    level = _level([pieces[number] for number in requests], room)
    for number in requests:
        if pieces[number].size > level:
            given[number] = Share(level - level // 2, level // 2)
    left = excess()
    for share in (Share(_SHORT), _NOTHING):
        for number in _from_the_middle(requests):
            if left <= 0:
                return
            if share is _NOTHING or given[number].kept > share.kept + _MARK:
                left += _cost(pieces[number], share) - _cost(pieces[number], given[number])
                given[number] = share


def _level(requests: Sequence[Piece], room: int) -> int:
    """The most characters, not under _LONG, that a long request can keep when all are to fit."""
    low, high = _LONG, max((piece.size for piece in requests), default=_LONG)
    while low < high:
        level = (low + high + 1) // 2
        cost = sum(_cost(piece, Share(min(piece.size, level))) for piece in requests)
        low, high = (level, high) if cost <= room else (low, level - 1)
    return low


def _from_the_middle(numbers: Sequence[int]) -> list[int]:
    """The numbers from the middle to both ends."""
    middle = (len(numbers) - 1) / 2
    order = sorted(range(len(numbers)), key=lambda place: abs(place - middle))
    return [numbers[place] for place in order]
