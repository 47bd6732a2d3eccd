"""What names the user in a path: the home folder, and the folder names that hosts make of it."""

from __future__ import annotations

import re


def home_as_tilde(text: str, home: str) -> str:
    """The text with every mention of the home folder as ``~``."""
    home = home.rstrip("/")
    if len(home) < 2 or home not in text:
        return text
    return re.sub(re.escape(home) + r"(?![\w-])", "~", text)


def public_path(path: str, home: str) -> str:
    """A transcript's path without the user's name: ``~/.claude/projects/*/<id>.jsonl``.

    The host's folder for a project repeats the path of the home folder; a reader finds the file by glob.
    """
    shown = re.sub(r"/projects/[^/]+/", "/projects/*/", home_as_tilde(path, home))
    return re.sub(r"/sessions/--[^/]*--/", "/sessions/*/", shown)
