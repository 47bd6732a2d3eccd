"""Control characters of foreign text: shown as escapes, never written."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.text.controls import removed, visible

HOSTILE = [
    "\x1b[31m",
    "\x07",
    "\x9b31m",
    "\x7f",
    "\x85",
    "\u202e",
    "\u2066",
    "\u200f",
    "\u061c",
    "\r",
    "\x00",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_steers_a_terminal_is_shown_as_an_escape_and_not_written(text: str) -> None:
    assert "\\" in visible(f"a{text}b")
    assert removed(f"a{text}b") in ("ab", "a[31mb", "a31mb")


@pytest.mark.parametrize("text", ["рішення", "a\tb\nc", "naïve 12 km", "नमस्ते", "👩\u200d💻", "می\u200cخواهم"])
def test_ordinary_text_stays(text: str) -> None:
    assert visible(text) == text == removed(text)


@given(st.text(alphabet=st.characters(codec=None)))
def test_no_control_character_is_left(text: str) -> None:
    shown = visible(text)
    assert not any(
        unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") and char not in "\n\t" for char in shown
    )
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200e\u200f")
    assert visible(shown) == shown
    assert removed(removed(text)) == removed(text)
