"""Prompts: template files of the package, filled in one pass so that data cannot contain placeholders."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "prompt_templates")
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def fill(name: str, language: str, values: Mapping[str, str]) -> str:
    """The template ``<name>.<language>.md`` (``en`` where the language has none) with its placeholders filled.

    Raises ``KeyError`` for a placeholder without a value: a template and its caller belong together.
    """
    from decision_hooks.system import files

    path = os.path.join(_FOLDER, f"{name}.{language}.md")
    if not os.path.isfile(path):
        path = os.path.join(_FOLDER, f"{name}.en.md")
    text = files.read_text(path, follow=True)
    if text is None:
        raise FileNotFoundError(path)
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def boundary(random: bytes) -> str:
    """A random fence that no data can contain; the prompt names it as the only end of the data."""
    return f"DATA-{random.hex()}"
