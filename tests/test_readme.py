"""The README is true: its table is that of the settings, its first command works as written, its lines exist."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from decision_hooks import settings
from support.programs import SCRIPTS
from support.sandbox import Sandbox

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.M | re.S)


def test_the_table_of_variables_is_that_of_the_settings() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (?:`([^`]*)`)? ?\| (.*) \|$", README, re.M)
    wanted = [(one.name, one.default, one.meaning) for one in settings.VARIABLES]
    assert [row for row in rows if row[0] in {one.name for one in settings.VARIABLES}] == wanted


def test_every_guard_is_named() -> None:
    assert all(f"`{name}`" in README for name in settings.GUARDS)


def test_the_first_command_shows_drafts_and_records(sandbox: Sandbox) -> None:
    command = next(block for block in blocks("bash") if "choices" in block and "rules" in block)
    assert command.startswith("python3 -m venv .venv && .venv/bin/pip install -q . && ")
    copy = sandbox.base / "clone"
    shutil.copytree(ROOT / "docs", copy / "docs")
    text = command.split("pip install -q . && ", 1)[1].replace(".venv/bin/", f"{SCRIPTS}/")
    done = subprocess.run(
        ["bash", "-c", text], cwd=copy, env=sandbox.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "## ADR Where shall the price cache live?" in done.stdout
    assert 'Chosen option: "SQLite file"' in done.stdout
    assert "type: ADR" in done.stdout
    assert done.stdout.count("session:") == 2, "drafts are gone once they are records"


def test_the_draft_that_is_shown_is_what_the_program_writes(sandbox: Sandbox) -> None:
    shown = next(block for block in blocks("markdown") if "session:" in block)
    copy = sandbox.home / "decision-hooks"
    shutil.copytree(ROOT / "docs", copy / "docs")
    sandbox.capture(
        None,
        "--transcript",
        str(copy / "docs/example/session.jsonl"),
        "--session-id",
        "7c9e4b1a",
        env={"CAPTURE_DECISIONS_BACKEND": "choices", "ADR_LANGUAGE": "en"},
    )
    written = next(text for name, text in sandbox.drafts().items() if "price-cache-live" in name)
    assert shown.strip() == written.strip()
    assert "--session-id 7c9e4b1a " in README


@pytest.mark.parametrize(
    "line",
    [
        "no transcript path",
        "nothing new in the session",
        "skipping ADR capture: ",
        "pi not found",
        "no local policy model configured",
        "claude CLI not found",
        "no backend available",
        "refused reply",
        "empty response from ",
        "paused until ",
        "daily cap of ",
        ", threshold ",
        "last attempt at ",
        "bad value of ",
        "cannot write ",
        "cannot create ",
        "cannot make the folder ",
        "given up after ",
        "fault: ",
    ],
)
def test_the_lines_of_the_log_that_are_explained_are_written(line: str) -> None:
    assert line in README
    assert line in SOURCES


def test_files_that_are_linked_are_there() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
