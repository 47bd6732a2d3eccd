"""Reads stored JSON as a NamedTuple: each field is checked against its annotation.

``Annotated[int, range(...)]`` limits a number; ``Annotated[str, function]`` passes a text through the function,
which returns None for a text that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

Row = TypeVar("Row", bound="tuple[Any, ...]")

_WRONG = object()
_Reader = Callable[[object], Any]


def read(cls: type[Row], value: object) -> Row | None:
    """The object (or list of fields) as that class; None when a field without a default is missing or wrong.

    Any other field that is missing or wrong gets its default; wrong items of a list or object are left out.
    """
    found = _reader(cls)(value)
    return found if isinstance(found, cls) else None


def read_rows(cls: type[Row], value: object) -> tuple[Row, ...]:
    """The rows of a list that ``read`` accepts; none for anything else."""
    return _all_right(map(_reader(cls), value)) if isinstance(value, list) else ()


@cache
def _reader(form: Any) -> _Reader:
    """The function that returns a value of this annotation, or ``_WRONG``."""
    origin, arguments = get_origin(form), get_args(form)
    if origin is Annotated:
        return _checked(arguments[1])
    if origin in (Union, UnionType):  # of something and None, in this order
        value_or_none = _reader(arguments[0])
        return lambda value: None if value is None else value_or_none(value)
    if origin is tuple and arguments[-1] is ...:
        item = _reader(arguments[0])
        return lambda value: _all_right(map(item, value)) if isinstance(value, list) else _WRONG
    if origin is tuple:
        return _tuple([_reader(argument) for argument in arguments])
    if origin is dict:
        return _dict(_reader(arguments[1]))
    if form is float:
        return _number
    if hasattr(form, "_fields"):
        return _named(form)
    return lambda value: value if type(value) is form else _WRONG


def _all_right(items: Any) -> tuple[Any, ...]:
    return tuple(item for item in items if item is not _WRONG)


def _number(value: object) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        return _WRONG
    try:
        return float(value)
    except OverflowError:
        return _WRONG


def _checked(check: Any) -> _Reader:
    if isinstance(check, range):
        return lambda value: value if type(value) is int and value in check else _WRONG

    def checked(value: object) -> Any:
        text = check(value) if isinstance(value, str) else None
        return _WRONG if text is None else text

    return checked


def _tuple(readers: list[_Reader]) -> _Reader:
    def whole(value: object) -> Any:
        if not isinstance(value, list) or len(value) != len(readers):
            return _WRONG
        found = _all_right(reader(item) for reader, item in zip(readers, value, strict=True))
        return found if len(found) == len(readers) else _WRONG

    return whole


def _dict(item: _Reader) -> _Reader:
    def pairs(value: object) -> Any:
        if not isinstance(value, dict):
            return _WRONG
        found = {name: item(each) for name, each in value.items()}
        return {name: each for name, each in found.items() if each is not _WRONG}

    return pairs


def _named(cls: Any) -> _Reader:
    hints = get_type_hints(cls, include_extras=True)
    defaults = cls._field_defaults
    readers = [(name, _reader(hints[name]), defaults.get(name, _WRONG)) for name in cls._fields]

    def named(value: object) -> Any:
        if isinstance(value, list) and len(value) == len(readers):
            value = dict(zip(cls._fields, value, strict=True))
        if not isinstance(value, dict):
            return _WRONG
        fields = (
            (reader(value[name]) if name in value else _WRONG, other) for name, reader, other in readers
        )
        found = _all_right(other if field is _WRONG else field for field, other in fields)
        return cls(*found) if len(found) == len(readers) else _WRONG

    return named
