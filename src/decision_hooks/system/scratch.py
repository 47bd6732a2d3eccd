"""A temporary folder to play in, and programs to put there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from decision_hooks.system import files


@contextmanager
def scratch_folder(prefix: str, *, keep: bool) -> Iterator[str]:
    """A new private folder, its path resolved; it goes at the end, whatever happens, unless it is kept."""
    import shutil
    import tempfile

    folder = os.path.realpath(tempfile.mkdtemp(prefix=prefix))
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def put(path: str, text: str, *, program: bool = False) -> None:
    """Write a text file, its folders too; ``program`` makes it one that can be run."""
    files.make_folder(os.path.dirname(path))
    files.write_atomic(path, text.encode("utf-8", "replace"), mode=0o755 if program else 0o644)
