"""Chooses the backend that each program calls, and says why others were passed over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from decision_hooks.backends import call, table
from decision_hooks.backends.base import Backend, Card, Form
from decision_hooks.errors import BackendError
from decision_hooks.settings import CaptureSettings, NormalizeSettings, model_variable


class BackendChoice(NamedTuple):
    """The backend of one program."""

    name: str  # "" when there is none
    backend: Backend | None = None  # None also for names that are no backend: choices, rules, local
    reasons: tuple[str, ...] = ()  # why others, or all, were passed over
    skip: str = "no backend"  # why a run without one is skipped, in short

    @property
    def label(self) -> str:
        """The backend with its model, for a person."""
        if self.backend:
            return f"{self.backend.label}, model {self.backend.model}"
        return f"{self.name}, no model" if self.name in table.NO_MODEL else self.name


def capture_choice(settings: CaptureSettings, root: str, environ: Mapping[str, str]) -> BackendChoice:
    """The backend that capture calls; no name and the reasons when there is none."""
    name = settings.backend
    if name == table.CHOICES:
        return BackendChoice(name)
    cards = [card for card in table.CARDS if name in (card.name, "auto")]
    if not cards:
        return BackendChoice(
            "", reasons=(f"unknown CAPTURE_DECISIONS_BACKEND={name}",), skip="unknown backend"
        )
    return _first([(card, card.capture) for card in cards], settings, root, environ)


def normalize_choice(settings: NormalizeSettings, root: str, environ: Mapping[str, str]) -> BackendChoice:
    """The backend that normalisation calls; no name and the reasons when there is none."""
    name = settings.backend or (table.LOCAL if settings.local_model else "")
    if name == table.RULES:
        return BackendChoice(name)
    if name == table.LOCAL:
        return _local(settings, root, environ)
    cards = [card for card in table.CARDS if not name or name in (card.name, card.alias)]
    if not cards:
        return BackendChoice("", reasons=(f"unknown ADR_NORMALIZE_BACKEND={name}",), skip="unknown backend")
    return _first([(card, card.normalize) for card in cards], settings, root, environ)


def _first(
    ways: Iterable[tuple[Card, tuple[Form, ...]]],
    settings: CaptureSettings | NormalizeSettings,
    root: str,
    environ: Mapping[str, str],
) -> BackendChoice:
    reasons: list[str] = []
    skip = "no model"  # unless a program is missing
    for card, forms in ways:
        try:
            backend = call.find_backend(card, forms, getattr(settings, card.model_field), root, environ)
            backend = backend._replace(setting=model_variable(settings, card.model_field))
        except BackendError as error:
            reasons.append(str(error))
            skip = skip if str(error) == card.no_model else "no backend"
        else:
            return BackendChoice(card.name, backend, tuple(reasons))
    return BackendChoice("", reasons=tuple(reasons), skip=skip)


def _local(settings: NormalizeSettings, root: str, environ: Mapping[str, str]) -> BackendChoice:
    """The local pipeline needs a backend with the local model; a command of the user's needs none."""
    if settings.local_cmd:
        return BackendChoice(table.LOCAL)
    if not settings.local_model:
        return BackendChoice("", reasons=("local: N_LOCAL_MIN_MODEL is not set",))
    try:
        call.local_backend(settings.local_model, root, environ)
    except BackendError as error:
        return BackendChoice("", reasons=(f"local: {error}",))
    return BackendChoice(table.LOCAL)
