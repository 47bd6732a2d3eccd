"""Captures the parts that are due: one worker a project, tries counted, an interrupted run finished first."""

from __future__ import annotations

import os

from decision_hooks.capture.part import Part, unread
from decision_hooks.capture.queue import CaptureRun
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
from decision_hooks.errors import DecisionHooksError
from decision_hooks.state.capture import DAY, PENDING_DAYS
from decision_hooks.state.values import GivenUp, Pending
from decision_hooks.system import locking
from decision_hooks.system.project import work_trees
from decision_hooks.system.workplace import workplace
from decision_hooks.transcripts import blocks

_MOST_TRIES = 3
_MOST_OTHERS = 5  # parts of other sessions that one stop takes up
_LEAST_CALL = 5.0  # seconds: a call is not begun with less


def work(run: CaptureRun, entry: Pending, *, foreground: bool) -> None:
    """Capture what is due, this entry first; another worker that has the lock will see the entry."""
    worker = _Worker(run, entry.key, entry.stop, foreground)
    while True:
        lock = worker.lock()
        if lock is None:
            return
        if not lock.supported:
            run.at.log.write("locks are not supported here: continuing without a lock")
        try:
            worker.recover()
            worker.drain()
        finally:
            locking.release(lock)
        if not worker.due():  # else one came between the last look and the release
            return


def take_again(run: CaptureRun, stored: GivenUp) -> tuple[str, str]:
    """Retry one given-up part, then drain the queue; returns the outcome and the last log line of the part."""
    worker = _Worker(run, "", run.at.world.now(), foreground=True, others=0)
    lock = worker.lock()
    if lock is None:
        return WAITS, "another capture is running"
    try:
        worker.recover()
        outcome, line = worker.take_again(stored), run.at.log.last
        worker.drain()
    finally:
        locking.release(lock)
    return outcome, line


class _Worker:
    def __init__(
        self, run: CaptureRun, key: str, begun: float, foreground: bool, others: int = _MOST_OTHERS
    ) -> None:
        self._own_run = run
        self._key = key  # of the part to be taken first
        self._begun = begun  # time of the stop that started the worker
        self._state = run.state
        self._at = run.at
        self._foreground = foreground
        self._tried: set[str] = set()  # serials of this run
        self._failed: dict[str, int] = {}  # key -> size of the transcript when its failed capture began
        self._stuck: set[str] = set()  # keys whose drafts could not be written yet
        self._others = others  # that may still be taken up
        self._spent = 0.0  # seconds of a run in the foreground

    def lock(self) -> locking.Lock | None:
        """Take the lock of the project's worker; in the foreground the wait counts as time spent."""
        seconds = max(0.0, self._left()) if self._foreground else 0.0
        path, now = self._at.project.state_file("worker.lock"), self._at.world.now
        begin = now()
        lock = locking.acquire(path, seconds=seconds, now=now, sleep=self._at.world.sleep)
        self._spent += max(0.0, now() - begin)
        return lock

    def recover(self) -> None:
        """Write the drafts that a killed run left; a failure is logged and does not stop the rest."""
        self._stuck.clear()
        for outbox in self._state.outboxes():
            run = self._run(outbox.root)
            if run is None and not self._is_ours(outbox.root):
                self._state.close_outbox(outbox.key)  # the drafts belong to the work tree that was removed
                continue
            if run is None:
                self._stuck.add(outbox.key)
                continue
            try:
                finish_outbox(run, outbox)
            except DecisionHooksError as error:
                self._at.log.skip(error.reason, str(error))
                self._stuck.add(outbox.key)
        self._state.forget_old(self._at.world.now())

    def drain(self) -> None:
        """Take due entries until none is left, or the time of a run in the foreground is spent."""
        while due := self.due():
            self._take(due[0], self._left())

    def _left(self) -> float:
        """Seconds that the next call may take."""
        most = self._own_run.settings.timeout
        return most - self._spent if self._foreground else most

    def take_again(self, stored: GivenUp) -> str:
        """Capture a part that was given up; if that fails it stays given up."""
        if stored.entry.key in self._stuck:
            return WAITS
        run = self._run(stored.entry.root)
        return capture_again(run, stored, self._own_run.settings.timeout) if run else SKIPPED

    def due(self) -> list[Pending]:
        """The entries that this run should still take, its own first; none when its time is spent."""
        begun, most = self._begun, self._own_run.settings.timeout
        if self._left() < min(_LEAST_CALL, most / 2):
            return []
        own, fresh, old = [], [], []
        for entry in self._state.pending():
            if entry.serial in self._tried or entry.key in self._stuck or self._failed_unchanged(entry):
                continue
            if entry.stop > begun:  # came while we work; of our own session too
                fresh += [] if entry.waits else [entry]
            elif begun <= entry.tried <= self._at.world.now():
                continue  # another worker has tried it for this very stop
            elif entry.key == self._key:
                own.append(entry)
            elif begun - entry.stop <= PENDING_DAYS * DAY:
                old.append(entry)
        return own + fresh + old[: max(0, self._others)]

    def _failed_unchanged(self, entry: Pending) -> bool:
        """Whether this run failed on the entry and its transcript has not grown since."""
        where = blocks.extent(entry.transcript)
        return entry.key in self._failed and (where is None or where.size == self._failed[entry.key])

    def _take(self, entry: Pending, timeout: float) -> None:
        self._tried.add(entry.serial)
        if entry.key != self._key and entry.stop <= self._begun:
            self._others -= 1
        claimed = self._state.claim(entry.key, self._at.world.now())
        if claimed is None:
            return
        self._tried.add(claimed.serial)
        run = self._run(claimed.root)
        if run is None:
            self._state.finish(claimed)
            return
        where = blocks.extent(claimed.transcript)
        begin = self._at.world.now()
        outcome, part = self._try(run, claimed, timeout)
        self._spent += max(0.0, self._at.world.now() - begin)
        if outcome in (DONE, SKIPPED):
            self._state.finish(claimed)
        elif outcome == FAILED and claimed.tries >= _MOST_TRIES:
            give_up(run, claimed._replace(tries=_MOST_TRIES), part)
            self._state.finish(claimed)
        else:
            self._failed[claimed.key] = where.size if where else 0
            self._state.put_back(claimed, self._at.world.now(), counts=outcome == FAILED)

    def _try(self, run: CaptureRun, claimed: Pending, timeout: float) -> tuple[str, Part | None]:
        """Capture a part, unless three runs ended during it without an outcome."""
        if claimed.tries > _MOST_TRIES:
            return FAILED, unread(self._state, claimed, self._at.world.now())
        return capture_part(run, claimed, timeout)

    def _is_ours(self, root: str) -> bool:
        """Whether a root is a work tree of this repository: a copied state folder names those of the original."""
        return os.path.isdir(root) and os.path.realpath(root) in work_trees(self._at.project.root)

    def _run(self, root: str) -> CaptureRun | None:
        """The run for that root; None when the root is gone or belongs to another project."""
        run = self._own_run
        if root == self._at.project.root:
            return run
        if not self._is_ours(root):
            self._at.log.write(f"gone: {root}")
            return None
        try:
            return run._replace(at=workplace(self._at.world, root, run.settings.adr_dir))
        except DecisionHooksError as error:
            self._at.log.skip(error.reason, str(error))
            return None
