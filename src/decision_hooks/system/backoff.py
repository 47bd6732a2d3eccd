"""How long to wait after calls that failed: one rule for the circuit breaker and for normalisation."""

from __future__ import annotations

FIRST = 15 * 60.0  # seconds


def next_wait(last: float, most: float) -> float:
    """Seconds to wait after one more failure: 15 minutes, then twice the last wait, at most ``most``."""
    return min(last * 2 if last > 0 else FIRST, most)


def is_open(until: float, step: float, now: float) -> bool:
    """Whether a wait of ``step`` seconds still lasts; one that ends later than that began at a wrong clock."""
    return now < until <= now + step
