"""Hostile replies through the whole command: nothing outside of the batch and its lawful targets is touched."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decision_hooks.records import naming
from support.adr_texts import record
from support.inbox import CLEAN, ONE, THREE, TWO, all_three, content, delete, fill, merge, rewrite
from support.sandbox import NORMALIZE, Sandbox
from support.stage import Stage

OTHER = "260301-0901-other.md"
LINK = "260301-0902-link.md"
DRAFTS = (ONE, TWO, THREE)
WORDS = st.sampled_from(
    [
        "", " ", ".", "..", "../../README.md", "/etc/passwd", "~/x", "docs/adr", "a/b", "a\\b", ".hidden", "-", "--",
        "con", "x" * 400, "\x00", "\n", "\ud800", "\u202e", "слово", "e\u0301", "queue", "price-cache", "README.md",
        "readme", "_template", "template", CLEAN, OTHER, LINK, *DRAFTS, CLEAN.upper(), f"./{ONE}", f"{ONE}\n",
        f"../adr/{ONE}", "260304-0501-", ".decision-hooks-normalize-1-1.tmp", "```", "---", "---\nsession: x\n---\n",
        "# ADR", content(), content() + "\n```", "---\ntitle: [\n---\n", "---\n" + "a: [" * 500, "## Update\n\nx",
    ]
)  # fmt: skip
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELD = WORDS | JUNK
OPERATION = JUNK | st.fixed_dictionaries(
    {
        "op": st.sampled_from(["delete", "rewrite", "merge-into"]) | FIELD,
        "file": st.sampled_from(DRAFTS) | FIELD,
    },
    optional=dict.fromkeys(("slug", "content", "target", "additions", "reason", "extra"), FIELD),
)
LAWFUL = st.sampled_from(
    [
        *(rewrite(file, slug) for file in DRAFTS for slug in ("price-cache", "cache", "typo")),
        *(merge(file, target) for file in DRAFTS for target in (CLEAN, "other", "price-cache")),
        *(delete(file) for file in DRAFTS),
    ]
)
REPLIES = st.lists(OPERATION | LAWFUL, max_size=6).map(lambda items: json.dumps({"operations": items}))


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    sandbox = Sandbox(tmp_path_factory.mktemp("hostile") / "world")
    fill(sandbox)
    sandbox.write(f"docs/adr/{OTHER}", record("Another"))
    sandbox.write("docs/adr/README.md", "# Records\n")
    sandbox.write("docs/adr/adr-template.md", "# Template\n")
    sandbox.write("docs/adr/old/260301-0903-older.md", record("Older"))
    sandbox.write(".claude/hooks/.keep", "")
    outside = sandbox.base / "outside.md"
    outside.write_text(record("Outside"))
    (sandbox.adr / LINK).symlink_to(outside)
    return Stage(sandbox)


def replied(stage: Stage, reply: str | bytes) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Everything around and in the project before and after a run by hand whose command prints the reply."""
    stage.again()
    before = everything(stage.sandbox)
    path = stage.sandbox.base / "reply"
    path.write_bytes(reply if isinstance(reply, bytes) else reply.encode("utf-8", "surrogatepass"))
    stage.attempt("run", ADR_NORMALIZE_BACKEND="local", ADR_NORMALIZE_LOCAL_CMD=f"sh -c 'exec cat {path}' x")
    path.unlink()
    return before, everything(stage.sandbox)


def everything(sandbox: Sandbox) -> dict[str, bytes]:
    """All files of the world but git's, ours and what the stage keeps."""
    found = sandbox.snapshot(of=sandbox.base, without=(".git", ".claude", "kept", "fakes", "tmp", ".local"))
    return {name: text for name, text in found.items() if name != "reply"}


def judge(before: dict[str, bytes], after: dict[str, bytes]) -> None:
    """Only drafts may go, only records may grow, and what comes is a record with a lawful name."""
    folder = "project/docs/adr/"
    drafts = {folder + name for name in DRAFTS}
    targets = {folder + CLEAN, folder + OTHER}
    for name, text in before.items():
        if name in drafts and name not in after:
            continue
        if name in targets:
            assert after[name].startswith(text.rstrip())
        elif name in drafts and after[name] != text:
            assert_record(after[name])  # the record has taken the name of its draft
        else:
            assert after[name] == text
    for name in after.keys() - before.keys():
        assert name.startswith(folder)
        assert naming.is_plain_name(name.removeprefix(folder))
        assert naming.time_prefix(name.removeprefix(folder)) in {
            naming.time_prefix(draft) for draft in DRAFTS
        }
        assert_record(after[name])


def assert_record(data: bytes) -> None:
    text = data.decode("utf-8")
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["type"] == "ADR"
    assert isinstance(front["title"], str)
    assert front["status"] == "accepted"
    assert not {"session", "captured", "transcript"} & set(front)
    assert text.count("\n## Decision Outcome\n") >= 1
    assert "\x00" not in text


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(reply=REPLIES)
def test_whatever_is_replied_only_the_batch_and_its_lawful_targets_change_and_undo_gives_all_back(
    stage: Stage, reply: str
) -> None:
    before, after = replied(stage, reply)
    judge(before, after)
    assert "fault" not in stage.sandbox.log(NORMALIZE)
    stage.attempt("undo")
    assert everything(stage.sandbox) == before


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"\x00" * 1000,
        b"\xff\xfe\xfd",
        b"[" * 100_000,
        b'{"operations":' * 5_000,
        b'{"operations": [' + b"{}," * 50_000 + b"{}]}",
        b'{"operations": [' + b'{"op":"delete","file":"x"},' * 20_000 + b"{}]}",
        json.dumps(
            {"operations": [{"op": "rewrite", "file": ONE, "slug": "x", "content": "#" * 3_000_000}]}
        ).encode(),
        json.dumps(
            {"operations": [{"op": "rewrite", "file": ONE, "slug": "\u0301" * 9_999, "content": "x"}]}
        ).encode(),
        ("\ufeff" + all_three()).encode("utf-16"),
        b'{"operations": [{"op": "delete", "file": ' + b"1" * 50_000 + b"}]}",
    ],
    ids=range(11),
)
def test_monstrous_replies_cost_little_and_touch_nothing_unlawful(stage: Stage, reply: bytes) -> None:
    judge(*replied(stage, reply))
    assert "fault" not in stage.sandbox.log(NORMALIZE)


@pytest.mark.parametrize("share", [number / 12 for number in range(12)])
def test_a_reply_that_breaks_off_changes_nothing(stage: Stage, share: float) -> None:
    whole = all_three()
    before, after = replied(stage, whole[: int(len(whole) * share)])
    assert before == after
    assert len(list(Path(stage.sandbox.own_state).glob("runs/*"))) == 0


def test_names_that_differ_in_case_alone_are_one_name(stage: Stage) -> None:
    items: list[dict[str, Any]] = [
        {"op": "rewrite", "file": ONE, "slug": "Same", "content": content("A")},
        {"op": "rewrite", "file": TWO, "slug": "same", "content": content("B")},
    ]
    before, after = replied(stage, json.dumps(items))
    judge(before, after)
    made = [os.path.basename(name) for name in after.keys() - before.keys()]
    assert len({name.casefold() for name in made}) == len(made) == 2
