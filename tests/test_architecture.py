"""Who may import whom, and where the world may be touched: the map of the package, held by ast."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import decision_hooks

PACKAGE = Path(decision_hooks.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# What each layer may import of the package. A family of story modules (capture*, normalize*) is one layer.
MAY_IMPORT = {
    "errors": set(),
    "settings": {"errors"},
    "records": {"records", "errors"},
    "sessions": {"sessions", "errors"},
    "system": {"system", "records", "settings", "errors"},
    "prompts": {"prompts", "system", "settings", "errors"},
    "capture": {"capture", "prompts", "sessions", "records", "system", "settings", "errors"},
    "normalize": {"normalize", "prompts", "sessions", "records", "system", "settings", "errors"},
    "commands": {
        "commands", "capture", "normalize", "prompts", "sessions", "records", "system", "settings", "errors",
    },
    "cli": {
        "commands", "capture", "normalize", "prompts", "sessions", "records", "system", "settings", "errors",
    },
    "package": set(),
}  # fmt: skip
PURE = ("sessions", "records")

# Modules that touch the world, and the layers that may use them.
WORLDLY = {
    "argparse": {"commands"},
    "fcntl": {"system"},
    "glob": {"system"},
    "pty": {"system"},
    "random": {"system"},
    "secrets": {"system"},
    "select": {"system", "cli"},
    "shutil": {"system"},
    "signal": {"system", "cli"},
    "socket": {"system"},
    "subprocess": {"system"},
    "tempfile": {"system"},
    "termios": {"system"},
    "threading": {"system"},
}
EDGE = set(MAY_IMPORT) - set(PURE)
# Calls and attributes that touch the world, by their full dotted name, and the layers that may use them.
ATTRIBUTES = {
    **{f"os.{name}": {"system", "cli"} for name in ("open", "dup2", "getcwd", "isatty", "read")},
    **{f"os.{name}": {"system"} for name in (
        "access", "chmod", "chown", "close", "execv", "execve", "execvp", "fdopen", "fork", "fsync", "kill",
        "killpg", "link", "listdir", "lstat", "makedirs", "mkdir", "popen", "putenv", "readlink", "remove",
        "rename", "renames", "replace", "rmdir", "scandir", "setsid", "stat", "symlink", "system", "truncate",
        "umask", "unlink", "utime", "walk", "write", "_exit",
    )},
    **{f"os.path.{name}": EDGE for name in (
        "exists", "getmtime", "getsize", "isdir", "isfile", "islink", "lexists", "realpath", "samefile",
    )},
    "os.environ": {"cli"},
    "os.environb": {"cli"},
    "os.getenv": {"cli"},
    "os.path.expanduser": {"cli"},
    "os.path.expandvars": {"cli"},
    **{f"sys.{name}": {"cli"} for name in ("argv", "exit", "stderr", "stdin", "stdout")},
    **{f"time.{name}": {"cli"} for name in ("ctime", "time", "time_ns")},
    **{f"time.{name}": {"system", "cli"} for name in ("monotonic", "perf_counter", "sleep")},
    **{f"{name}.{call}": set() for call in ("now", "today", "utcnow")
       for name in ("datetime", "datetime.datetime", "date", "datetime.date")},
    "pathlib.Path": {"system", "commands"},
    "uuid.uuid1": {"system"},
    "uuid.uuid4": {"system"},
}  # fmt: skip
BUILT_IN = {
    "open": {"system"},
    "input": set(),
    "print": set(),
    "exit": set(),
    "quit": set(),
    "SystemExit": {"cli"},
}
# A hook runs at each stop: these cost milliseconds and are imported where they are used.
SLOW = (
    "argparse", "asyncio", "concurrent", "dataclasses", "datetime", "difflib", "email", "enum", "hashlib",
    "http", "importlib", "inspect", "logging", "pathlib", "shutil", "slugify", "subprocess", "tempfile",
    "threading", "traceback", "urllib", "uuid", "yaml",
)  # fmt: skip


def layer_of(path: Path) -> str:
    """The layer of a file of the package; a file of no known layer fails."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    # The edge is what cli runs once the guards have let it pass.
    name = {"__init__": "package", "__main__": "cli", "edge": "cli"}.get(first, first)
    for story in ("capture", "normalize"):
        name = story if name.startswith(f"{story}_") else name
    assert name in MAY_IMPORT, (
        f"{path.name} has no layer: add it to the table here and in the package's docstring"
    )
    return name


