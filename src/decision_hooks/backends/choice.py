"""Which backend each program calls, and why it passes over the others: the one place of that rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from decision_hooks.backends import call
from decision_hooks.backends.call import Absent, Backend
from decision_hooks.settings import CaptureSettings, NormalizeSettings

BY_PREFERENCE = ("pi", "claude", "cursor-agent")  # by preference
CAPTURE_BACKENDS = (*BY_PREFERENCE, "auto", "choices")  # values of CAPTURE_DECISIONS_BACKEND
_NO_MODEL = ("choices", "rules")


class Choice(NamedTuple):
    """The backend of one program."""

    name: str  # "" when there is none
    backend: Backend | None = None  # None for those that call no program of their own
    reasons: tuple[str, ...] = ()  # why others, or all, were passed over

    @property
    def label(self) -> str:
        """The backend with its model, as a person is told."""
        if self.backend:
            return f"{self.backend.label}, model {self.backend.model}"
        return f"{self.name}, no model" if self.name in _NO_MODEL else self.name


def capture_choice(settings: CaptureSettings, root: str, environ: Mapping[str, str]) -> Choice:
    """The backend that capture calls; no name and the reasons when there is none."""
    name = settings.backend
    if name not in CAPTURE_BACKENDS:
        return Choice("", reasons=(f"unknown CAPTURE_DECISIONS_BACKEND={name}",))
    if name == "choices":
        return Choice(name)
    names = BY_PREFERENCE if name == "auto" else (name,)
    return _first(call.capture_backend(one, settings, root, environ) for one in names)


def normalize_choice(settings: NormalizeSettings, root: str, environ: Mapping[str, str]) -> Choice:
    """The backend that normalisation calls; no name and the reasons when there is none."""
    name = settings.backend or ("local" if settings.local_model else "")
    if name == "rules":
        return Choice(name)
    if name == "local":
        return _local(settings, root, environ)
    name = "cursor-agent" if name == "cursor" else name
    if name and name not in BY_PREFERENCE:
        return Choice("", reasons=(f"unknown ADR_NORMALIZE_BACKEND={name}",))
    names = (name,) if name else BY_PREFERENCE
    return _first(call.normalize_backend(one, settings, root, environ) for one in names)


def _first(found: Iterable[Backend | Absent]) -> Choice:
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
    absent = call.local_backend(settings.local_model, root, environ)
    return Choice("", reasons=(f"local: {absent.reason}",)) if isinstance(absent, Absent) else Choice("local")
