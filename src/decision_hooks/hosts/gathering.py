"""Gathers what the records of one transcript say, whatever its host, into one Session."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from typing import NamedTuple

from decision_hooks.hosts.edit_tools import changes, spoken
from decision_hooks.hosts.fields import clean
from decision_hooks.sessions.model import Choice, Edit, Entry, Session


class Call(NamedTuple):
    """A tool call: its name and its input as the host wrote them."""

    name: str
    value: object


class _Done(NamedTuple):
    """A call that changes files, unless its result turns out to be an error."""

    call: str
    uuid: str
    edits: tuple[Edit, ...]


class Gathering:
    """Collects entries, edits and choices; ``session`` leaves out failed edits and rewound branches."""

    def __init__(self, host: str, edit_tools: Collection[str]) -> None:
        self.host = host
        self.edit_tools = edit_tools
        self.cwd = ""
        self.line = -1  # that is read now
        self._last_time = 0.0
        self._entries: list[Entry] = []
        self._texts: dict[
            tuple[str, str], tuple[int, int]
        ] = {}  # message, kind -> its entry, begin of its last text
        self._done: list[_Done] = []
        self._calls: dict[str, Call] = {}
        self._entry_of: dict[str, list[int]] = {}  # call -> places of its entries
        self._failed: set[str] = set()
        self._choices: list[tuple[str, Choice]] = []
        self._uuids: dict[str, None] = {}
        self._parents: dict[str, str] = {}
        self._typed: list[tuple[str, str]] = []  # (parent, prompt) of typed prompts

    # -- records

    def seen(self, time: float, cwd: str = "") -> None:
        """Note when and where a record was written."""
        self._last_time = max(self._last_time, time)
        self.cwd = cwd or self.cwd

    def link(self, uuid: str, parent: str) -> None:
        """Note a record's place in the tree; the first record with an id keeps it."""
        if uuid:
            self._parents.setdefault(uuid, parent)

    def is_new(self, uuid: str) -> bool:
        """Whether a conversation record was not met before; a record without an id always is new."""
        if not uuid:
            return True
        if uuid in self._uuids:
            return False
        self._uuids[uuid] = None
        return True

    def passed(self, number: int) -> None:
        """Note lines that were not read."""
        self._entries.append(Entry("passed", str(number), line=self.line))

    def typed(self, uuid: str, parent: str) -> None:
        """Note a prompt that a person typed: two with one parent are an original and its rewind."""
        if uuid and parent:
            self._typed.append((parent, uuid))

    # -- what they say

    def say(
        self,
        kind: str,
        text: str,
        time: float,
        uuid: str,
        *,
        tool: str = "",
        message: str = "",
        call: str = "",
        failed: bool = False,
    ) -> None:
        """Add an entry; texts of one message that follow each other become one. An empty text adds none.

        A text that is written again under its message, longer each time, counts once, in its last form. ``call`` is
        the id of the tool call that an entry is: whether it failed is known by its result.
        """
        text = clean(text).strip()
        if not text:
            return
        number, begin = self._texts.get((message, kind), (-1, 0)) if message else (-1, 0)
        if number >= 0:
            there = self._entries[number]
            last = there.text[begin:]
            if text.startswith(last) or kind in ("tool", "edit"):
                self._entries[number] = there._replace(text=there.text[:begin] + text)
                return
            if last.startswith(text):
                return
            if number == len(self._entries) - 1:
                self._entries[number] = there._replace(text=f"{there.text}\n{text}")
                self._texts[message, kind] = (number, len(there.text) + 1)
                return
        if message:
            self._texts[message, kind] = (len(self._entries), 0)
        if call:
            self._entry_of.setdefault(call, []).append(len(self._entries))
        self._entries.append(Entry(kind, text, time, uuid, clean(tool), failed, self.line))

    def act(
        self, name: str, value: object, time: float, uuid: str, *, call: str = "", message: str = ""
    ) -> None:
        """Add a tool call: an entry for each file that it changes, else one with its command or its input."""
        changed = changes(name, value, self.edit_tools)
        for number, (path, rows) in enumerate(changed):
            again = f"{message} {number}" if message else ""
            self.say("edit", f"{path}\n{rows}", time, uuid, tool=name, message=again, call=call)
        if not changed:
            self.say("tool", spoken(value), time, uuid, tool=name, message=message, call=call)

    def choose(self, choice: Choice, uuid: str) -> None:
        """Add a choice."""
        self._choices.append((uuid, choice._replace(uuid=uuid, line=self.line)))

    def edit(self, paths: tuple[str, ...], *, call: str = "", uuid: str = "") -> None:
        """Add files that a call changes."""
        edits = tuple(Edit(clean(path), clean(self.cwd)) for path in paths if clean(path).strip())
        if edits:
            self._done.append(_Done(call, uuid, edits))

    def call(self, call: str, name: str, value: object) -> None:
        """Note a tool call, for its result."""
        if call:
            self._calls[call] = Call(name, value)

    def called(self, call: str) -> Call:
        """The tool call of a result, without a name when it was not seen."""
        return self._calls.get(call, Call("", None))

    def fail(self, call: str) -> None:
        """The result of a call is an error or a refusal: it changed nothing."""
        self._failed.add(call)

    # -- the end

    def session(self, bad_lines: int) -> Session:
        """The session read so far."""
        gone = self._abandoned()
        for place in (place for call in self._failed for place in self._entry_of.get(call, ())):
            self._entries[place] = self._entries[place]._replace(failed=True)
        edits = (edit for done in self._done if self._is_done(done, gone) for edit in done.edits)
        return Session(
            host=self.host,
            entries=tuple(entry for entry in self._entries if entry.uuid not in gone),
            edits=tuple(dict.fromkeys(edits)),
            choices=tuple(choice for uuid, choice in self._choices if uuid not in gone),
            cwd=clean(self.cwd),
            uuids=tuple(clean(uuid) for uuid in self._uuids),
            last_time=self._last_time,
            bad_lines=bad_lines,
        )

    def _is_done(self, done: _Done, gone: set[str]) -> bool:
        return not (done.call and done.call in self._failed) and done.uuid not in gone

    def _abandoned(self) -> set[str]:
        """Ids at and below each typed prompt that was typed again under the same parent; cycles end."""
        following: dict[str, str] = {}
        heads: list[tuple[str, str, str]] = []
        for parent, uuid in reversed(self._typed):
            if parent in following:
                heads.append((uuid, parent, following[parent]))
            following[parent] = uuid
        gone: set[str] = set()
        if not heads:
            return gone
        tree = _Tree(self._parents)
        for head, stem, again in heads:
            below = [head, *tree.strays(head, again)]
            while below:
                uuid = below.pop()
                if uuid not in gone and uuid != stem and uuid != again:  # a cycle leads back to these
                    gone.add(uuid)
                    below.extend(tree.children.get(uuid, ()))
        return gone


class _Tree:
    """Records by their parent, in file order."""

    def __init__(self, parents: dict[str, str]) -> None:
        self.children: dict[str, list[str]] = {}
        self._order = {uuid: number for number, uuid in enumerate(parents)}
        self._strays: list[tuple[int, str]] = []
        for uuid, parent in parents.items():
            self.children.setdefault(parent, []).append(uuid)
            if parent and parent not in parents:
                self._strays.append((self._order[uuid], uuid))

    def strays(self, first: str, last: str) -> list[str]:
        """Records between a prompt and its rewind whose own parent was not read."""
        begin = bisect_left(self._strays, (self._order.get(first, 0), ""))
        end = bisect_left(self._strays, (self._order.get(last, 0), ""))
        return [uuid for _, uuid in self._strays[begin:end] if uuid != first]
