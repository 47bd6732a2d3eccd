"""What capture remembers between stops: positions, pending parts, the outbox, the ids already captured."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from decision_hooks.errors import FolderError
from decision_hooks.state.values import GivenUp, Outbox, Pending, Position
from decision_hooks.system import files, locking, stored
from decision_hooks.system.project import Project

DAY = 86400.0
POSITION_DAYS, PENDING_DAYS = 60, 7


class CaptureState:
    """The state folder of one project, as capture uses it; every write is atomic."""

    def __init__(self, project: Project) -> None:
        self._project = project

    # -- positions

    def position(self, key: str, path: str, now: float) -> Position:
        """The stored position of a transcript; a new one when there is none, or its time is in the future."""
        found = stored.read(Position, files.read_json(self._file("positions", key)))
        if found is None or found.time > now + DAY:
            return Position(path)
        return found._replace(path=found.path or path)

    def save_position(self, key: str, position: Position) -> None:
        """Store how far a transcript has been captured."""
        self._write("positions", key, position._asdict())

    def forget_old(self, now: float) -> None:
        """Remove positions over 60 days, pending parts over 7 days old and leftovers; looks once a day."""
        stamp = self._project.state_file("swept")
        try:
            if 0 <= now - os.stat(stamp).st_mtime < DAY:
                return
        except OSError:
            pass
        for path in self._old(now):
            try:
                files.remove(path)
            except FolderError:  # capture goes on without the removal
                continue
        files.write_atomic(stamp, b"")

    def _old(self, now: float) -> Iterator[str]:
        kept = {"positions": POSITION_DAYS, "pending": PENDING_DAYS, "given-up": POSITION_DAYS}
        for kind, days in kept.items():
            for name in files.names(self._project.state_file(kind)):
                path = self._project.state_file(kind, name)
                changed = files.modified(path)
                if changed is not None and now - changed > days * DAY:
                    yield path
        for kind in ("", *files.names(self._project.state)):
            yield from files.leftovers(self._project.state_file(kind), now, DAY)

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

    def put(self, entry: Pending) -> None:
        """Store the newest stop of a transcript; a part that waits already keeps its tries and age."""
        with self._pending_lock():
            old = self._pending(entry.key)
            if old:
                entry = entry._replace(first=old.first, tried=old.tried, tries=old.tries)
            self._write("pending", entry.key, entry._asdict())

    def pending(self) -> list[Pending]:
        """All parts that wait, oldest first."""
        entries = stored.read_rows(Pending, self._read_all("pending"))
        return sorted(entries, key=lambda entry: entry.first)

    def claim(self, key: str, now: float) -> Pending | None:
        """Count a try of a part, durably, before anything is spent on it; None when it is gone."""
        with self._pending_lock():
            entry = self._pending(key)
            if entry:
                entry = entry._replace(tries=entry.tries + 1, tried=now)
                self._write("pending", key, entry._asdict())
            return entry

    def finish(self, entry: Pending) -> None:
        """Remove a captured part; a newer stop of it stays, with its tries at 0."""
        with self._pending_lock():
            there = self._pending(entry.key)
            if there and there.serial != entry.serial:
                self._write(
                    "pending", entry.key, there._replace(tries=0, tried=0.0, first=there.stop)._asdict()
                )
            else:
                files.remove(self._file("pending", entry.key))

    def put_back(self, entry: Pending, now: float, *, counts: bool) -> None:
        """Let the part wait for a later stop; ``counts``: whether the try was spent on the part itself."""
        with self._pending_lock():
            there = self._pending(entry.key)
            if there:
                tries = there.tries if counts else max(0, there.tries - 1)
                self._write("pending", entry.key, there._replace(tries=tries, tried=now)._asdict())

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

    def _pending(self, key: str) -> Pending | None:
        return stored.read(Pending, files.read_json(self._file("pending", key)))

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

    # -- ids already captured, of any transcript: 16 files of 8-byte hashes, each with the day it came

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
            if len(old) % 10 or len(old) > 512 * 1024:
                kept = [
                    m
                    for m in _records(old)
                    if (day - int.from_bytes(m[8:], "big")) % 0x10000 <= POSITION_DAYS
                ]
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
        names = [name for name in files.names(self._project.state_file(kind)) if name.endswith(".json")]
        values = (files.read_json(self._project.state_file(kind, name)) for name in names)
        return [value for value in values if value]

    def _write(self, kind: str, key: str, value: object) -> None:
        files.make_folder(self._project.state_file(kind), 0o700)
        files.write_atomic(self._file(kind, key), files.json_bytes(value))


def _mark(uuid: str) -> bytes:
    from hashlib import blake2b

    return blake2b(files.to_bytes(uuid), digest_size=8).digest()


def _records(data: bytes) -> Iterator[bytes]:
    for begin in range(0, len(data) - 9, 10):
        yield data[begin : begin + 10]
