"""What capture remembers between stops: positions, pending parts, the outbox, the ids already captured."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from decision_hooks.errors import FolderError
from decision_hooks.state.values import GivenUp, Outbox, Pending, Position
from decision_hooks.system import files, locking, stored
from decision_hooks.system.project import Project
from decision_hooks.text.fingerprint import new_hash

DAY = 86400.0
POSITION_DAYS, PENDING_DAYS = 60, 7
_SWEPT = 500  # positions that one look at the old ones reads
_STOPS = "stops"
_MOST_STOPS = 256 * 1024  # bytes
_MOST_SEEN = 512 * 1024  # bytes of a file of ids


class CaptureState:
    """The state folder of one project, as capture uses it; every write is atomic."""

    def __init__(self, project: Project) -> None:
        self._project = project

    # -- positions

    def position(self, key: str, path: str, now: float) -> Position:
        """The stored position of a transcript, or a new one; a time in the future becomes now."""
        found = stored.read(Position, files.read_json(self._file("positions", key)))
        return found._replace(path=found.path or path, time=min(found.time, now)) if found else Position(path)

    def save_position(self, key: str, position: Position) -> None:
        """Store how far a transcript has been captured."""
        self._write("positions", key, position._asdict())

    # -- forgetting

    def forget_old(self, now: float) -> None:
        """Once a day remove leftovers, and positions over 60 days old whose transcripts are gone.

        As long as a transcript is there its position is needed, whatever the clock says. No more than some
        hundreds are looked at in a day: the next day goes on.
        """
        swept = files.read_json(self._project.state_file("swept")) or {}
        last, after = swept.get("time"), swept.get("after")
        if isinstance(last, (int, float)) and 0 <= now - last < DAY:
            return
        names = sorted(self._json_names("positions"))
        names = [name for name in names if name > after] if isinstance(after, str) else names
        paths = [self._project.state_file("positions", name) for name in names[:_SWEPT]]
        over = [path for path in paths if _is_over(path, now)]
        for path in [*over, *self._given_up_over(now), *self._leftovers(now)]:
            try:
                files.remove(path)
            except FolderError:  # capture goes on without the removal
                continue
        value = {"time": now, "after": names[_SWEPT - 1] if len(names) > _SWEPT else ""}
        try:
            self._shorten_stops()
            files.write_atomic(self._project.state_file("swept"), files.json_bytes(value))
        except FolderError:  # the next stop looks again
            pass

    def _given_up_over(self, now: float) -> Iterator[str]:
        """Parts that were given up, and are old for the second time: one look at a wrong clock removes none."""
        for name in self._json_names("given-up"):
            path = self._project.state_file("given-up", name)
            if _is_over(path, now):
                value = files.read_json(path) or {}
                if value.get("old_since"):
                    yield path
                else:
                    self._write("given-up", name.removesuffix(".json"), value | {"old_since": now})

    def _leftovers(self, now: float) -> Iterator[str]:
        for kind in ("", *files.names(self._project.state)):
            yield from files.leftovers(self._project.state_file(kind), now, DAY)

    # -- the order of stops: a line with the key of each, so that no clock is asked which came first

    def came_after(self, place: int) -> list[str]:
        """The keys of the stops after a place in the order, the first first."""
        data = files.read_bytes(self._project.state_file(_STOPS)) or b""
        data = data[place:] if place <= len(data) else data  # else it was begun anew since
        return list(dict.fromkeys(data.decode("utf-8", "replace").split()))

    def place(self) -> int:
        """The place of the newest stop of all; 0 without any."""
        return files.size_of(self._project.state_file(_STOPS))

    def _come(self, key: str) -> int:
        """Put a stop into the order; returns its place."""
        try:
            files.append(self._project.state_file(_STOPS), files.to_bytes(f"{key}\n"))
        except FolderError:  # without its place a part is taken at the next stop
            pass
        return self.place()

    def _shorten_stops(self) -> None:
        if self.place() > _MOST_STOPS:
            with self._pending_lock():
                files.write_atomic(self._project.state_file(_STOPS), b"")

    # -- pending parts

    @contextmanager
    def _pending_lock(self) -> Iterator[None]:
        from time import monotonic, sleep

        files.make_folder(self._project.state_file("pending"), 0o700)
        lock = locking.acquire(
            self._project.state_file("pending.lock"), seconds=5, now=monotonic, sleep=sleep
        )
        try:
            yield
        finally:
            if lock:
                locking.release(lock)

    def put(self, entry: Pending) -> Pending:
        """Store the newest stop of a transcript; a part that waits already keeps its tries and age.

        Returns it with its place in the order of stops.
        """
        with self._pending_lock():
            entry = entry._replace(place=self._come(entry.key))
            old = self.waiting(entry.key)
            if old:
                entry = entry._replace(
                    first=old.first,
                    tried=old.tried,
                    tries=old.tries,
                    tried_place=old.tried_place,
                    defect=old.defect,
                    defects=old.defects,
                )
            self._store(entry)
            return entry

    def pending(self, most: int = 200) -> list[Pending]:
        """Parts that wait, oldest first; at most so many of them are read, those that waited longest."""
        entries = filter(None, map(self.waiting, self.waiting_longest(most)))
        return sorted(entries, key=lambda entry: entry.first)

    def number_waiting(self) -> int:
        """How many parts wait."""
        return len(self._json_names("pending"))

    def waiting(self, key: str) -> Pending | None:
        """The part of that key; None when it does not wait, or its file holds something else."""
        entry = stored.read(Pending, files.read_json(self._file("pending", key)))
        return entry if entry and entry.key == key else None

    def waiting_longest(self, most: int) -> list[str]:
        """The keys of the parts that nobody has looked at for the longest time; reads none of them."""
        newest = files.modified(self._project.state_file(_STOPS)) or 0.0  # as the file system has it
        names = files.oldest(self._project.state_file("pending"), ".json", most, newest + DAY)
        return [name.removesuffix(".json") for name in names]

    def claim(self, key: str, now: float) -> Pending | None:
        """Count a try of a part, durably, before anything is spent on it; None when it is gone."""
        with self._pending_lock():
            entry = self.waiting(key)
            if entry:
                entry = entry._replace(tries=entry.tries + 1, tried=now, tried_place=self.place())
                self._store(entry)
            return entry

    def finish(self, entry: Pending) -> None:
        """Remove a captured part; a newer stop of it stays, with its tries at 0."""
        with self._pending_lock():
            there = self.waiting(entry.key)
            if there and there.serial != entry.serial:
                anew = there._replace(tries=0, tried=0.0, tried_place=0, first=there.stop)
                self._store(anew._replace(old_since=0.0, defect="", defects=0))
            else:
                files.remove(self._file("pending", entry.key))

    def put_back(self, entry: Pending, now: float, *, counts: bool, defect: str = "") -> None:
        """Let the part wait for a later stop; ``counts``: whether the try was spent on the part itself.

        ``defect``: of our program, which ended the try.
        """
        with self._pending_lock():
            there = self.waiting(entry.key)
            if there:
                tries = there.tries if counts else max(0, there.tries - 1)
                defects = there.defects + 1 if defect and defect == there.defect else bool(defect)
                there = there._replace(tries=tries, tried=now, tried_place=self.place())
                self._store(there._replace(defect=defect, defects=int(defects)))

    def defer(self, entry: Pending, *, old_since: float = 0.0) -> None:
        """Leave a part that cannot be taken now: the next looks are at other parts."""
        with self._pending_lock():
            there = self.waiting(entry.key)
            if there:
                self._store(there._replace(old_since=old_since))

    def put_aside(self, kind: str, key: str) -> str:
        """Move a stored value out of the way that may not be carried out; returns where it lies now."""
        aside = self._project.state_file("aside")
        files.make_folder(aside, 0o700)
        path = os.path.join(aside, f"{kind}-{key}.json")
        files.move(self._file(kind, key), path)
        return path

    def _store(self, entry: Pending) -> None:
        self._write("pending", entry.key, entry._asdict())

    def give_up(self, part: GivenUp) -> None:
        """Store a part that was tried too often, for ``backfill --retry``."""
        value = part._asdict() | part.entry._asdict()
        value.pop("entry")
        self._write("given-up", part.name, value)

    def given_up(self) -> list[GivenUp]:
        """Parts that were given up."""
        rows = [value | {"entry": value} for value in self._read_all("given-up")]
        return list(stored.read_rows(GivenUp, rows))

    def forget_given_up(self, part: GivenUp) -> None:
        """Remove a given-up part that has been captured."""
        files.remove(self._file("given-up", part.name))

    # -- outbox

    def save_outbox(self, outbox: Outbox) -> None:
        """Store the drafts of a reply before the first of them is written."""
        value = outbox._asdict() | {"position": outbox.position._asdict()}
        self._write("outbox", outbox.key, value)

    def outboxes(self) -> list[Outbox]:
        """The outboxes that earlier runs did not finish."""
        return list(stored.read_rows(Outbox, self._read_all("outbox")))

    def close_outbox(self, key: str) -> None:
        """Remove an outbox whose drafts are all on disk."""
        files.remove(self._file("outbox", key))

    # -- ids already captured, of any transcript: 16 files of 8-byte hashes, each with the day it came. The oldest go
    # when there are many, by their order: a wrong clock must not make us forget them.

    def remember(self, uuids: Iterable[str], now: float) -> None:
        """Store the ids of captured records, by which a fork or an old resume is recognised."""
        day = int(now // DAY) & 0xFFFF
        shards: dict[int, list[bytes]] = {}
        for uuid in uuids:
            mark = _mark(uuid)
            shards.setdefault(mark[0] & 15, []).append(mark + day.to_bytes(2, "big"))
        if shards:
            files.make_folder(self._project.state_file("seen"), 0o700)
        for shard, marks in shards.items():
            path = self._project.state_file("seen", f"{shard:x}")
            old = files.read_bytes(path) or b""
            if len(old) % 10 or len(old) > _MOST_SEEN:
                kept = list(_records(old))[-_MOST_SEEN // 20 :]  # the newer half, by their order
                files.write_atomic(path, b"".join(kept + marks))
            else:
                files.append(path, b"".join(marks))

    def known(self, uuids: Iterable[str]) -> set[str]:
        """Which of the ids were captured before."""
        shards: dict[int, set[bytes]] = {}
        known = set()
        for uuid in uuids:
            mark = _mark(uuid)
            shard = mark[0] & 15
            if shard not in shards:
                data = files.read_bytes(self._project.state_file("seen", f"{shard:x}")) or b""
                shards[shard] = {record[:8] for record in _records(data)}
            if mark in shards[shard]:
                known.add(uuid)
        return known

    # -- files

    def _file(self, kind: str, key: str) -> str:
        return self._project.state_file(kind, f"{key}.json")

    def _read_all(self, kind: str) -> list[dict[str, object]]:
        values = (files.read_json(self._project.state_file(kind, name)) for name in self._json_names(kind))
        return [value for value in values if value]

    def _json_names(self, kind: str) -> list[str]:
        return [
            name
            for name in files.names(self._project.state_file(kind))
            if name.endswith(".json") and name[0] != "."
        ]

    def _write(self, kind: str, key: str, value: object) -> None:
        files.make_folder(self._project.state_file(kind), 0o700)
        files.write_atomic(self._file(kind, key), files.json_bytes(value))


def _is_over(path: str, now: float) -> bool:
    """Whether a position or a part that was given up is old, and its transcript is gone."""
    changed = files.modified(path)
    if changed is None or now - changed <= POSITION_DAYS * DAY:
        return False
    value = files.read_json(path) or {}
    transcript = value.get("path") or value.get("transcript")
    return not (isinstance(transcript, str) and files.is_there(transcript))


def _mark(uuid: str) -> bytes:
    hashed = new_hash(8)
    hashed.update(files.to_bytes(uuid))
    return hashed.digest()


def _records(data: bytes) -> Iterator[bytes]:
    for begin in range(0, len(data) - 9, 10):
        yield data[begin : begin + 10]
