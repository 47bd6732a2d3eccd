"""Guards of the whole test run: no real home, no agent by accident, no network beyond loopback."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path

import pytest

REAL_PATH = os.environ.get("PATH", "")
STRACE = shutil.which("strace", path=REAL_PATH)
NODE = shutil.which("node", path=REAL_PATH)
SAFE_PATH = "/usr/bin:/bin"
DEAD_END = "http://127.0.0.1:9"  # the discard port: nothing answers there

# Variables of the person who runs the tests that would change what our programs or the agents do.
FOREIGN = (
    "ADR_", "AI_AGENT", "ANTHROPIC", "CAPTURE_DECISIONS", "CLAUDE", "CODEX", "CURSOR", "GIT_", "N_", "OPENAI",
    "PI_", "XDG_",
)  # fmt: skip
# Coverage measures the programs that the tests start through these two.
KEPT = ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START")


class NetworkRefused(AssertionError):
    """A test tried to leave the machine."""


def no_network() -> dict[str, str]:
    """Variables that send every polite client of the network to a dead end on loopback."""
    names = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    return {
        **dict.fromkeys(names, DEAD_END),
        "no_proxy": "127.0.0.1,localhost",
        "NO_PROXY": "127.0.0.1,localhost",
    }


def is_foreign(name: str) -> bool:
    """Whether a variable of the person's shell must not reach a test."""
    return name.startswith(FOREIGN)


def kept(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that every program started by a test gets from the test run."""
    return {name: environ[name] for name in KEPT if name in environ}


def is_local(family: int, address: object) -> bool:
    """Whether a socket address stays on this machine."""
    if family not in (socket.AF_INET, socket.AF_INET6):
        return True
    host = str(address[0]) if isinstance(address, tuple) and address else ""
    return host in ("localhost", "::1", "") or host.startswith("127.")


def enclose(patch: pytest.MonkeyPatch, home: Path) -> None:
    """Close the test process itself in: environment, search path, home and sockets."""
    for name in list(os.environ):
        if is_foreign(name):
            patch.delenv(name)
    patch.setenv("HOME", str(home))
    patch.setenv("PATH", SAFE_PATH)
    patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for name, value in no_network().items():
        patch.setenv(name, value)
    _close_sockets(patch)


def _close_sockets(patch: pytest.MonkeyPatch) -> None:
    real = {name: getattr(socket.socket, name) for name in ("connect", "connect_ex")}

    def guarded(name: str) -> object:
        def connect(self: socket.socket, address: object) -> object:
            if not is_local(self.family, address):
                raise NetworkRefused(f"no test may connect to {address!r}")
            return real[name](self, address)

        return connect

    for name in real:
        patch.setattr(socket.socket, name, guarded(name))
