"""The card of a backend: all that is known of a program that runs a model."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

MODEL, WORKSPACE = "{model}", "{workspace}"  # words of a form: the model, the empty folder of the call


class Form(NamedTuple):
    """One way to call a program: the words after its name, and options that it may not know, each with its value."""

    words: tuple[str, ...]
    in_root: bool = False  # in the project's root, else in an empty folder
    options: tuple[tuple[str, ...], ...] = ()

    def without(self, flags: Collection[str]) -> tuple[str, ...]:
        """The words and those options whose flag is not among ``flags``."""
        known = (word for option in self.options if option[0] not in flags for word in option)
        return (*self.words, *known)


class Card(NamedTuple):
    """A backend; of its forms, later ones are for a program that is too old for an earlier form's flags."""

    name: str  # of the program, and in the settings
    label: str  # in the log
    model_field: str  # of ``CaptureSettings`` and ``NormalizeSettings``
    capture: tuple[Form, ...]
    normalize: tuple[Form, ...]
    absent: str  # logged when the program is not found
    login: str  # how a person logs in
    no_model: str = ""  # logged when capture has no model; "" where the setting has a default
    alias: str = ""  # another name in ``ADR_NORMALIZE_BACKEND``
    project_paths: tuple[str, ...] = ()  # of the program in a project, before the PATH is searched


class Backend(NamedTuple):
    """A backend that can be called, with its model."""

    name: str
    model: str
    label: str
    program: str = ""  # path
    forms: tuple[Form, ...] = ()
    setting: str = ""  # the variable that names the model
