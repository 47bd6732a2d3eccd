"""Which backend a program would call now, and why it passes over the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from decision_hooks.settings import CaptureSettings, NormalizeSettings
from decision_hooks.system import backends
from decision_hooks.system.backends import Absent, Backend

_BY_PREFERENCE = ("pi", "claude", "cursor-agent")
NO_MODEL = ("choices", "rules")


class Choice(NamedTuple):
    """The backend of one program."""

    name: str  # "" when there is none
    backend: Backend | None = None  # None for those that call no program
    reasons: tuple[str, ...] = ()  # why others, or all, were passed over

    @property
    def label(self) -> str:
        """The backend with its model, as a person is told."""
        if self.backend:
            return f"{self.backend.label}, model {self.backend.model}"
        return f"{self.name}, no model" if self.name in NO_MODEL else self.name


def capture_choice(settings: CaptureSettings, root: str, environ: Mapping[str, str]) -> Choice:
    """The backend that capture would use."""
    if settings.backend == "choices":
        return Choice("choices")
    names = _BY_PREFERENCE if settings.backend == "auto" else (settings.backend,)
    if names[0] not in _BY_PREFERENCE:
        return Choice("", reasons=(f"unknown CAPTURE_DECISIONS_BACKEND={settings.backend}",))
    return _first([backends.capture_backend(name, settings, root, environ) for name in names])


def normalize_choice(settings: NormalizeSettings, root: str, environ: Mapping[str, str]) -> Choice:
    """The backend that normalisation would use."""
    name = settings.backend or ("local" if settings.local_model else "")
    if name == "rules":
        return Choice("rules")
    if name == "local":
        return _local(settings, root, environ)
    names = ("cursor-agent" if name == "cursor" else name,) if name else _BY_PREFERENCE
    if names[0] not in _BY_PREFERENCE:
        return Choice("", reasons=(f"unknown ADR_NORMALIZE_BACKEND={name}",))
    return _first([backends.normalize_backend(one, settings, root, environ) for one in names])


def _first(found: list[Backend | Absent]) -> Choice:
    reasons: list[str] = []
    for one in found:
        if isinstance(one, Backend):
            return Choice(one.name, one, tuple(reasons))
        reasons.append(one.reason)
    return Choice("", reasons=tuple(reasons))


def _local(settings: NormalizeSettings, root: str, environ: Mapping[str, str]) -> Choice:
    """The local pipeline calls pi with the local model, unless a command of the user's takes its place."""
    if settings.local_cmd:
        return Choice("local")
    if not settings.local_model:
        return Choice("", reasons=("local: N_LOCAL_MIN_MODEL is not set",))
    if not backends.find_program("pi", root, environ):
        return Choice("", reasons=("local: pi not found",))
    return Choice("local")
