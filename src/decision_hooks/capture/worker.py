"""Captures the parts that are due: one worker a project, tries counted, an interrupted run finished first."""

from __future__ import annotations

import os
from collections.abc import Iterator

from decision_hooks.capture.part import Part, unread
from decision_hooks.capture.queue import CaptureRun, may_be_read
from decision_hooks.capture.roots import AWAY, FOREIGN, Found, find_root
from decision_hooks.capture.run import (
    DONE,
    FAILED,
    SKIPPED,
    WAITS,
    capture_again,
    capture_part,
    finish_outbox,
    give_up,
)
from decision_hooks.errors import DecisionHooksError, FolderError
from decision_hooks.state.capture import DAY, PENDING_DAYS
from decision_hooks.state.values import GivenUp, Outbox, Pending
from decision_hooks.system import holder, locking
from decision_hooks.system.holder import Holder
from decision_hooks.system.project import Project
from decision_hooks.system.workplace import workplace
from decision_hooks.transcripts import blocks

_MOST_TRIES = 3
_MOST_OTHERS = 5  # parts of other sessions that one stop takes up
_MOST_LOOKED = 8  # parts of other sessions that one stop looks at
_LEAST_CALL = 5.0  # seconds: a call is not begun with less
_PROBED = 0.1  # seconds that somebody who only looks may have the lock
_LOCK = "worker.lock"


def work(run: CaptureRun, entry: Pending, *, foreground: bool) -> None:
    """Capture what is due, this entry first; another worker that has the lock will see the entry."""
    worker = _Worker(run, entry.key, entry.place, foreground)
    while True:
        lock = worker.lock()
        if lock is None:
            found = working(run.at.project, run.at.world.now(), run.settings.timeout)
            if found and found.hangs:
                run.at.log.skip("worker hangs", f"another capture {found}")
            return
        if not lock.supported:
            run.at.log.write("locks are not supported here: continuing without a lock")
        try:
            worker.recover()
            worker.drain()
        finally:
            worker.release()
        if not worker.next():  # else one came between the last look and the release
            return


def working(project: Project, now: float, timeout: float) -> Holder | None:
    """The worker of the project, None when none works; ``timeout``: of its calls, in seconds."""
    return holder.working(project.state_file(_LOCK), now, timeout)


def take_again(run: CaptureRun, stored: GivenUp) -> tuple[str, str]:
    """Retry one given-up part, then drain the queue; returns the outcome and the last log line of the part."""
    worker = _Worker(run, "", run.state.place(), foreground=True, others=0)
    lock = worker.lock()
    if lock is None:
        found = working(run.at.project, run.at.world.now(), run.settings.timeout)
        return WAITS, f"another capture is running{f' ({found})' if found and found.hangs else ''}"
    try:
        worker.recover()
        outcome, line = worker.take_again(stored), run.at.log.last
        worker.drain()
    finally:
        worker.release()
    return outcome, line


