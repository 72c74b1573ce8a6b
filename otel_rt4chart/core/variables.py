"""How a field of the settings tells its variable, and how the variable's text becomes its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, fields
from typing import Any, TypeVar

from otel_rt4chart.core.errors import SettingsError

T = TypeVar("T")


def _is_usual(value: str | float) -> bool:
    return isinstance(value, str | bool) or 0 <= value < 1e12


def is_share(value: object) -> bool:
    """True for a number from 0 to 1."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def is_pattern(value: str) -> bool:
    """True for names of the redactor's patterns, or a regular expression."""
    from otel_rt4chart.redaction.patterns import patterns_from

    try:
        patterns_from(value)
    except SettingsError:
        return False
    return True


def named(
    name: str,
    default: T,
    text: str,
    expected: str = "",
    is_meant: Callable[[Any], bool] = _is_usual,
    *,
    is_shown: bool = True,
    convert: Callable[[str], T] | None = None,
) -> T:
    """A setting; `expected` says in words what `is_meant` finds and what `convert` takes.

    `convert` makes the value of the variable's text, ValueError where it is none; it is the
    default's type, or of a flag true and false, unless given. The value of a setting that is not
    shown stands in no error and no representation.
    """
    kind = type(default)
    told = {"name": name, "help": text, "expected": expected or "0 or more", "is_meant": is_meant}
    if convert is None:
        told |= {"convert": _flag if kind is bool else kind, "wanted": _WANTED.get(kind, expected)}
    else:
        told |= {"convert": convert, "wanted": expected}
    metadata = told | {"is_shown": is_shown}
    return field(default=default, repr=is_shown, metadata=metadata)


def most(name: str, text: str) -> int | None:
    """A bound that is not there unless it is set; 0 would forbid everything."""
    told = {"name": name, "help": text, "expected": "1 or more", "wanted": _WANTED[int]}
    rules = {"is_meant": lambda value: value is None or 1 <= value < 1e12, "convert": int}
    return field(default=None, metadata=told | rules | {"is_shown": True})


def table(
    name: str,
    text: str,
    expected: str,
    is_meant: Callable[[Any], bool],
    convert: Callable[[str], Mapping[str, float]],
) -> Mapping[str, float]:
    """Numbers by name, none unless they are set."""
    told = {"name": name, "help": text, "expected": expected, "wanted": expected}
    rules = {"is_meant": is_meant, "convert": convert, "is_shown": True}
    return field(default_factory=dict, metadata=told | rules)


def read(cls: type[T], given: Mapping[str, str]) -> T:
    """A settings class from the variables that its fields name; SettingsError names the wrong."""
    values: dict[str, Any] = {}
    for one in fields(cls):  # type: ignore[arg-type]
        text = given.get(one.metadata["name"], "")
        # OpenTelemetry's rule: an empty variable is one that is not set.
        if text.strip():
            values[one.name] = _converted(text, one.metadata)
    return cls(**values)


def check(settings: object) -> None:
    """Refuse a value that cannot be meant, in an instance of a settings class."""
    for one in fields(settings):  # type: ignore[arg-type]
        value, told = getattr(settings, one.name), one.metadata
        if not told["is_meant"](value):
            raise _error(told, told["expected"], value)


def names(text: str) -> tuple[str, ...]:
    """A comma list: each name once, in order."""
    return tuple(dict.fromkeys(one.strip() for one in text.split(",") if one.strip()))


def _flag(text: str) -> bool:
    known = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in known:
        raise ValueError(text)
    return known[text.lower()]


_WANTED = {int: "an integer such as 3", float: "a number such as 0.5", bool: "true or false"}


def _converted(text: str, told: Mapping[str, Any]) -> object:
    try:
        return told["convert"](text.strip())
    except ValueError as error:
        raise _error(told, told["wanted"], text) from (error if told["is_shown"] else None)


def _error(told: Mapping[str, Any], expected: str, value: object) -> SettingsError:
    got = repr(value) if told["is_shown"] else "another value, not shown here"
    return SettingsError(f"{told['name']}: expected {expected}, got {got}")
