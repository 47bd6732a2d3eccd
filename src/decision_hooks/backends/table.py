"""The table of the backends, and the names that settings use besides."""

from __future__ import annotations

from decision_hooks.backends import claude, cursor_agent, pi

CARDS = (pi.CARD, claude.CARD, cursor_agent.CARD)  # in the order of preference
CHOICES, RULES, LOCAL = "choices", "rules", "local"
NO_MODEL = (CHOICES, RULES)
LOCAL_CARD = pi.CARD  # the local pipeline asks its questions through it


def names() -> list[str]:
    """The names of the backends, in the order of preference."""
    return [card.name for card in CARDS]


def capture_names() -> list[str]:
    """The values of ``CAPTURE_DECISIONS_BACKEND``."""
    return [*names(), "auto", CHOICES]
