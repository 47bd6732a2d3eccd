"""Costs by ratio, never by an absolute time: a busy or slow machine changes both sides alike."""

from __future__ import annotations

import time
from collections.abc import Callable

_NOISE = 0.3  # seconds of processor time below which nothing is compared


def assert_linear(work: Callable[[str], object], text: str) -> None:
    """Four times the text costs at most eight times the processor time; quadratic work would cost sixteen."""
    whole = _seconds(work, text)
    if whole > _NOISE:
        quarter = min(_seconds(work, text[: len(text) // 4]) for _ in range(2))
        if whole >= 8 * quarter + _NOISE:  # once more: another process may have taken the caches
            whole = min(whole, _seconds(work, text), _seconds(work, text))
        assert whole < 8 * quarter + _NOISE, (
            f"{len(text)} characters: {whole:.2f} s, a quarter {quarter:.2f} s"
        )


def _seconds(work: Callable[[str], object], text: str) -> float:
    begin = time.process_time()
    work(text)
    return time.process_time() - begin
