"""JSON as text that can be changed in one place and stays as it is, byte for byte, in all others.

Strict JSON (RFC 8259) only: comments, trailing commas and double keys are refused, never repaired.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NamedTuple

from decision_hooks.errors import DecisionHooksError

_DEEPEST = 100  # levels; no settings file of an agent comes near
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_SPACE = re.compile(r"[ \t\r\n]*")
_QUOTED = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(rf"(?:true|false|null|{_NUMBER})(?![\w.+-])")
_INDENT = re.compile(r'\n([ \t]+)["{\[]')
_TIGHT_COMMA = re.compile(r',["{\[\w-]')
_TIGHT_COLON = re.compile(r'":["{\[\w-]')


class NotStrict(DecisionHooksError):
    """The text is not strict JSON; says where and why."""


class Node(NamedTuple):
    """A value and its place, ``text[start:end]``."""

    kind: str  # object | array | string | number | word
    start: int
    end: int
    members: tuple[Member, ...] = ()  # of an object, in their order
    items: tuple[Node, ...] = ()  # of an array
    text: str = ""  # of a string, unescaped

    def get(self, key: str) -> Node | None:
        """The value of a member of an object, None when there is none."""
        return next((member.value for member in self.members if member.key == key), None)


class Member(NamedTuple):
    """A member of an object; ``start`` is where its key begins."""

    key: str
    start: int
    value: Node


class Style(NamedTuple):
    """How a text is laid out; what is added looks the same."""

    newline: str
    indent: str
    inline: bool  # the whole text is one line
    comma: str
    colon: str


def parse(text: str) -> Node:
    """The one value of a text; raises ``NotStrict``."""
    reader = _Reader(text)
    node = reader.value(0)
    at = reader.skip()
    if at < len(text):
        raise reader.wrong(at, "more text after the value")
    return node


def style_of(text: str, root: Node) -> Style:
    """The layout of a text: line ends, indentation, spaces after commas and colons."""
    first = text.find("\n")
    newline = "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
    body = text[root.start : root.end]
    inline = "\n" not in body and bool(root.members or root.items)
    step = _INDENT.search(body)
    return Style(
        newline=newline,
        indent=step.group(1) if step else "  ",
        inline=inline,
        comma="," if inline and _TIGHT_COMMA.search(body) else ", ",
        colon=":" if inline and _TIGHT_COLON.search(body) else ": ",
    )


def dump(value: object, style: Style, base: str = "") -> str:
    """A value as text in a layout, its later lines indented by ``base``."""
    if style.inline:
        return json.dumps(value, ensure_ascii=False, separators=(style.comma, style.colon))
    lines = json.dumps(value, ensure_ascii=False, indent=style.indent).split("\n")
    return (style.newline + base).join(lines)


def add_member(text: str, node: Node, key: str, value: object, style: Style) -> str:
    """The text with a member added at the end of an object; all other bytes stay."""
    name = json.dumps(key, ensure_ascii=False) + style.colon
    last = (node.members[-1].start, node.members[-1].value.end) if node.members else None
    return _add(text, node, last, style, lambda base: name + dump(value, style, base))


def add_item(text: str, node: Node, value: object, style: Style) -> str:
    """The text with an item added at the end of an array; all other bytes stay."""
    last = (node.items[-1].start, node.items[-1].end) if node.items else None
    return _add(text, node, last, style, lambda base: dump(value, style, base))


def put(text: str, node: Node, new: str) -> str:
    """The text with ``new`` in the place of a value."""
    return text[: node.start] + new + text[node.end :]


def line_indent(text: str, at: int) -> str:
    """The white space that the line of a position begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def drop_member(text: str, node: Node, key: str) -> str:
    """The text without a member of an object and without the comma that it needed."""
    spans = [(member.start, member.value.end) for member in node.members]
    return _drop(text, node, spans, [member.key for member in node.members].index(key))


def drop_item(text: str, node: Node, index: int) -> str:
    """The text without an item of an array and without the comma that it needed."""
    return _drop(text, node, [(item.start, item.end) for item in node.items], index)


