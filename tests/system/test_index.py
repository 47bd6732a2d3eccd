"""What git tracks, read from its index, is what git says: each version of the index, each kind of repository."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.system import index
from support.cost import assert_linear
from support.sandbox import Sandbox

NAME = ".claude/hooks/.decision-hooks"
NEAR = [  # names that hold the name, and are not below it
    f"{NAME}x",
    f"{NAME}.md",
    f"sub/{NAME}/pending/a.json",
    f"x{NAME}/a",
    ".claude/hooks/.decision-hook",
    ".claude/hooks/capture-decisions.log",
    "a/" + "b" * 200 + f"/{NAME}/c",
    "z",
]
BELOW = [f"{NAME}/pending/a.json", f"{NAME}/x" + "y" * 200 + "/" + "z" * 200, f"{NAME}/.gitignore", NAME]
VERSIONS = ["2", "3", "4", "split"]


def with_index(sandbox: Sandbox, version: str) -> Path:
    """Write the index of the project in that form; its git directory."""
    if version == "split":
        sandbox.git("update-index", "--split-index")
    elif version == "3":  # only an entry with an extended flag makes git write it
        sandbox.write("intent", "")
        sandbox.git("add", "-N", "intent")
    else:
        sandbox.git("update-index", "--index-version", version)
    return sandbox.root / ".git"


def tracked(folder: Path) -> bool:
    """Whether the index, or what it builds on, has the name."""
    return index.tracks(str(folder), NAME) or index.may_share(str(folder), NAME)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", BELOW)
def test_a_tracked_name_is_found(sandbox: Sandbox, version: str, name: str) -> None:
    for near in NEAR:
        sandbox.write(near, "x")
    sandbox.write(name, "x")
    sandbox.git("add", "-A", "-f")
    assert tracked(with_index(sandbox, version))


@pytest.mark.parametrize("version", VERSIONS)
def test_names_nearby_are_not_taken_for_it(sandbox: Sandbox, version: str) -> None:
    for near in NEAR:
        sandbox.write(near, "x")
    sandbox.git("add", "-A", "-f")
    assert not tracked(with_index(sandbox, version))


def test_a_name_that_only_an_extended_entry_has_is_found(sandbox: Sandbox) -> None:
    sandbox.write(f"{NAME}/a", "x")
    sandbox.git("add", "-N", "-f", f"{NAME}/a")
    assert (sandbox.root / ".git" / "index").read_bytes()[7] == 3
    assert tracked(sandbox.root / ".git")


@pytest.mark.parametrize("version", ["2", "4"])
def test_hashes_of_either_length_are_read(sandbox: Sandbox, version: str) -> None:
    other = sandbox.base / "other"
    sandbox.git("init", "-q", "--object-format=sha256", str(other))
    for name in (*NEAR, BELOW[0]):
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text("x")
    sandbox.git("add", "-A", "-f", cwd=other)
    sandbox.git("update-index", "--index-version", version, cwd=other)
    assert tracked(other / ".git")
    sandbox.git("rm", "-r", "-q", "--cached", NAME, cwd=other)
    assert not tracked(other / ".git")


@pytest.mark.parametrize("version", ["2", "4"])
def test_a_cut_or_damaged_index_ends_the_look(sandbox: Sandbox, version: str) -> None:
    for name in (*NEAR, "y"):
        sandbox.write(name, "x")
    sandbox.git("add", "-A", "-f")
    data = (with_index(sandbox, version) / "index").read_bytes()
    chance = random.Random(1)
    for size in range(0, len(data), 7):
        index.index_has(data[:size], NAME.encode())
        at = chance.randrange(12, len(data))
        index.index_has(data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :], NAME.encode())


@given(st.binary(max_size=300), st.sampled_from([2, 3, 4]))
def test_any_bytes_are_read(rest: bytes, version: int) -> None:
    head = b"DIRC" + version.to_bytes(4, "big") + (2**31).to_bytes(4, "big")
    assert index.index_has(head + rest, b"a") in (True, False)
    assert index.index_has(rest, b"a") is False or rest.startswith(b"DIRC")


def test_the_look_grows_with_the_index_alone() -> None:
    def look(text: str) -> None:
        assert not index.index_has(b"DIRC\0\0\0\x02" + text.encode(), NAME.encode())

    assert_linear(look, f"\x0f\x1f{NAME}/" * 100_000)