class _Worker:
    def __init__(
        self, run: CaptureRun, key: str, place: int, foreground: bool, others: int = _MOST_OTHERS
    ) -> None:
        self._own_run = run
        self._key = key  # of the part to be taken first
        self._place = place  # in the order of stops, of the one that started the worker
        self._state = run.state
        self._at = run.at
        self._foreground = foreground
        self._tried: set[tuple[str, str]] = set()  # keys with serials, of this run
        self._failed: dict[str, int] = {}  # key -> size of the transcript when its failed capture began
        self._stuck: set[str] = set()  # keys whose drafts could not be written yet
        self._others = others  # that may still be taken up
        self._old: list[str] | None = None  # keys of others that may still be looked at
        self._spent = 0.0  # seconds of a run in the foreground
        self._lock: locking.Lock | None = None

    def lock(self) -> locking.Lock | None:
        """Take the lock of the project's worker; in the foreground the wait counts as time spent."""
        path, clock = self._at.project.state_file(_LOCK), self._at.world.monotonic
        begin = clock()
        self._lock = locking.acquire(path, seconds=_PROBED, now=clock, sleep=self._at.world.sleep)
        if self._lock is None and self._foreground and not self._hangs():
            left = max(0.0, self._left())
            self._lock = locking.acquire(path, seconds=left, now=clock, sleep=self._at.world.sleep)
        self._spent += clock() - begin
        if self._lock:
            locking.sign(self._lock)
        return self._lock

    def _hangs(self) -> bool:
        """Whether another worker hangs: it is not waited for."""
        found = working(self._at.project, self._at.world.now(), self._own_run.settings.timeout)
        return found is not None and found.hangs

    def release(self) -> None:
        """Release the lock."""
        if self._lock:
            locking.release(self._lock)

    def recover(self) -> None:
        """Write the drafts that a killed run left; a failure is logged and does not stop the rest."""
        self._stuck.clear()
        for outbox in self._state.outboxes():
            try:
                self._finish(outbox)
            except DecisionHooksError as error:
                self._at.log.skip(error.reason, str(error))
                self._stuck.add(outbox.key)
            except Exception as error:  # noqa: BLE001 - a defect of ours must not hold up the other parts
                self._at.log.fault(error)
                self._stuck.add(outbox.key)
        self._state.forget_old(self._at.world.now())

    def _finish(self, outbox: Outbox) -> None:
        if not outbox.root or not outbox.drafts:  # damaged: nothing can be written from it
            self._state.close_outbox(outbox.key)
            return
        found = find_root(self._at.project, outbox)
        if found.kind == FOREIGN:
            aside = self._state.put_aside("outbox", outbox.key)
            self._at.log.write(f"the drafts of {outbox.root} are not of this project: moved to {aside}")
            return
        run = self._run(found, outbox.root)
        if run is None:
            self._stuck.add(outbox.key)
        else:
            finish_outbox(run, outbox)

    def drain(self) -> None:
        """Take due entries until none is left, or the time of a run in the foreground is spent."""
        while entry := self.next():
            if self._lock:
                locking.sign(self._lock)
            self._take_guarded(entry)

    def _left(self) -> float:
        """Seconds that the next call may take."""
        most = self._own_run.settings.timeout
        return most - self._spent if self._foreground else most

    def take_again(self, stored: GivenUp) -> str:
        """Capture a part that was given up; if that fails it stays given up."""
        entry = stored.entry
        if entry.key in self._stuck:
            return WAITS
        found = find_root(self._at.project, entry)
        run = self._run(found, entry.root) if found.kind != FOREIGN else self._own_run
        return capture_again(run, stored, self._own_run.settings.timeout) if run else SKIPPED

    # -- what is taken next

    def next(self) -> Pending | None:
        """The next part that this run should take, its own first; None when there is none, or no time is left."""
        if self._left() < min(_LEAST_CALL, self._own_run.settings.timeout / 2):
            return None
        for key in self._keys():
            entry = self._state.waiting(key)
            if entry and self._is_due(entry):
                return entry
        return None

    def _keys(self) -> Iterator[str]:
        """Keys of its own part, of those that came while we work, of those that nobody has looked at for longest."""
        if self._key:
            yield self._key
        yield from self._state.came_after(self._place)
        if self._old is None and self._others > 0:
            self._old = self._state.waiting_longest(_MOST_LOOKED)
        while self._old and self._others > 0:
            key = self._old.pop(0)
            if self._state.waiting(key) is None:
                self._put_aside(key, "cannot be read")
            yield key

    def _is_due(self, entry: Pending) -> bool:
        if (
            (entry.key, entry.serial) in self._tried
            or entry.key in self._stuck
            or self._failed_unchanged(entry)
        ):
            return False
        if self._is_fresh(entry):
            return not entry.waits
        if self._is_other(entry) and self._others <= 0:
            return False
        # else another worker has tried it since this very stop
        return not 0 < self._place <= entry.tried_place <= self._state.place()

    def _is_fresh(self, entry: Pending) -> bool:
        """Whether a stop came while we work; of our own session too."""
        return 0 < self._place < entry.place <= self._state.place()

    def _is_other(self, entry: Pending) -> bool:
        return entry.key != self._key and not self._is_fresh(entry)

    def _failed_unchanged(self, entry: Pending) -> bool:
        """Whether this run failed on the entry and its transcript has not grown since."""
        if entry.key not in self._failed:
            return False
        where = blocks.extent(entry.transcript)
        return where is None or where.size == self._failed[entry.key]

    # -- taking one

    def _take_guarded(self, entry: Pending) -> None:
        """Take a part; a defect of ours that ends it even before it is read puts it aside the third time."""
        try:
            self._take(entry, self._left())
        except (
            FolderError
        ) as error:  # of this part's work tree, perhaps; the try counts, it may have been paid for
            self._at.log.skip(error.reason, str(error))
        except DecisionHooksError:
            raise
        except Exception as error:  # noqa: BLE001 - a defect of ours must not hold up the other parts
            defect = self._at.log.fault(error)
            if entry.defect == defect and entry.defects + 1 >= _MOST_TRIES:
                self._put_aside(entry.key, "met the same defect three times")
            else:
                self._state.put_back(entry, self._at.world.now(), counts=True, defect=defect)

    def _take(self, entry: Pending, timeout: float) -> None:
        self._tried.add((entry.key, entry.serial))
        found = find_root(self._at.project, entry)
        if not may_be_read(entry, self._at.world.environ):
            if found.moved:  # a stop at the other place may have named it
                self._defer(entry)
            else:
                self._put_aside(entry.key, f"names a file that no stop has named: {entry.transcript}")
            return
        if self._is_other(entry):
            no_file = bool(entry.transcript) and blocks.extent(entry.transcript) is None
            if found.kind == AWAY or (found.moved and no_file) or self._is_old(entry):
                self._defer(entry)
                return
            self._others -= 1
            if no_file and not entry.message:  # no try is to be counted: there is nothing to spend it on
                self._at.log.skip("no transcript", f"gone: {entry.transcript}")
                self._state.finish(entry)
                return
        claimed = self._state.claim(entry.key, self._at.world.now())
        if claimed is None:
            return
        self._tried.add((claimed.key, claimed.serial))
        run = self._own_run if found.kind == FOREIGN else self._run(found, claimed.root)
        if run is None:
            self._state.put_back(claimed, self._at.world.now(), counts=False)
            return
        if found.kind == FOREIGN:
            self._give_up(run, claimed, f"as a part of another project, {entry.root}")
            return
        where = blocks.extent(claimed.transcript)
        begin = self._at.world.monotonic()
        outcome, part, defect = self._try(run, claimed, timeout)
        self._spent += self._at.world.monotonic() - begin
        if outcome in (DONE, SKIPPED):
            self._state.finish(claimed)
        elif outcome == FAILED and (claimed.tries >= _MOST_TRIES or defect):
            tries = min(claimed.tries, _MOST_TRIES) if not defect else claimed.defects + 1
            give_up(run, claimed, part, f"after {tries} tries")
            self._state.finish(claimed)
        else:
            self._failed[claimed.key] = where.size if where else 0
            self._state.put_back(claimed, self._at.world.now(), counts=outcome == FAILED, defect=defect)

    def _try(self, run: CaptureRun, claimed: Pending, timeout: float) -> tuple[str, Part | None, str]:
        """Capture a part, unless three runs ended during it without an outcome; with the defect that ended it."""
        if claimed.tries > _MOST_TRIES:
            return FAILED, unread(self._state, claimed, self._at.world.now()), ""
        try:
            return *capture_part(run, claimed, timeout), ""
        except DecisionHooksError:
            raise
        except Exception as error:  # noqa: BLE001 - a defect of ours must not hold up the other parts
            defect = run.at.log.fault(error)
        if claimed.defect == defect and claimed.defects + 1 >= _MOST_TRIES:
            return FAILED, unread(self._state, claimed, self._at.world.now()), defect
        return WAITS, None, defect

    def _is_old(self, entry: Pending) -> bool:
        return self._at.world.now() - entry.stop > PENDING_DAYS * DAY

    def _defer(self, entry: Pending) -> None:
        """Leave a part that this stop cannot take; one that has been too old for a day is given up."""
        now = self._at.world.now()
        if not self._is_old(entry):
            self._state.defer(entry)
        elif 0 < entry.old_since <= now - DAY:
            self._give_up(self._own_run, entry, f"after {PENDING_DAYS} days")
        else:  # by one look at a clock no part is given up: it may be wrong
            since = entry.old_since if 0 < entry.old_since <= now else now
            self._state.defer(entry, old_since=since)

    def _give_up(self, run: CaptureRun, entry: Pending, why: str) -> None:
        give_up(run, entry, unread(self._state, entry, self._at.world.now()), why)
        self._state.finish(entry)

    def _put_aside(self, key: str, why: str) -> None:
        try:
            aside = self._state.put_aside("pending", key)
        except FolderError:  # it has gone, or it stays in the way
            return
        self._at.log.write(f"a waiting part {why}; moved to {aside}")

    # -- where it belongs

    def _run(self, found: Found, root: str) -> CaptureRun | None:
        """The run for what was found; None when nothing can be done there now."""
        run, at = self._own_run, self._at
        if found.kind == AWAY:
            return None
        if found.gone:
            at.log.write(f"gone: {root}; what it left is captured into {found.root}")
        if os.path.realpath(found.root) == os.path.realpath(at.project.root):
            return run
        try:
            there = workplace(at.world, found.root, run.settings.adr_dir)
        except DecisionHooksError as error:
            at.log.skip(error.reason, str(error))
            return None
        project = there.project._replace(state=at.project.state)
        return run._replace(at=there._replace(project=project))