def _add(
    text: str, node: Node, last: tuple[int, int] | None, style: Style, make: Callable[[str], str]
) -> str:
    if last is None:
        base = line_indent(text, node.start)
        inner = base + style.indent
        closed = "\n" in text[node.start + 1 : node.end - 1]
        new = make(inner)
        if not style.inline:
            new = style.newline + inner + new + ("" if closed else style.newline + base)
        return text[: node.start + 1] + new + text[node.start + 1 :]
    start, end = last
    if style.inline or "\n" not in text[node.start : start]:  # its members share a line
        return text[:end] + style.comma + make(line_indent(text, start)) + text[end:]
    base = line_indent(text, start)
    return text[:end] + "," + style.newline + base + make(base) + text[end:]


def _drop(text: str, node: Node, spans: list[tuple[int, int]], index: int) -> str:
    if len(spans) == 1:
        return text[: node.start + 1] + text[node.end - 1 :]
    if index:
        return text[: spans[index - 1][1]] + text[spans[index][1] :]
    return text[: spans[0][0]] + text[spans[1][0] :]


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def wrong(self, at: int, why: str) -> NotStrict:
        line = self._text.count("\n", 0, at) + 1
        return NotStrict(f"line {line}: {why}")

    def skip(self) -> int:
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at
        return self._at

    def value(self, depth: int) -> Node:
        start = self.skip()
        sign = self._text[start : start + 1]
        if depth > _DEEPEST:
            raise self.wrong(start, "nested too deeply")
        if sign == "{":
            return self._object(start, depth)
        if sign == "[":
            return self._array(start, depth)
        if sign == '"':
            return self._string(start)
        match = _SCALAR.match(self._text, start)
        if not match:
            raise self._unexpected(start, "a value")
        self._at = match.end()
        kind = "word" if match.group()[0].isalpha() else "number"
        return Node(kind, start, self._at)

    def _object(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        seen: set[str] = set()
        self._at = start + 1
        while not self._closes("}", bool(members)):
            key = self._key()
            if key.text in seen:
                raise self.wrong(key.start, f"the key {json.dumps(key.text)} is there twice")
            seen.add(key.text)
            if self._text[self.skip() : self._at + 1] != ":":
                raise self._unexpected(self._at, "a colon")
            self._at += 1
            members.append(Member(key.text, key.start, self.value(depth + 1)))
        return Node("object", start, self._at, members=tuple(members))

    def _array(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        self._at = start + 1
        while not self._closes("]", bool(items)):
            items.append(self.value(depth + 1))
        return Node("array", start, self._at, items=tuple(items))

    def _closes(self, bracket: str, some: bool) -> bool:
        """Whether the container ends here; else the comma before its next part is passed."""
        at = self.skip()
        sign = self._text[at : at + 1]
        if sign == bracket:
            self._at += 1
            return True
        if not some:
            return False
        if sign != ",":
            raise self._unexpected(at, f"a comma or {bracket}")
        self._at += 1
        if self._text[self.skip() : self._at + 1] == bracket:
            raise self.wrong(at, f"a comma before {bracket}")
        return False

    def _key(self) -> Node:
        at = self.skip()
        if self._text[at : at + 1] != '"':
            raise self._unexpected(at, "a key in double quotes")
        return self._string(at)

    def _string(self, start: int) -> Node:
        match = _QUOTED.match(self._text, start)
        if not match:
            raise self.wrong(start, "a string that is not closed or has a character that it may not")
        self._at = match.end()
        return Node("string", start, self._at, text=str(json.loads(match.group())))

    def _unexpected(self, at: int, wanted: str) -> NotStrict:
        sign = self._text[at : at + 1]
        if sign in ("/", "#"):
            return self.wrong(at, "a comment, which JSON does not know")
        if not sign:
            return self.wrong(at, f"the text ends where {wanted} is expected")
        return self.wrong(at, f"{sign!r} where {wanted} is expected")
