"""Finds the entries of a host's hook file that run one of our programs. Pure."""

from __future__ import annotations

from typing import NamedTuple

from decision_hooks.errors import DecisionHooksError
from decision_hooks.hosts.entry_line import ID_OF_PROGRAM, PROGRAMS, Layout
from decision_hooks.hosts.marks import marked_id
from decision_hooks.install import json_text
from decision_hooks.install.json_text import Node, NotStrict

_SHELLS = ("sh", "bash", "zsh", "dash", "env")


class LeftAlone(DecisionHooksError):
    """The file is not changed; says why."""


class InstalledEntry(NamedTuple):
    """An entry in a file that runs one of our programs."""

    id: str  # one of a later version may be unknown here
    ours: bool  # marked; else one that only runs the program or the older script
    path: tuple[int, ...]  # indices: group and entry, or entry


def checked(text: str, layout: Layout) -> Node:
    """The tree of a text whose stop event has the form that the host reads. Raises ``LeftAlone``."""
    try:
        root = json_text.parse(text)
    except NotStrict as error:
        raise LeftAlone(f"it is not strict JSON ({error})") from None
    want(root, "object", "the file")
    version = root.get("version")
    if layout.version and version:
        want(version, "number", '"version"')
    hooks = root.get("hooks")
    items = want(hooks, "object", '"hooks"').get(layout.event) if hooks else None
    for item in want(items, "array", f'"{layout.event}"').items if items else ():
        want(item, "object", f'an item of "{layout.event}"')
        if layout.grouped:
            for entry in want(item.get("hooks"), "array", '"hooks" of a group').items:
                want(entry, "object", "an entry of a group")
    return root


def find(text: str, layout: Layout) -> list[InstalledEntry]:
    """Entries of the stop event that run one of our programs, in their order."""
    found = []
    for path, node in _commands(text, layout):
        command = node.text
        id = marked_id(command)
        ours = id is not None
        if not id and (ours or runs_only(command)):
            program = max(PROGRAMS, key=command.rfind)
            id = ID_OF_PROGRAM[program] if program in command else ""
        if id:
            found.append(InstalledEntry(id, ours, path))
    return found


def mentions(text: str, layout: Layout) -> list[str]:
    """Commands of the stop event that have one of our programs in them, but also something else."""
    commands = [node.text for _, node in _commands(text, layout)]
    other = [c for c in commands if any(name in c for name in PROGRAMS)]
    return [c for c in other if marked_id(c) is None and not runs_only(c)]


def runs_only(command: str) -> bool:
    """Whether a command does nothing but run one of the pair: the program, or the older ``.sh`` script."""
    import shlex

    if any(sign in command for sign in ";|&<>()`\n"):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    while words and words[0].rsplit("/", 1)[-1] in _SHELLS:
        words = words[1:]
    if not words or not all(word.startswith("-") for word in words[1:]):
        return False
    return words[0].rsplit("/", 1)[-1].removesuffix(".sh") in PROGRAMS


def want(node: Node | None, kind: str, what: str) -> Node:
    """The node, which must be there and of that kind. Raises ``LeftAlone``."""
    if node is None or node.kind != kind:
        article = "an" if kind[0] in "ao" else "a"
        raise LeftAlone(f"{what} is not {article} {kind}")
    return node


def event(text: str, layout: Layout) -> Node:
    """The array of the stop event; one without items where there is none."""
    hooks = json_text.parse(text).get("hooks")
    items = hooks.get(layout.event) if hooks else None
    return items or Node("array", 0, 0)


def _commands(text: str, layout: Layout) -> list[tuple[tuple[int, ...], Node]]:
    """Every command of the stop event with its path."""
    items: list[tuple[tuple[int, ...], Node]] = []
    for at, item in enumerate(event(text, layout).items):
        entries = item.get("hooks") if layout.grouped else None
        if entries:
            items += [((at, i), entry) for i, entry in enumerate(entries.items)]
        else:
            items.append(((at,), item))
    commands = [(path, entry.get("command")) for path, entry in items]
    return [(path, command) for path, command in commands if command and command.kind == "string"]


def node_at(text: str, layout: Layout, path: tuple[int, ...]) -> Node:
    """The entry at a path of ``InstalledEntry``."""
    item = event(text, layout).items[path[0]]
    entries = item.get("hooks")
    return entries.items[path[1]] if len(path) > 1 and entries else item


def text_at(text: str, layout: Layout, path: tuple[int, ...]) -> str:
    """The text of the entry at a path of ``InstalledEntry``."""
    node = node_at(text, layout, path)
    return text[node.start : node.end]
