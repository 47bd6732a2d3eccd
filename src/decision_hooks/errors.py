"""The errors that the program raises on purpose: one base, few children."""

from __future__ import annotations


class DecisionHooksError(Exception):
    """Base of all: its text is one clear line for the log or the terminal."""

    reason = "error"  # why a hook did nothing, as ``status`` counts it


class SettingError(DecisionHooksError):
    """A variable or flag has a value that cannot be used; names both."""

    reason = "bad setting"


class OutsideError(SettingError):
    """The records folder lies outside of the project."""

    reason = "folder outside"


class RefusedReply(DecisionHooksError):
    """A backend's reply has not the form that was asked for; nothing of it is used."""


class BackendError(DecisionHooksError):
    """A backend could not be called or answered with an error."""


class FolderError(DecisionHooksError):
    """A file or folder could not be read or written; names it."""

    reason = "cannot write"


class StateRefused(FolderError):
    """The state folder is not used: it was not made on this machine, or leads elsewhere."""

    reason = "state not used"

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(f"{what}: the state folder is not used; {fix}")
        self.what = what
        self.fix = fix