def imports(tree: ast.AST, package: str = "decision_hooks") -> Iterator[tuple[str, int]]:
    """Dotted names of everything imported, with lines; ``from a import b`` gives ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) + 1 - node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)


def package_of(layer: str) -> str:
    """The package that holds the modules of a layer."""
    return f"decision_hooks.{layer}" if (PACKAGE / layer).is_dir() else "decision_hooks"


def wrong_layers(tree: ast.AST, layer: str) -> list[str]:
    """Imports of the package that the table does not allow."""
    found = []
    for name, line in imports(tree, package_of(layer)):
        parts = name.split(".")
        if parts[0] != "decision_hooks" or len(parts) == 1:
            continue
        target = layer_of(PACKAGE / f"{parts[1]}.py")
        if target not in MAY_IMPORT[layer] and target != layer:
            found.append(f"line {line}: {layer} may not import {target} ({name})")
    return found


def touches(tree: ast.AST, layer: str) -> list[str]:
    """Uses of the world in a layer that may not touch it."""
    found = []
    own = _bound(tree)
    for name, line in imports(tree):
        top = name.split(".")[0]
        if layer not in WORLDLY.get(top, {layer}):
            found.append(f"line {line}: {layer} may not import {top}")
        if layer not in ATTRIBUTES.get(name, {layer}):
            found.append(f"line {line}: {layer} may not use {name}")
    for node in ast.walk(tree):
        name = _dotted(node)
        if name and name not in own and layer not in {**ATTRIBUTES, **BUILT_IN}.get(name, {layer}):
            found.append(f"line {node.lineno}: {layer} may not use {name}")
    return found


def _bound(tree: ast.AST) -> set[str]:
    """Names that the module binds itself: one of them may be called like a built-in."""
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return names | {node.arg for node in nodes if isinstance(node, ast.arg)}


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return node.id if isinstance(node, ast.Name) else ""


def slow_imports(tree: ast.Module) -> list[str]:
    """Slow modules that are imported when the module is, not when they are used."""
    top = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = [(name, line) for node in top for name, line in imports(node)]
    return [
        f"line {line}: import {name} where it is used" for name, line in names if name.split(".")[0] in SLOW
    ]


def undocumented(tree: ast.Module) -> list[str]:
    """The module, public classes, functions and methods without a docstring."""
    found = [] if ast.get_docstring(tree) else ["the module has no docstring"]
    for node in _public(tree.body):
        if not ast.get_docstring(node):
            found.append(f"line {node.lineno}: {node.name} has no docstring")
    return found


_NAMED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _public(body: list[ast.stmt]) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in body:
        if isinstance(node, _NAMED) and not node.name.startswith("_"):
            yield node
            yield from _public(node.body) if isinstance(node, ast.ClassDef) else ()


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_layers_import_downwards_and_sessions_and_records_never_meet(path: Path) -> None:
    assert wrong_layers(parsed(path), layer_of(path)) == []


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_the_world_is_touched_only_at_the_edge(path: Path) -> None:
    assert touches(parsed(path), layer_of(path)) == []


@pytest.mark.parametrize("path", [path for path in FILES if path.parent.name != "commands"], ids=name_of)
def test_slow_modules_are_imported_where_they_are_used(path: Path) -> None:
    assert slow_imports(parsed(path)) == []


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_modules_classes_and_public_functions_say_what_they_promise(path: Path) -> None:
    assert undocumented(parsed(path)) == []


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_nothing_is_left_for_later(path: Path) -> None:
    raised = [_dotted(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
              for node in ast.walk(parsed(path)) if isinstance(node, ast.Raise) and node.exc]  # fmt: skip
    assert "NotImplementedError" not in raised
    assert re.findall(r"\b(?:TODO|FIXME|XXX)\b", path.read_text(encoding="utf-8")) == []


def test_the_package_is_the_one_under_test() -> None:
    assert len(FILES) > 10
    assert {"cli", "sessions", "records", "system", "commands"} <= {layer_of(path) for path in FILES}


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("sessions", "from decision_hooks.records import naming"),
        ("records", "def f():\n    from decision_hooks.sessions.model import Entry"),
        ("records", "from decision_hooks.system import files"),
        ("system", "import decision_hooks.sessions.digest"),
        ("capture", "from decision_hooks import normalize"),
        ("normalize", "from decision_hooks.capture_part import Part"),
        ("settings", "from decision_hooks import cli"),
        ("errors", "from decision_hooks.settings import GUARDS"),
        ("records", "from ..sessions import digest"),
        ("capture", "from . import normalize"),
    ],
)
def test_a_wrong_import_is_found(layer: str, source: str) -> None:
    assert wrong_layers(ast.parse(source), layer)


def test_a_relative_import_within_a_layer_is_allowed() -> None:
    assert wrong_layers(ast.parse("from .naming import slug\nfrom . import madr"), "records") == []


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("records", "with open('x') as stream: pass"),
        ("capture", "def f():\n    import subprocess"),
        ("normalize", "from fcntl import flock"),
        ("commands", "import os\nos.replace('a', 'b')"),
        ("commands", "from os import replace"),
        ("system", "import os\nhome = os.environ['HOME']"),
        ("system", "from os import environ"),
        ("capture", "import time\nnow = time.time()"),
        ("system", "from datetime import datetime\nnow = datetime.now()"),
        ("cli", "import datetime\nnow = datetime.datetime.now()"),
        ("system", "import sys\nsys.exit(1)"),
        ("commands", "raise SystemExit(1)"),
        ("commands", "import sys\ntext = sys.stdin.read()"),
        ("cli", "import argparse"),
        ("sessions", "import os\nos.path.realpath('x')"),
        ("records", "import secrets"),
        ("records", "def f():\n    return open('x').read()"),
    ],
)
def test_a_touch_of_the_world_is_found(layer: str, source: str) -> None:
    assert touches(ast.parse(source), layer)


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("system", "import subprocess, fcntl, os\nos.replace('a', 'b')\nopen('x')"),
        ("cli", "import os, sys, time\nos.environ.get('x')\nsys.exit(time.time())"),
        ("commands", "import argparse"),
        ("records", "import os, re\nos.path.join('a', 'b')\npaths.open"),
        ("records", "for open in ('a', 'b'):\n    f(open)"),
    ],
)
def test_what_is_allowed_is_not_found(layer: str, source: str) -> None:
    assert touches(ast.parse(source), layer) == []


def test_a_slow_import_of_a_module_is_found_and_one_of_a_function_is_not() -> None:
    assert slow_imports(ast.parse("import yaml"))
    assert slow_imports(ast.parse("from datetime import datetime"))
    assert slow_imports(ast.parse("def f():\n    import yaml")) == []


def test_missing_docstrings_are_found() -> None:
    source = (
        '"""Module."""\nclass A:\n    """A."""\n    def f(self): ...\n    def _g(self): ...\ndef h(): ...\n'
    )
    assert undocumented(ast.parse(source)) == ["line 4: f has no docstring", "line 6: h has no docstring"]
    assert undocumented(ast.parse("x = 1")) == ["the module has no docstring"]
