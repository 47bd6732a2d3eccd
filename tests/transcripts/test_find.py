"""Where hosts keep transcripts: what a stored part may name without a stop of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from decision_hooks.transcripts import find


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        (".claude/projects/-work-a/5e55.jsonl", True),
        (".cursor/projects/work-a/agent-transcripts/5e55.jsonl", True),
        (".cursor/projects/work-a/agent-transcripts/5e55/5e55.jsonl", True),
        (".cursor/projects/work-a/agent-transcripts/5e55.txt", True),
        (".codex/sessions/2026/03/04/rollout-2026-03-04T05-06-07-5e55.jsonl", True),
        (".pi/agent/sessions/--work-a--/2026_5e55.jsonl", True),
        (".claude/settings.json", False),
        (".claude/.credentials.json", False),
        (".claude/projects/-work-a/notes.txt", False),
        (".claude/projects/-work-a/../../../secret/a.jsonl", False),
        (".claude/history.jsonl", False),
        (".codex/auth.json", False),
        ("project/notes.jsonl", False),
        ("other/.claude/projects/-work-a/5e55.jsonl", False),
        (".claude-2/projects/-work-a/5e55.jsonl", False),
    ],
)
def test_hosts_keep_transcripts_in_their_folders(tmp_path: Path, path: str, kept: bool) -> None:
    assert find.is_kept(str(tmp_path / path), {"HOME": str(tmp_path)}) is kept


def test_a_folder_that_a_variable_names_and_one_behind_a_link_count(tmp_path: Path) -> None:
    (tmp_path / "dotfiles" / "projects").mkdir(parents=True)
    (tmp_path / ".claude").symlink_to(tmp_path / "dotfiles")
    real = str(tmp_path / "dotfiles" / "projects" / "p" / "s.jsonl")
    assert find.is_kept(real, {"HOME": str(tmp_path)})
    elsewhere = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "config")}
    assert not find.is_kept(real, elsewhere)
    assert find.is_kept(str(tmp_path / "config/projects/p/s.jsonl"), elsewhere)


def test_a_link_in_the_folder_of_a_host_that_leads_out_is_none(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "p"
    folder.mkdir(parents=True)
    (tmp_path / "secret.jsonl").touch()
    (folder / "s.jsonl").symlink_to(tmp_path / "secret.jsonl")
    assert not find.is_kept(str(folder / "s.jsonl"), {"HOME": str(tmp_path)})


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}])
def test_without_a_home_nothing_is_kept(environ: dict[str, str]) -> None:
    assert not find.is_kept("/.claude/projects/p/s.jsonl", environ)
