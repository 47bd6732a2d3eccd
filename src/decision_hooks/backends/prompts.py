"""Prompts: template files of the package, filled in one pass so that data can never fill a place of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "prompt_templates")
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def fill(name: str, language: str, values: Mapping[str, str]) -> str:
    """The template ``<name>.<language>.md`` (``en`` where the language has none) with its places filled.

    Raises ``KeyError`` for a place without a value: a template and its caller belong together.
    """
    path = os.path.join(_FOLDER, f"{name}.{language}.md")
    if not os.path.isfile(path):
        path = os.path.join(_FOLDER, f"{name}.en.md")
    return _PLACE.sub(lambda match: values[match[1]], _template(path))


def _template(path: str) -> str:
    from decision_hooks.system import files

    text = files.read_text(path)
    if text is None:
        raise FileNotFoundError(path)
    return text


def boundary(random: bytes) -> str:
    """A fence that no data can hold: random, and told to the model as the only end of the data."""
    return f"DATA-{random.hex()}"
