"""Who has a lock, and when he is said to hang."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from decision_hooks.system import locking
from decision_hooks.system.holder import holder


def test_a_holder_hangs_without_a_sign_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, clock = tmp_path / "lock", [5000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    lock = locking.acquire(str(path))
    assert lock is not None
    locking.sign(lock)
    clock[0] += 400
    told = holder(str(path), 1_700_000_000.0, 300.0)
    assert told is not None
    assert (told.pid, told.hangs, told.since[:10]) == (os.getpid(), True, "2023-11-14")
    assert f"`kill {os.getpid()}`" in str(told)
    locking.sign(lock)
    again = holder(str(path), 1_700_000_000.0, 300.0)
    assert again is not None
    assert (again.hangs, again.fix) == (False, "")
    locking.release(lock)
