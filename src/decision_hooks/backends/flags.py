"""Which flags an older program does not know: asked once a version by calling it, remembered for the user."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from decision_hooks.backends.base import Form
from decision_hooks.errors import FolderError
from decision_hooks.system import files, process, stored
from decision_hooks.system.seal import key_file

NOT_CLOSED = "its call is not hermetic, tools, memory files or MCP servers may be on; update it"
_UNKNOWN = re.compile(
    r"(?:unknown|unrecognized|unexpected|invalid|no such) (?:command[ -]line )?(?:option|argument|flag)s?"
    r"[^\w-]*(-{1,2}\w[\w-]*)?",
    re.I,
)
_MOST = 40  # programs remembered


class Lacking(NamedTuple):
    """How an older program is called: the form, and the flags that are left out of it."""

    form: Annotated[int, range(10)] = 0
    flags: tuple[str, ...] = ()

    def form_of(self, forms: Sequence[Form]) -> Form:
        """That form of a backend; its last one when it has no longer so many."""
        return forms[min(self.form, len(forms) - 1)]


def lacking(program: str, environ: Mapping[str, str]) -> Lacking:
    """What is known of a program as it lies there now; nothing for one that was never too old."""
    known = files.read_json(_memory(environ)) or {}
    return stored.read(Lacking, known.get(_version_of(program))) or Lacking()


def after(known: Lacking, forms: Sequence[Form], result: process.Result) -> Lacking | None:
    """How to call a program that has just refused a flag; None when it did not, or nothing is left to leave out."""
    said = (result.stderr[-4096:] + b"\n" + result.stdout[:4096]).decode("utf-8", "replace")
    refused = None if result.timed_out else _UNKNOWN.search(said)
    if refused is None:
        return None
    options = [option[0] for option in known.form_of(forms).options]
    kept = [flag for flag in options if flag not in known.flags]
    if refused[1] in kept:
        return known._replace(flags=(*known.flags, refused[1]))
    if kept and refused[1] not in known.flags:  # it does not say which
        return known._replace(flags=(*known.flags, *kept))
    return Lacking(known.form + 1) if known.form + 1 < len(forms) else None


def missing(forms: Sequence[Form], known: Lacking) -> list[str]:
    """The flags of the first form that a program is called without."""
    if not forms or known == Lacking():
        return []
    used = known.form_of(forms).without(known.flags)
    wanted = forms[0].without(())
    return [word for word in wanted if word.startswith("--") and word not in used] or list(known.flags)


def remember(program: str, environ: Mapping[str, str], known: Lacking) -> None:
    """Keep it for the next call of this version; where nothing can be kept, the program is asked again."""
    path = _memory(environ)
    rows = files.read_json(path) or {}
    rows.pop(_version_of(program), None)
    rows[_version_of(program)] = known._asdict()
    try:
        files.make_folder(os.path.dirname(path), 0o700)
        files.write_atomic(path, files.json_bytes(dict(list(rows.items())[-_MOST:])), mode=0o600)
    except FolderError:
        pass


def _memory(environ: Mapping[str, str]) -> str:
    return os.path.join(os.path.dirname(key_file(environ)), "programs.json")


def _version_of(program: str) -> str:
    """The program file as it lies there now."""
    path = os.path.realpath(program)
    try:
        found = os.stat(path)
    except OSError:
        return path
    return f"{path} {found.st_size} {found.st_mtime_ns}"
