"""Our entries in files that others write in too: merged into the text, taken out of it, nothing else touched.

Pure: bytes in, bytes out. A file that is no strict JSON, or not of the form that its host reads, is left
alone.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from decision_hooks.errors import DecisionHooksError
from decision_hooks.hosts.entry_line import HookEntry, HookFile, Layout, event_items, value, whole
from decision_hooks.install import entries, json_text
from decision_hooks.install.entries import InstalledEntry, LeftAlone

BACKEND = "CAPTURE_DECISIONS_BACKEND"
_BOM = "\ufeff"


class Trace(NamedTuple):
    """What a merge did, as far as taking it back needs to know."""

    created: tuple[str, ...] = ()  # containers and members: hooks, hooks.Stop, version, env, env.backend
    replaced: tuple[tuple[str, str], ...] = ()  # id of the entry (or "env.backend"), the text before


class Merged(NamedTuple):
    """A file as an installation or its removal leaves it."""

    data: bytes | None  # None: the file goes
    trace: Trace = Trace()
    notes: tuple[str, ...] = ()  # what a person should know


def merge(data: bytes | None, file: HookFile, backend: str = "") -> Merged:
    """The file with our entries once each, and the backend set if one is given. Raises ``LeftAlone``."""
    if data is None:
        version = ("version",) if file.layout.version else ()
        trace = Trace(version + _containers(file.layout))
        text, trace = _with_backend(whole(file.entries, file.layout), file, backend, trace)
        return Merged(_encode(text, ""), trace)
    text, bom = _decode(data)
    entries.checked(text, file.layout)
    before = text
    had = any(found.ours for found in entries.find(text, file.layout))
    text, trace = _with_version(text, file.layout)
    text, trace, missing = _settled(text, file, trace)
    text, created = _with_entries(text, file.layout, missing)
    inherited = _containers(file.layout) if had else ()  # they may come from an older version
    trace = trace._replace(created=trace.created + created + inherited)
    text, trace = _with_backend(text, file, backend, trace)
    return Merged(data if text == before else _encode(text, bom), trace, _notes(text, file, trace))


def strip(data: bytes, file: HookFile, trace: Trace | None) -> bytes:
    """The file without our entries; ``trace``: what else came with them (None: nobody remembers)."""
    text, bom = _decode(data)
    entries.checked(text, file.layout)
    before = text
    known = trace or Trace(_containers(file.layout))
    replaced = dict(known.replaced)
    while True:
        ours = [found for found in entries.find(text, file.layout) if found.ours]
        if not ours:
            break
        text = _taken_out(text, file.layout, ours[-1], replaced.pop(ours[-1].id, ""))
    if text != before or trace:
        text = _pruned(text, file.layout, known)
    return data if text == before else _encode(text, bom)


def registered(data: bytes, layout: Layout) -> list[InstalledEntry]:
    """The entries of a host's file that run one of our programs, marked or not. Raises ``LeftAlone``."""
    text, _ = _decode(data)
    entries.checked(text, layout)
    return entries.find(text, layout)


def environ_of(data: bytes | None) -> dict[str, str]:
    """The variables that a settings file sets; {} when it cannot be read."""
    if data is None:
        return {}
    try:
        node = json_text.parse(_decode(data)[0] or "{}").get("env")
    except DecisionHooksError:
        return {}
    members = node.members if node else ()
    return {member.key: member.value.text for member in members if member.value.kind == "string"}


def is_empty(data: bytes, layout: Layout) -> bool:
    """Whether a file of a host says nothing at all."""
    root = json_text.parse(_decode(data)[0])
    return {member.key for member in root.members} <= ({"version"} if layout.version else set())


# -- steps of a merge


def _notes(text: str, file: HookFile, trace: Trace) -> tuple[str, ...]:
    replaced = dict(trace.replaced)
    older = [entry.title for entry in file.entries if entry.id in replaced]
    return (
        *(f"an older entry of {title} was replaced; uninstall puts it back" for title in older),
        *(
            f"it also has {other!r}: see that nothing runs twice"
            for other in entries.mentions(text, file.layout)
        ),
    )


def _with_version(text: str, layout: Layout) -> tuple[str, Trace]:
    root = json_text.parse(text)
    if not layout.version or root.get("version"):
        return text, Trace()
    return json_text.add_member(text, root, "version", 1, json_text.style_of(text, root)), Trace(("version",))


def _settled(text: str, file: HookFile, trace: Trace) -> tuple[str, Trace, tuple[HookEntry, ...]]:
    """Brings the entries up to date and leaves one of each id; returns those that are missing too."""
    replaced, missing = list(trace.replaced), []
    for entry in file.entries:
        same = _with_id(text, file.layout, entry.id)
        if not same:
            missing.append(entry)
            continue
        kept = next((found for found in same if found.ours), same[0])
        for found in reversed(same):
            if not found.ours:
                replaced.append((entry.id, entries.text_at(text, file.layout, found.path)))
            if found is not kept:
                text = _taken_out(text, file.layout, found, "")
        text = _made_current(text, file.layout, _with_id(text, file.layout, entry.id)[0], entry)
    return text, trace._replace(replaced=tuple(replaced)), tuple(missing)


