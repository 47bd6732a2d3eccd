"""Fixtures of all tests: the guards of the run, and isolated worlds."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from support import guard
from support.sandbox import Sandbox

# A busy machine makes an example slow, not wrong.
hypothesis.settings.register_profile("tests", deadline=None)
hypothesis.settings.load_profile("tests")

# Kills and faults at a system call, and tests of the calls made, need strace, a program of Linux.
_BY_STRACE = ["**/test_*kills*.py", "**/test_*faults*.py", "**/test_*calls*.py"]
collect_ignore_glob = [] if sys.platform == "linux" else _BY_STRACE
_SLOW = ("kills", "faults", "hostile")  # they run last: a wrong line shows before them


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Kills and faults last, marked as slow; what starts the installed commands is marked as process."""
    for item in items:
        if "make_sandbox" in getattr(item, "fixturenames", ()):
            item.add_marker("process")
    slow = [item for item in items if any(word in item.path.stem for word in _SLOW)]
    for item in slow:
        item.add_marker("slow")
    items[:] = [item for item in items if item not in slow] + slow


@pytest.fixture(scope="session", autouse=True)
def _enclosed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reaches the real home, an agent by accident, or the network."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # in the background of a shell; programs inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    patch = pytest.MonkeyPatch()
    guard.enclose(patch, tmp_path_factory.mktemp("home"))
    yield
    patch.undo()


@pytest.fixture
def make_sandbox(tmp_path: Path) -> Iterator[Callable[..., Sandbox]]:
    """A function that makes isolated worlds; ``project`` names the project's folder."""
    made: list[Sandbox] = []

    def make(name: str = "world", *, project: str = "project") -> Sandbox:
        made.append(Sandbox(tmp_path / name, project=project))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def sandbox(make_sandbox: Callable[..., Sandbox]) -> Sandbox:
    """An isolated world: home, project as a git repository, folder of fakes, minimal environment."""
    return make_sandbox()
