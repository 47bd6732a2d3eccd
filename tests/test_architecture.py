"""Who may import whom, and where the world may be touched: one test a rule, which lists the offenders."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

import decision_hooks

PACKAGE = Path(decision_hooks.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# The floors of the package, from the top: a package imports those below it; neighbours on a floor never meet.
FLOORS = (
    ("cli",),
    ("edge",),
    ("commands",),
    ("capture", "normalize"),
    ("transcripts", "state", "backends", "install", "pipeline"),
    ("system", "hosts", "replies"),
    ("sessions", "records"),
    ("privacy", "settings"),
    ("text", "languages"),
    ("errors",),
)
FLOOR_OF = {name: number for number, names in enumerate(FLOORS) for name in names}
PURE = {
    "text",
    "languages",
    "privacy",
    "sessions",
    "records",
    "hosts",
    "replies",
    "pipeline",
    "errors",
    "settings",
}
DISK = {"system", "transcripts", "state", "backends", "install"}  # may read and write files
BORDER = {"edge", "cli"}

# Modules that touch the world, and the packages that may import them.
WORLDLY = {
    "argparse": {"commands"},
    "fcntl": {"system"},
    "glob": {"transcripts"},
    "pty": set(),
    "random": {"system"},
    "secrets": {"system"},
    "select": {"system", "edge"},
    "shutil": {"system", "backends", "install"},
    "signal": {"system", "edge"},
    "socket": set(),
    "subprocess": {"system"},
    "tempfile": {"system", "backends", "commands"},  # commands: the folder of the demo
    "termios": set(),
    "threading": {"system"},
}
NOT_PURE = set(FLOOR_OF) - PURE
# Calls and attributes that touch the world, by their full dotted name, and the packages that may use them.
ATTRIBUTES = {
    **{f"os.{name}": {"system", "edge"} for name in ("open", "dup2", "getcwd", "isatty", "read")},
    **{f"os.{name}": {"system"} for name in (
        "chmod", "chown", "close", "execv", "execve", "execvp", "fdopen", "fork", "fsync", "kill",
        "killpg", "link", "listdir", "lstat", "makedirs", "mkdir", "popen", "putenv", "readlink", "remove",
        "rename", "renames", "replace", "scandir", "setsid", "symlink", "system", "truncate",
        "umask", "unlink", "utime", "walk", "write", "_exit",
    )},
    **{f"os.{name}": DISK for name in ("access", "stat")},
    "os.rmdir": {"system", "install"},
    **{f"os.path.{name}": NOT_PURE for name in (
        "exists", "getmtime", "getsize", "isdir", "isfile", "islink", "lexists", "realpath", "samefile",
    )},
    "os.environ": BORDER,
    "os.environb": BORDER,
    "os.getenv": BORDER,
    "os.path.expanduser": BORDER,
    "os.path.expandvars": BORDER,
    **{f"sys.{name}": BORDER for name in ("argv", "exit", "stderr", "stdin", "stdout")},
    **{f"time.{name}": BORDER for name in ("ctime", "time", "time_ns")},
    **{f"time.{name}": {"edge", *DISK} for name in ("monotonic", "perf_counter", "sleep")},
    **{f"{name}.{call}": set() for call in ("now", "today", "utcnow")
       for name in ("datetime", "datetime.datetime", "date", "datetime.date")},
    "pathlib.Path": {"system", "commands"},
    "uuid.uuid1": {"system"},
    "uuid.uuid4": {"system"},
}  # fmt: skip
BUILT_IN = {
    "open": DISK,
    "input": set(),
    "print": set(),
    "exit": set(),
    "quit": set(),
    "SystemExit": BORDER,
}
# A hook runs at each stop: these cost milliseconds and are imported where they are used.
SLOW = (
    "argparse", "asyncio", "concurrent", "dataclasses", "datetime", "difflib", "email", "enum", "hashlib",
    "http", "importlib", "inspect", "logging", "pathlib", "shutil", "slugify", "subprocess", "tempfile",
    "threading", "traceback", "urllib", "uuid", "yaml",
)  # fmt: skip


def name_of(path: Path) -> str:
    """The dotted name of a module below the package; a folder has that of its ``__init__``."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