def _with_id(text: str, layout: Layout, id: str) -> list[InstalledEntry]:
    return [found for found in entries.find(text, layout) if found.id == id]


def _made_current(text: str, layout: Layout, found: InstalledEntry, entry: HookEntry) -> str:
    node = entries.node_at(text, layout, found.path)
    command = node.get("command")
    if found.ours and command:
        if command.text == entry.command:
            return text
        return json_text.put(text, command, json.dumps(entry.command))
    style = json_text.style_of(text, json_text.parse(text))
    base = json_text.line_indent(text, node.start)
    return json_text.put(text, node, json_text.dump(value(entry, layout), style, base))


def _with_entries(text: str, layout: Layout, new: tuple[HookEntry, ...]) -> tuple[str, tuple[str, ...]]:
    """The text with new entries at the end of the stop event, and the containers that were added."""
    if not new:
        return text, ()
    root = json_text.parse(text)
    style = json_text.style_of(text, root)
    items = event_items(new, layout)
    hooks = root.get("hooks")
    if not hooks:
        return json_text.add_member(text, root, "hooks", {layout.event: items}, style), _containers(layout)
    if not hooks.get(layout.event):
        return json_text.add_member(text, hooks, layout.event, items, style), _containers(layout)[1:]
    for item in items:
        text = json_text.add_item(text, entries.event(text, layout), item, style)
    return text, ()


def _containers(layout: Layout) -> tuple[str, ...]:
    return "hooks", f"hooks.{layout.event}"


def _with_backend(text: str, file: HookFile, backend: str, trace: Trace) -> tuple[str, Trace]:
    if not backend or not file.environ:
        return text, trace
    root = json_text.parse(text)
    style = json_text.style_of(text, root)
    env = root.get("env")
    if not env:
        text = json_text.add_member(text, root, "env", {BACKEND: backend}, style)
        return text, trace._replace(created=(*trace.created, "env", "env.backend"))
    now = entries.want(env, "object", '"env"').get(BACKEND)
    if not now:
        text = json_text.add_member(text, env, BACKEND, backend, style)
        return text, trace._replace(created=(*trace.created, "env.backend"))
    if now.kind == "string" and now.text == backend:
        return text, trace
    old = text[now.start : now.end]
    text = json_text.put(text, now, json.dumps(backend))
    return text, trace._replace(replaced=(*trace.replaced, ("env.backend", old)))


# -- steps of taking out


def _taken_out(text: str, layout: Layout, found: InstalledEntry, instead: str) -> str:
    node = entries.node_at(text, layout, found.path)
    if instead:
        return json_text.put(text, node, instead)
    event = entries.event(text, layout)
    if not layout.grouped:
        return json_text.drop_item(text, event, found.path[0])
    group = event.items[found.path[0]]
    inner = group.get("hooks")
    alone = inner is not None and len(inner.items) == 1 and len(group.members) == 1
    if alone or inner is None:
        return json_text.drop_item(text, event, found.path[0])
    return json_text.drop_item(text, inner, found.path[1])


def _pruned(text: str, layout: Layout, trace: Trace) -> str:
    """Without the containers that were added for us and are empty now."""
    event = f"hooks.{layout.event}"
    hooks = json_text.parse(text).get("hooks")
    inner = hooks.get(layout.event) if hooks else None
    if hooks and inner and not inner.items and event in trace.created:
        text = json_text.drop_member(text, hooks, layout.event)
    text = _without_empty(text, "hooks", trace)
    root = json_text.parse(text)
    hooks = root.get("hooks")
    needed = hooks is not None and any(member.value.items for member in hooks.members)
    if "version" in trace.created and root.get("version") and not needed:
        text = json_text.drop_member(text, root, "version")
    return _without_backend(text, trace)


def _without_backend(text: str, trace: Trace) -> str:
    old = dict(trace.replaced).get("env.backend", "")
    env = json_text.parse(text).get("env")
    now = env.get(BACKEND) if env else None
    if env and now and old:
        return json_text.put(text, now, old)
    if env and now and "env.backend" in trace.created:
        text = json_text.drop_member(text, env, BACKEND)
    return _without_empty(text, "env", trace)


def _without_empty(text: str, key: str, trace: Trace) -> str:
    root = json_text.parse(text)
    node = root.get(key)
    empty = node is not None and node.kind == "object" and not node.members
    return json_text.drop_member(text, root, key) if empty and key in trace.created else text


def _decode(data: bytes) -> tuple[str, str]:
    """The text of a file and its byte order mark; a file of nothing but white space is an empty object."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise LeftAlone("it is not UTF-8") from None
    bom = _BOM if text.startswith(_BOM) else ""
    text = text[len(bom) :]
    return (text, bom) if text.strip(" \t\r\n") else ("{}\n", bom)


def _encode(text: str, bom: str) -> bytes:
    return (bom + text).encode("utf-8")
