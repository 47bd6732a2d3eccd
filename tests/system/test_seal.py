"""Seals: equal on one machine, unlike elsewhere, and made even where no key can be kept."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from decision_hooks.system import seal


def test_a_seal_is_the_same_again_and_depends_on_each_part(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    assert seal.seal(environ, "a", "b") == seal.seal(environ, "a", "b")
    assert len({seal.seal(environ, *parts) for parts in (("a", "b"), ("ab",), ("ab", ""), ("a", "c"))}) == 4


def test_another_home_has_another_key(tmp_path: Path) -> None:
    assert seal.seal({"HOME": str(tmp_path / "a")}, "x") != seal.seal({"HOME": str(tmp_path / "b")}, "x")


def test_the_key_is_private(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "XDG_STATE_HOME": "/elsewhere"}  # of a shell, not of a desktop
    seal.seal(environ, "x")
    path = Path(seal.key_file(environ))
    assert path.is_relative_to(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_seal_is_known_again_and_a_foreign_one_is_not(tmp_path: Path) -> None:
    here, elsewhere = {"HOME": str(tmp_path / "a")}, {"HOME": str(tmp_path / "b")}
    own = seal.seal(here, "state")
    assert seal.is_seal(own, here, "state")
    others = (own, here, "other"), (own, elsewhere, "state"), ("", here, "state"), (None, here, "state")
    assert not any(seal.is_seal(*other) for other in others)


def test_a_seal_of_a_run_that_could_keep_no_key_counts_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"HOME": str(tmp_path / "home")}
    (tmp_path / "home").write_text("")
    for machine, counts in ((b"", False), (b"0123", True)):
        monkeypatch.setattr(seal, "_machine_id", lambda machine=machine: machine)
        own = seal.seal(environ, "state")
        assert seal.is_seal(own, {"HOME": str(tmp_path / "writable")}, "state") is counts


def test_a_home_that_is_no_folder_still_gives_a_seal(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environ = {"HOME": str(tmp_path / "file")}
    assert seal.seal(environ, "x") == seal.seal(environ, "x")


@pytest.mark.parametrize("cut", [b"", b"short"])
def test_a_key_that_a_kill_has_cut_is_made_whole(tmp_path: Path, cut: bytes) -> None:
    environ = {"HOME": str(tmp_path)}
    path = Path(seal.key_file(environ))
    path.parent.mkdir(parents=True)
    path.write_bytes(cut)
    assert seal.seal(environ, "x") == seal.seal(environ, "x")
    assert len(path.read_bytes()) == 32
    assert path.read_bytes()[: len(cut)] != cut or not cut


def test_runs_beside_each_other_take_one_key(tmp_path: Path) -> None:
    code = f"from decision_hooks.system.seal import seal; print(seal({{'HOME': {str(tmp_path)!r}}}, 'x'))"
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(12)
    ]
    assert len({one.communicate()[0] for one in running}) == 1


@pytest.mark.parametrize("kind", ["pipe", "folder", "link"])
def test_an_obstacle_in_the_place_of_the_key_holds_nobody(tmp_path: Path, kind: str) -> None:
    environ = {"HOME": str(tmp_path)}
    path = Path(seal.key_file(environ))
    path.parent.mkdir(parents=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "elsewhere")
    assert seal.seal(environ, "x") == seal.seal(environ, "x")
    assert not (tmp_path / "elsewhere").exists()
