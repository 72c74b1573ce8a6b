"""Frozen dataclasses as JSON values and back, exactly: for the states of detectors.

A dataclass is a list of its fields, a mapping a list of pairs in order, as sums of floats depend on
it. What does not have the form of its type is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from otel_rt4chart.core.errors import InputError

T = TypeVar("T")
Decode = Callable[[Any], Any]


def to_plain(value: object) -> Any:  # noqa: ANN401 - a JSON value
    """The JSON value of a dataclass, or of what its fields hold."""
    if value is None or isinstance(value, (int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return [to_plain(one) for one in value]
    if isinstance(value, (dict, Mapping)):
        return [[to_plain(key), to_plain(one)] for key, one in value.items()]
    kind: Any = type(value)
    return [to_plain(getattr(value, name)) for name in _names(kind)]


def from_plain(kind: type[T], plain: object) -> T:
    """The value of this dataclass; InputError if the JSON value is of another form."""
    found: T = _read(kind, plain)
    return found


def mapping_from_plain(key: Any, value: Any, plain: object) -> dict[Any, Any]:  # noqa: ANN401
    """The same for a mapping from one type to another."""
    found: dict[Any, Any] = _read(Mapping[key, value], plain)
    return found


def _read(kind: Any, plain: object) -> Any:  # noqa: ANN401
    try:
        return _decoder(kind)(plain)
    except (TypeError, ValueError, KeyError) as error:
        raise InputError(f"expected a stored {kind.__name__}, got another form") from error


@cache
def _names(kind: Any) -> tuple[str, ...]:  # noqa: ANN401 - the type of a dataclass
    return tuple(field.name for field in fields(kind))


@cache
def _decoder(kind: Any) -> Decode:  # noqa: ANN401 - a type, or a form of one
    """The function that reads a value of this type."""
    origin, of = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        make: Any = kind
        hints = get_type_hints(make)
        return _fixed([_decoder(hints[name]) for name in _names(make)], lambda v: make(*v))
    if origin in (Union, UnionType):
        (some,) = (_decoder(one) for one in of if one is not NoneType)
        return lambda value: None if value is None else some(value)
    if origin is tuple and of[1:] == (...,):
        each = _decoder(of[0])
        return lambda value: tuple([each(one) for one in _a_list(value)])
    if origin is tuple:
        return _fixed([_decoder(one) for one in of], tuple)
    if origin is not None and origin is not Literal and issubclass(origin, Mapping):
        pair = _fixed([_decoder(one) for one in of], tuple)
        return lambda value: dict([pair(one) for one in _a_list(value)])
    if origin is Literal:
        return lambda value: of[of.index(value)]
    return _scalar(kind)


def _scalar(kind: type[Any]) -> Decode:
    accepted = (int, float) if kind is float else (kind,)

    def read(value: Any) -> Any:  # noqa: ANN401
        if type(value) not in accepted:
            raise TypeError(value)
        return value

    return read


def _fixed(parts: list[Decode], make: Callable[[list[Any]], Any]) -> Decode:
    def read(value: Any) -> Any:  # noqa: ANN401
        return make([part(one) for part, one in zip(parts, _a_list(value), strict=True)])

    return read


def _a_list(value: Any) -> list[Any]:  # noqa: ANN401
    if not isinstance(value, list):
        raise TypeError(value)
    return value
