"""Each card of a host is whole, each record and payload has one host, and a new host needs a card and a row only."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from decision_hooks.commands import install
from decision_hooks.commands.backfill.plan import never_captured
from decision_hooks.commands.doctor import command as doctor
from decision_hooks.edge.world import real_world
from decision_hooks.hosts import line_filter, table, transcript
from decision_hooks.hosts.base import Host, Reader
from decision_hooks.hosts.entry_line import GROUPED, HookFile, Target, sh_entries
from decision_hooks.hosts.event import HookEvent, read_event
from decision_hooks.hosts.fields import parse_object
from decision_hooks.hosts.gathering import Gathering
from decision_hooks.sessions.model import Edit, Session
from decision_hooks.settings import capture_settings
from decision_hooks.system.project import project_at
from decision_hooks.transcripts import blocks, find, reading
from support.claude_session import ClaudeSession
from support.codex_session import CodexSession
from support.cursor_session import CursorSession
from support.pi_session import PiSession
from support.session_lines import SAMPLES

NAMES = ("claude", "cursor", "codex", "pi")
SESSIONS: dict[str, Callable[..., Any]] = {
    "claude": ClaudeSession,
    "cursor": CursorSession,
    "codex": CodexSession,
    "pi": PiSession,
}
SAMPLE_FILES = sorted(str(path.relative_to(SAMPLES)) for path in SAMPLES.rglob("*.jsonl"))


def event(payload: Mapping[str, object], **environ: str) -> HookEvent:
    return read_event(payload, {}, environ, cwd="/", git_top=lambda path: "")


def test_the_table_has_each_host_once() -> None:
    assert tuple(card.name for card in table.HOSTS) == NAMES


@pytest.mark.parametrize("card", table.HOSTS, ids=lambda card: card.name)
def test_a_card_is_whole(card: Host) -> None:
    for field, kind in Host.__annotations__.items():
        value = getattr(card, field)
        if kind.startswith("tuple"):
            inner = bytes if "bytes" in kind else str
            assert value, field
            assert all(isinstance(part, inner) and part for part in value), field
        else:
            assert type(value).__name__ == kind, field
    assert card.name
    assert card.title
    assert not os.path.isabs(card.folder)
    assert all("{0}" in pattern and not os.path.isabs(pattern) for pattern in card.transcripts)
    assert re.compile(card.project_folder).groups == bool(card.project_folder)
    assert Path(table.__file__).with_name(card.name).is_dir()
    assert card.reader().__module__.startswith(f"decision_hooks.hosts.{card.name}.")


@pytest.mark.parametrize("name", SAMPLE_FILES)
def test_each_record_of_a_sample_is_recognised_by_one_card(name: str) -> None:
    records = [parse_object(line) for line in (SAMPLES / name).read_bytes().split(b"\n")]
    owners = [[card.name for card in table.HOSTS if card.is_record(record)] for record in records if record]
    assert {name for several in owners for name in several} == {name.partition("/")[0]}
    assert max(map(len, owners)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_payload_is_recognised_by_one_card_at_most(tmp_path: Path, name: str) -> None:
    event_name = {"hook_event_name": "agent_end"} if name == "pi" else {}  # as our extension names it
    payload = SESSIONS[name](tmp_path / "home", tmp_path / "project").payload(**event_name)
    marked = [card.name for card in table.HOSTS if card.is_payload(payload, {})]
    assert marked == ([name] if name != "claude" else [])
    assert event(payload).host == name


def test_an_empty_payload_is_of_the_host_whose_variable_is_set() -> None:
    assert event({}).host == "claude"
    assert event({}, CURSOR_TRANSCRIPT_PATH="/a").host == "cursor"
    assert event({"cwd": "/"}, CURSOR_TRANSCRIPT_PATH="/a").host == "claude"


@pytest.mark.parametrize("name", NAMES)
def test_a_session_is_found_by_its_id_and_by_its_project(tmp_path: Path, name: str) -> None:
    home, root = tmp_path / "home", tmp_path / "project"
    root.mkdir()
    made = SESSIONS[name](home, root)
    made.user("which cache?")
    environ = {"HOME": str(home)}
    (session,) = find.of_project(project_at(str(root), "docs/adr"), environ)
    assert (session.host, session.where.path) == (name, os.path.realpath(made.path))
    assert find.host_transcripts(name, session.session_id, environ) == [str(made.path)]
    assert find.of_project(project_at(str(home), "docs/adr"), environ) == []


@pytest.mark.parametrize(
    ("path", "public"),
    [
        ("/home/dev/.claude/projects/-home-dev-app/ID.jsonl", "~/.claude/projects/*/ID.jsonl"),
        (
            "/home/dev/.cursor/projects/home-dev-app/agent-transcripts/ID.txt",
            "~/.cursor/projects/*/agent-transcripts/ID.txt",
        ),
        ("/home/dev/.codex/sessions/2026/03/04/rollout-ID.jsonl",) * 2,
        ("/home/dev/.pi/agent/sessions/--home-dev-app--/T_ID.jsonl", "~/.pi/agent/sessions/*/T_ID.jsonl"),
        ("/srv/projects/a/projects/b/x.jsonl", "/srv/projects/*/projects/b/x.jsonl"),
    ],
)
def test_a_public_path_does_not_name_the_users_folder(path: str, public: str) -> None:
    assert table.public_path(path, "/home/dev") == public.replace("/home/dev", "~")


# -- a fifth host


class FifthReader:
    """Reads lines like ``{"fifth": "user", "text": "...", "in": "/a"}``."""

    def __init__(self, into: Gathering) -> None:
        self.into = into

    def read(self, record: Mapping[str, object]) -> None:
        self.into.seen(1.0, str(record.get("in", "")))
        self.into.say(str(record["fifth"]), str(record.get("text")), 1.0, "")
        if record.get("name") in self.into.edit_tools:
            self.into.edit((str(record["path"]),))

    def session(self, bad_lines: int) -> Session:
        return self.into.session(bad_lines)


class Fifth(Host):
    name = "fifth"
    title = "The Fifth"
    root_variable = "FIFTH_PROJECT"
    session_fields = ("fifth_session",)
    edit_tools = ("fifth_edit",)
    edit_needles = (b"fifth_edit",)
    request_needles = (b'"user"',)
    folder = ".fifth"
    transcripts = ("logs/{0}.jsonl",)
    project_folder = "(/logs/)[^/]+/"

    def is_payload(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> bool:
        return "fifth_session" in payload

    def is_record(self, record: Mapping[str, object]) -> bool:
        return "fifth" in record

    def reader(self) -> type[Reader]:
        return FifthReader

    def target(self) -> Target:
        hooks = HookFile(".fifth/hooks.json", GROUPED, sh_entries(), environ=False)
        return Target(
            *("fifth", "The Fifth", ".fifth", ("fifth",), hooks),
            entry_files=lambda root, environ: [f"{root}/.fifth/hooks.json"],
        )


@pytest.fixture
def fifth(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    caches = (table.edit_tools, line_filter._edit_call)
    monkeypatch.setattr(table, "HOSTS", (*table.HOSTS, Fifth()))
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


def fifth_file(home: Path, root: Path) -> Path:
    """A session of the fifth host with a request and an edit."""
    path = home / ".fifth" / "logs" / "ID5.jsonl"
    path.parent.mkdir(parents=True)
    records = [
        {"fifth": "user", "text": "which cache?", "cwd": str(root), "in": str(root)},
        {"fifth": "tool", "text": "-", "name": "fifth_edit", "path": "a.py"},
    ]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


@pytest.mark.usefixtures("fifth")
def test_a_new_card_is_all_that_a_new_host_needs(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "project"
    root.mkdir()
    path = fifth_file(home, root)
    stop = event({"fifth_session": "ID5"}, FIFTH_PROJECT="/fifth")
    assert (stop.host, stop.session_id, "/fifth" in stop.root_candidates) == ("fifth", "ID5", True)
    environ = {"HOME": str(home)}
    assert find.host_transcripts("fifth", "ID5", environ) == [str(path)]
    (found,) = find.of_project(project_at(str(root), "docs/adr"), environ)
    assert (found.host, found.session_id) == ("fifth", "ID5")
    session = transcript.parse(path.read_bytes().split(b"\n"))
    assert (session.host, session.entries[0].text) == ("fifth", "which cache?")
    assert session.edits == (Edit("a.py", str(root)),)
    assert [edit.path for edit in reading.edits(str(path), 0, path.stat().st_size)] == ["a.py"]
    where = blocks.extent(str(path))
    assert where
    assert reading.read(where, 0)[0] == session
    world = real_world("capture-decisions")._replace(environ=environ)
    plan = never_captured(project_at(str(root), "docs/adr"), world, capture_settings(environ), None)
    assert [(one.entry.host, one.first) for one in plan.candidates] == [("fifth", "which cache?")]
    assert table.public_path(f"{home}/.fifth/logs/p/ID5.jsonl", str(home)) == "~/.fifth/logs/*/ID5.jsonl"


@pytest.mark.usefixtures("fifth")
def test_a_new_host_is_installed_and_checked_by_its_card(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    said: list[str] = []
    environ = {"HOME": str(tmp_path / "home"), "PATH": ""}
    world = real_world("capture-decisions")._replace(
        environ=environ, cwd=str(tmp_path), out=said.append, err=said.append
    )
    assert install.run(["install", "--fifth"], world) == 0
    written = json.loads((tmp_path / ".fifth" / "hooks.json").read_text())
    commands = [entry["command"] for group in written["hooks"]["Stop"] for entry in group["hooks"]]
    assert [command.rpartition(" ")[2] for command in commands] == ["capture", "normalize"]
    said.clear()
    doctor.run(["doctor"], world)
    (line,) = (line for line in said if "the fifth" in line)
    assert line.startswith("ok")
    assert install.run(["uninstall", "--fifth"], world) == 0
    assert not (tmp_path / ".fifth").exists()
