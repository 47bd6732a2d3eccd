"""The card of a backend: all that is known of a program that runs a model."""

from __future__ import annotations

from typing import NamedTuple

MODEL, WORKSPACE = "{model}", "{workspace}"  # words of a form: the model, the empty folder of the call


class Form(NamedTuple):
    """One way to call a program: the words after its name; ``in_root``: in the project's root."""

    words: tuple[str, ...]
    in_root: bool = False  # else in an empty folder


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