def package_of(module: str) -> str:
    """The package of a module: its first folder, or the module itself at the top."""
    return "cli" if module == "__main__" else module.partition(".")[0]


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Dotted names of everything imported, with lines; ``from a import b`` gives ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)


def own_imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The modules of the package that a module imports, below the package, with lines."""
    for name, line in imports(tree):
        if name.startswith("decision_hooks."):
            below = name.partition(".")[2]
            yield (below if below in MODULES else below.rpartition(".")[0] or below), line


def upward(tree: ast.AST, package: str) -> list[str]:
    """Imports of packages that are not below this one, and relative imports."""
    found = [f"line {line}: relative import {name}" for name, line in imports(tree) if name.startswith(".")]
    for name, line in own_imports(tree):
        target = package_of(name)
        if target != package and FLOOR_OF.get(target, -1) <= FLOOR_OF[package]:
            found.append(f"line {line}: {package} may not import {target} ({name})")
    return found


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Groups of names that reach each other."""
    reach = {name: _reached(name, arrows) for name in arrows}
    groups = {tuple(sorted(n for n in reach[name] if name in reach.get(n, ()))) for name in arrows}
    return [list(group) for group in sorted(groups) if group]


def _reached(start: str, arrows: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    todo = list(arrows.get(start, ()))
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo.extend(arrows.get(name, ()))
    return seen


def touches(tree: ast.AST, package: str) -> list[str]:
    """Uses of the world in a package that may not touch it."""
    found = []
    own = _bound(tree)
    for name, line in imports(tree):
        top = name.split(".")[0]
        if package not in WORLDLY.get(top, {package}):
            found.append(f"line {line}: {package} may not import {top}")
        if package not in ATTRIBUTES.get(name, {package}):
            found.append(f"line {line}: {package} may not use {name}")
    for node in ast.walk(tree):
        name = _dotted(node)
        if name and name not in own and package not in {**ATTRIBUTES, **BUILT_IN}.get(name, {package}):
            found.append(f"line {node.lineno}: {package} may not use {name}")
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


def unfinished(tree: ast.AST) -> list[str]:
    """Raised ``NotImplementedError``."""
    raised = [node for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    names = [
        (_dotted(n.exc.func if isinstance(n.exc, ast.Call) else n.exc), n.lineno) for n in raised if n.exc
    ]
    return [f"line {line}: {name}" for name, line in names if name == "NotImplementedError"]


def offenders(
    rule: Callable[[ast.Module], Iterable[str]], modules: Iterable[str] = tuple(MODULES)
) -> list[str]:
    """What a rule finds in the modules, each with the module's name."""
    return [f"{name}: {found}" for name in modules for found in rule(MODULES[name])]


def with_package(rule: Callable[[ast.AST, str], list[str]]) -> list[str]:
    """As ``offenders``, for a rule that depends on the package."""
    return [
        f"{name}: {found}" for name, tree in MODULES.items() if name for found in rule(tree, package_of(name))
    ]


def test_every_package_has_a_floor_and_a_line_in_the_map() -> None:
    packages = {package_of(name) for name in MODULES} - {""}
    assert packages == set(FLOOR_OF)
    drawn = decision_hooks.__doc__ or ""
    assert [name for name in packages if not re.search(rf"\b{name}\b", drawn)] == []


def test_packages_import_only_those_below() -> None:
    assert with_package(upward) == []


def test_there_is_no_circle() -> None:
    by_module = {name: {to for to, _ in own_imports(tree)} - {name} for name, tree in MODULES.items()}
    assert circles(by_module) == []
    by_package: dict[str, set[str]] = {}
    for name, targets in by_module.items():
        by_package.setdefault(package_of(name), set()).update(map(package_of, targets))
    assert circles({name: targets - {name} for name, targets in by_package.items()}) == []


def test_outside_of_hosts_backends_and_settings_few_modules_name_a_host() -> None:
    host = re.compile(r"\b(?:claude|cursor|codex)\b", re.IGNORECASE)
    # where the state and the logs are; a cursor of pages
    folder = re.compile(r"\.claude(?:\", \"|/)hooks|\w+_PROJECT_DIR|continuation cursor")
    naming = [
        name
        for name, path in zip(MODULES, FILES, strict=True)
        if package_of(name) not in ("hosts", "backends", "settings")
        and host.search(folder.sub("", path.read_text(encoding="utf-8")))
    ]
    assert len(naming) <= 6, naming


def test_the_world_is_touched_only_where_it_may_be() -> None:
    assert with_package(touches) == []


def test_slow_modules_are_imported_where_they_are_used() -> None:
    quick = [name for name in MODULES if package_of(name) != "commands"]
    assert offenders(slow_imports, quick) == []


def test_modules_classes_and_public_functions_say_what_they_promise() -> None:
    assert offenders(undocumented) == []


def test_one_name_is_one_class() -> None:
    named: dict[str, list[str]] = {}
    for module, tree in MODULES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                named.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in named.items() if len(modules) > 1} == {}


def test_imports_rename_nothing_but_for_a_clash_of_names() -> None:
    renames = [
        f"{module}: {alias.name} as {alias.asname}"
        for module, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("decision_hooks")
        for alias in node.names
        if alias.asname
    ]
    assert len(renames) <= 10, renames


def test_nothing_is_left_for_later() -> None:
    assert offenders(unfinished) == []
    marks = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
    assert [str(path) for path in FILES if marks.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("sessions", "from decision_hooks.records import naming"),
        ("records", "def f():\n    from decision_hooks.sessions.model import Entry"),
        ("records", "from decision_hooks.system import files"),
        ("system", "import decision_hooks.capture.run"),
        ("capture", "from decision_hooks.normalize import job"),
        ("settings", "from decision_hooks import cli"),
        ("errors", "from decision_hooks.settings import GUARDS"),
        ("records", "from .naming import slug"),
    ],
)
def test_a_wrong_import_is_found(package: str, source: str) -> None:
    assert upward(ast.parse(source), package)


