"""State folders that earlier versions wrote are read: literal files of each kind, as they were written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from decision_hooks.records.search import Indexed
from decision_hooks.state import record_index
from decision_hooks.state.capture import CaptureState
from decision_hooks.state.normalize import Backoff, NormalState, StoredPlan
from decision_hooks.state.runs import known_runs
from decision_hooks.state.values import GivenUp, Outbox, Pending, Position, Title
from decision_hooks.system.project import Project, project_at
from decision_hooks.system.state_folder import open_state

NOW = 1_800_000_000.0
POSITION_JSON = (
    '{"path":"/home/k/сесія.jsonl","offset":120,"check":"c0ffee","uuid":"u-9","appended":"aa",'
    '"titles":[["Кеш","id1"]],"verdict":"own","subagents":[["agent-1.jsonl",5]],"time":1800000000.0}'
)
PENDING_JSON = (
    '"key":"k1","transcript":"/t.jsonl","session_id":"s1","host":"claude","message":"said\\nso","root":"/root",'
    '"waits":true,"first":1800000000.0,"stop":1800000001.0,"tried":1800000002.0,"tries":2,"serial":"5e7"}\n'
)
PLAN_ID = "20270115T080000Z"
FILES = {
    "positions/k1.json": POSITION_JSON + "\n",
    "pending/k1.json": "{" + PENDING_JSON,
    "given-up/k1-10.json": '{"begin":10,"end":20,"check":"c","appended":"d","verdict":"tooling-only",'
    + PENDING_JSON,
    "outbox/k1.json": '{"key":"k1","root":"/root","drafts":[["260304-0506-кеш","---\\nтекст"]],"position":'
    + POSITION_JSON
    + ',"uuids":["u1"]}\n',
    "normalize.json": '{"misses": {"a.md": 1}, "halvings": 1, '
    '"backoff": {"until": 1800000900.0, "step": 900.0, "why": "no credit"}}',
    f"plans/{PLAN_ID}.json": '{"reply": "reply \\ud800", "language": "uk", "today": "2026-03-04", '
    '"batch": [["a.md", "1"]], "targets": [["b.md", "2"]], "names": ["c.md"], "tooling": [["d.md", "4"]], '
    f'"id": "{PLAN_ID}"}}',
    "runs/r1/journal.json": '{"tree": "", "adr": "docs/adr", "title": "1 merged", "steps": '
    '[["a.md", ["948caa2db61bc4cdb4faf7740cd491f195043914", 420], null, ["b.md"]], '
    '["b.md", null, ["6645b53521f8eaf97e3d6404385b1835da0bb135", null], []]]}',
    "runs/r1/left.json": '{"left": ["b.md"]}',
    "runs/r1/before/0": "a",
    "runs/r1/after/1": "b",
    "runs/r1/done": "",
    "records.index": '{"version":1,"records":[[26,1796082828715081488,"r.md","Title","","title\\nr",'
    '[[1,"title\\nbody"],[2,"word"]],4,0]]}',
}
POSITION = Position(
    "/home/k/сесія.jsonl",
    120,
    "c0ffee",
    "u-9",
    "aa",
    (Title("Кеш", "id1"),),
    "own",
    (("agent-1.jsonl", 5),),
    NOW,
)
PENDING = Pending(
    "k1", "/t.jsonl", "s1", "claude", "said\nso", "/root", True, NOW, NOW + 1, NOW + 2, 2, "5e7"
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose state folder an earlier version wrote."""
    made = project_at(str(tmp_path), "docs/adr")
    open_state(made, os.environ)
    for name, text in FILES.items():
        path = Path(made.state_file(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return made


def test_what_capture_stored_is_read(project: Project) -> None:
    state = CaptureState(project)
    assert state.position("k1", "/other", NOW) == POSITION
    assert state.pending() == [PENDING]
    assert state.given_up() == [GivenUp(PENDING, 10, 20, "c", "d", "tooling-only")]
    assert state.outboxes() == [
        Outbox("k1", POSITION, "/root", (("260304-0506-кеш", "---\nтекст"),), ("u1",))
    ]


def test_what_normalisation_stored_is_read(project: Project) -> None:
    state = NormalState(project)
    assert state.misses() == {"a.md": 1}
    assert state.halvings() == 1
    assert state.backoff(NOW, 3600) == Backoff(NOW + 900, 900.0, "no credit")
    files = ((("a.md", "1"),), (("b.md", "2"),), ("c.md",), (("d.md", "4"),))
    assert state.stored_plan(PLAN_ID) == StoredPlan("reply \ud800", "uk", "2026-03-04", *files, PLAN_ID)


def test_a_stored_run_is_read_with_its_images(project: Project) -> None:
    [run] = known_runs(project)
    assert (run.state, run.title, run.left) == ("done", "1 merged", {"b.md"})
    first, second = run.steps
    assert (first.name, first.after, first.needs) == ("a.md", None, ("b.md",))
    assert (second.name, second.before, second.needs) == ("b.md", None, ())
    assert run.before(first) == (b"a", 0o644)
    assert run.after(second) == b"b"


def test_the_stored_index_of_records_is_read() -> None:
    terms = ((1, "title\nbody"), (2, "word"))
    assert record_index.load(FILES["records.index"].encode()) == {
        "r.md": (26, 1796082828715081488, Indexed("r.md", "Title", "", "title\nr", terms, 4, 0))
    }
