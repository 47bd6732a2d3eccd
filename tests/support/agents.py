"""Fake agents: executables named as the real ones that answer from a queue and record calls."""

from __future__ import annotations

import base64
import json
import os
import shlex
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_PROGRAM = Path(__file__).with_name("fake_agent.py")


@dataclass(frozen=True)
class Reply:
    """One answer of a fake agent, and how it behaves while it gives it.

    Order: stdin is read, the call is written down, ``python`` runs, ``delay`` passes, output is written, then
    it hangs or ends.
    """

    stdout: str | bytes = ""
    exit: int = 0
    stderr: str | bytes = ""
    delay: float = 0.0  # seconds
    hang: bool = False  # write the output, then never end
    ignore_term: bool = False  # only SIGKILL ends it
    grandchild: str = (
        ""  # "group": a sleeping child that holds stdout; "session": one in a session of its own
    )
    read_stdin: bool = True  # False: stdin stays unread
    signal: int = 0  # end by this signal
    match: str = ""  # regex over arguments and prompt; the first reply in the queue that fits is taken
    times: int | None = 1  # how often it is given; None: always
    python: str = ""  # source run with ``call`` and ``reply`` (both dicts; ``reply["stdout"]`` may be set)


@dataclass(frozen=True)
class Call:
    """One call that a fake agent got."""

    name: str
    argv: tuple[str, ...]
    stdin: bytes | None  # None: it was told not to read it
    environ: dict[str, str]
    cwd: str
    listing: tuple[str, ...]  # names under the working directory, folders with "/"
    pid: int
    group: int
    session: int
    files: tuple[str, ...]  # files open beyond stdio (Linux)
    time: float

    @property
    def prompt(self) -> str:
        """The prompt as text; bytes that are not UTF-8 fail."""
        return (self.stdin or b"").decode("utf-8")

    def option(self, flag: str) -> str | None:
        """The argument after a flag, None when the flag is absent or last."""
        at = self.argv.index(flag) if flag in self.argv else len(self.argv)
        return self.argv[at + 1] if at + 1 < len(self.argv) else None


class FakeAgent:
    """One executable in a folder of fakes; every call without a reply in the queue exits 97."""

    def __init__(self, name: str, folder: Path, state: Path, *, path: Path | None = None) -> None:
        self.name = name
        self.path = path or folder / name
        self._state = state / (name if path is None else f"{name}-{len(os.listdir(state))}")
        self._state.mkdir(parents=True, exist_ok=True)
        self._install()

    def answers(self, *replies: Reply | str | bytes) -> FakeAgent:
        """Put replies at the end of the queue; a text is a reply with that stdout."""
        queue = self._load("queue.json", [])
        queue += [_plain(reply if isinstance(reply, Reply) else Reply(stdout=reply)) for reply in replies]
        self._store("queue.json", queue)
        return self

    def always(self, reply: Reply | str) -> FakeAgent:
        """Give this reply to every call from now on, after what is queued."""
        given = reply if isinstance(reply, Reply) else Reply(stdout=reply)
        return self.answers(Reply(**{**asdict(given), "times": None}))

    def knows_not(self, *flags: str) -> FakeAgent:
        """Refuse these flags as an older version does: exit 1, ``error: unknown option``."""
        self._store("unknown.json", list(flags))
        return self

    def forget(self) -> FakeAgent:
        """Empty the queue."""
        self._store("queue.json", [])
        return self

    @property
    def calls(self) -> list[Call]:
        """Every call so far, in the order of their beginning."""
        return [_call(self.name, event) for event in self._events("call")]

    @property
    def only_call(self) -> Call:
        """The one call there was; any other number fails."""
        calls = self.calls
        assert len(calls) == 1, f"{self.name} was called {len(calls)} times"
        return calls[0]

    @property
    def ended(self) -> list[int]:
        """Process ids of the calls that came to their own end (the killed ones are missing)."""
        return [event["pid"] for event in self._events("end")]

    @property
    def grandchildren(self) -> list[int]:
        """Process ids of the children that replies have left behind."""
        return [event["pid"] for event in self._events("grandchild")]

    @property
    def unexpected(self) -> int:
        """How many calls found no reply."""
        return len(self._events("unexpected"))

    @property
    def left(self) -> int:
        """How many replies (those given always left out) nobody has asked for."""
        return sum(reply["times"] or 0 for reply in self._load("queue.json", []))

    def remove(self) -> None:
        """Take the executable away."""
        self.path.unlink()

    def _install(self) -> None:
        # A wrapper of sh: a "#!" line is cut at 127 bytes on some systems, and splits at spaces.
        words = (sys.executable, "-I", "-S", str(_PROGRAM), str(self._state))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(f'#!/bin/sh\nexec {" ".join(map(shlex.quote, words))} "$@"\n')
        self.path.chmod(0o755)

    def _load(self, name: str, default: Any) -> Any:
        path = self._state / name
        return json.loads(path.read_text()) if path.exists() else default

    def _store(self, name: str, value: Any) -> None:
        beside = self._state / f"{name}.new"
        beside.write_text(json.dumps(value))
        os.replace(beside, self._state / name)

    def _events(self, kind: str) -> list[dict[str, Any]]:
        path = self._state / "events.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [event for event in map(json.loads, lines) if event["event"] == kind]


def claude_json(text: str, *, is_error: bool = False, cost: float = 0.001, **over: Any) -> str:
    """What ``claude -p --output-format json`` prints: one result object."""
    return json.dumps(
        {
            "type": "result",
            "subtype": "success",
            "is_error": is_error,
            "duration_ms": 1200,
            "num_turns": 1,
            "result": text,
            "session_id": "99999999-0000-4000-8000-000000000000",
            "total_cost_usd": cost,
            "usage": {"input_tokens": 10, "output_tokens": 5},
            **over,
        }
    )


def _plain(reply: Reply) -> dict[str, Any]:
    return {name: _json_text(value) for name, value in asdict(reply).items()}


def _json_text(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _call(name: str, event: dict[str, Any]) -> Call:
    return Call(
        name=name,
        argv=tuple(event["argv"]),
        stdin=None if event["stdin"] is None else base64.b64decode(event["stdin"]),
        environ=event["environ"],
        cwd=event["cwd"],
        listing=tuple(event["listing"]),
        pid=event["pid"],
        group=event["group"],
        session=event["session"],
        files=tuple(event["files"]),
        time=event["time"],
    )