def test_an_import_from_a_lower_floor_and_one_of_the_own_package_are_allowed() -> None:
    assert upward(ast.parse("from decision_hooks.text import terms"), "records") == []
    assert upward(ast.parse("from decision_hooks.records import naming"), "records") == []


def test_a_circle_is_found_by_its_members_alone() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]
    assert circles({"a": {"b", "c"}, "b": {"c"}}) == []


@pytest.mark.parametrize(
    ("package", "source"),
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
        ("hosts", "import os\nos.path.isdir('x')"),
        ("backends", "import subprocess"),
    ],
)
def test_a_touch_of_the_world_is_found(package: str, source: str) -> None:
    assert touches(ast.parse(source), package)


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("system", "import subprocess, fcntl, os\nos.replace('a', 'b')\nopen('x')"),
        ("edge", "import os, sys, time\nos.environ.get('x')\nsys.exit(time.time())"),
        ("commands", "import argparse"),
        ("records", "import os, re\nos.path.join('a', 'b')\npaths.open"),
        ("records", "for open in ('a', 'b'):\n    f(open)"),
    ],
)
def test_what_is_allowed_is_not_found(package: str, source: str) -> None:
    assert touches(ast.parse(source), package) == []


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


def test_what_is_unfinished_is_found() -> None:
    assert unfinished(ast.parse("def f():\n    raise NotImplementedError"))
    assert unfinished(ast.parse("def f():\n    raise NotImplementedError('x')"))
