"""A bounded part of JSON Schema (2020-12): what is not checked is refused, and nothing is fetched.

A schema is the operator's, a value a stranger's. The keywords are those that say what a value has;
`format` is none of them, because the specification does not say that it is checked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeGuard

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.text import one_line
from otel_rt4chart.verify.criteria.patterns import PATTERN_S, compiled, found_words

MAX_STEPS, MAX_DEPTH = 100_000, 100
_SHOWN = 60
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
IGNORED = frozenset(
    {"$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated"}
)
_SCHEMA_MAPS = ("properties", "patternProperties", "$defs", "definitions")
_SCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SCHEMAS = ("items", "additionalProperties", "not", "contains", "propertyNames")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


class SchemaTooLargeError(Exception):
    """A value and a schema whose comparison takes too many steps."""


def check_schema(schema: object) -> None:
    """ValueError where it is no schema, or has a keyword that is not checked here."""
    _check_schema(schema, schema, "$", 0)


def find_mismatch(schema: str, value: object) -> str | None:
    """Where and how a JSON value differs from the schema, which is JSON text; None if it fits.

    SchemaTooLargeError, or TooSlowError of a pattern, if that cannot be told.
    """
    return _Comparison(_loaded(schema)).find(value)


@lru_cache(64)
def _loaded(schema: str) -> Any:  # noqa: ANN401 - any JSON
    return json.loads(schema)


def _check_schema(schema: object, root: object, at: str, depth: int) -> None:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        raise ValueError(f"{at}: expected a schema, got {_type_of(schema)}")
    if depth > MAX_DEPTH:
        raise ValueError(f"{at}: expected a schema of at most {MAX_DEPTH} levels")
    for name in schema:
        if name not in _TAKES and name not in IGNORED:
            raise ValueError(f"{at}: the keyword {name!r} is not checked here; leave it out")
    for name, value in schema.items():
        if name not in IGNORED:
            _check_keyword(name, value, root, at)
    for where, part in _parts_of(schema, at):
        _check_schema(part, root, where, depth + 1)


def _parts_of(schema: Mapping[str, Any], at: str) -> Iterator[tuple[str, object]]:
    for name in _SCHEMA_MAPS:
        yield from ((f"{at}.{name}.{key}", part) for key, part in schema.get(name, {}).items())
    for name in _SCHEMA_LISTS:
        yield from ((f"{at}.{name}[{n}]", part) for n, part in enumerate(schema.get(name, ())))
    yield from ((f"{at}.{name}", schema[name]) for name in _SCHEMAS if name in schema)


def _check_keyword(name: str, value: object, root: object, at: str) -> None:
    """ValueError where a keyword has a value of another kind than it takes."""
    expected, fits = _TAKES[name]
    if not fits(value) or (name == "$ref" and not _is_known(root, str(value))):
        raise ValueError(f"{at}.{name}: expected {expected}, got {one_line(repr(value), _SHOWN)}")
    for pattern in _patterns_of(name, value):
        try:
            compiled(pattern)
        except ValueError as error:
            raise ValueError(f"{at}.{name}: expected a regular expression: {error}") from error


def _is_list_of(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and bool(value) and all(map(fits, value))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_type_name(value: object) -> bool:
    return value in TYPES


# What each keyword takes: in words, and whether a value is that.
_TAKES: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    **dict.fromkeys(
        _SCHEMA_MAPS, ("an object of schemas", lambda value: isinstance(value, Mapping))
    ),
    **dict.fromkeys(_SCHEMA_LISTS, ("a list of schemas", _is_list_of(lambda value: True))),
    **dict.fromkeys(_SCHEMAS, ("a schema", lambda value: isinstance(value, Mapping | bool))),
    **dict.fromkeys(_COUNTS, ("a number from 0", lambda value: _is_number(value) and value >= 0)),
    **dict.fromkeys(_BOUNDS, ("a number", _is_number)),
    "multipleOf": ("a number above 0", lambda value: _is_number(value) and value > 0),
    "type": (
        f"of {', '.join(TYPES)}",
        lambda value: _is_type_name(value) or _is_list_of(_is_type_name)(value),
    ),
    "enum": ("a list of values", _is_list_of(lambda value: True)),
    "const": ("a value", lambda value: True),
    "uniqueItems": ("true or false", lambda value: isinstance(value, bool)),
    "required": (
        "a list of names",
        lambda value: isinstance(value, list) and all(map(_is_text, value)),
    ),
    "pattern": ("a regular expression", _is_text),
    "$ref": ("a place in the schema itself, such as #/$defs/item", _is_text),
}


def _patterns_of(name: str, value: Any) -> Sequence[str]:  # noqa: ANN401 - any JSON
    if name == "patternProperties":
        return list(value)
    return [value] if name == "pattern" else []


def _is_known(root: object, reference: str) -> bool:
    try:
        _resolved(root, reference)
    except (KeyError, IndexError, ValueError, TypeError):
        return False
    return True


def _resolved(root: Any, reference: str) -> Any:  # noqa: ANN401 - any JSON
    """The part of the schema at a JSON pointer; an error where there is none."""
    if not reference.startswith("#"):
        raise ValueError(reference)
    part = root
    for name in reference.removeprefix("#").split("/")[1:]:
        key = name.replace("~1", "/").replace("~0", "~")
        part = part[int(key)] if isinstance(part, list) else part[key]
    return part


class _Comparison:
    """Compares one value with one schema, in a bounded number of steps."""

    def __init__(self, root: Any) -> None:  # noqa: ANN401 - any JSON
        self._root = root
        self._steps = 0
        self._deadline = Deadline(PATTERN_S)

    def find(self, value: object) -> str | None:
        return self._mismatch(self._root, value, "$", 0)

    def _mismatch(self, schema: Any, value: Any, at: str, depth: int) -> str | None:  # noqa: ANN401
        self._step()
        if depth > MAX_DEPTH:
            raise SchemaTooLargeError(f"more than {MAX_DEPTH} levels of the value or the schema")
        if isinstance(schema, bool):
            return None if schema else f"{at}: nothing is expected here"
        problem = _of_value(schema, value)
        if problem is not None:
            return f"{at}: {problem}"
        return (
            self._of_string(schema, value, at)
            or self._of_array(schema, value, at, depth)
            or self._of_object(schema, value, at, depth)
            or self._of_combination(schema, value, at, depth)
        )

    def _step(self, number: int = 1) -> None:
        self._steps += number
        if self._steps > MAX_STEPS:
            raise SchemaTooLargeError(f"more than {MAX_STEPS:,} steps")

    def _of_string(self, schema: Mapping[str, Any], value: object, at: str) -> str | None:
        pattern = schema.get("pattern")
        if pattern is None or not isinstance(value, str):
            return None
        if found_words(pattern, value, self._deadline) is None:
            return f"{at}: expected a match of {one_line(pattern, _SHOWN)}"
        return None

    def _of_array(
        self, schema: Mapping[str, Any], value: object, at: str, depth: int
    ) -> str | None:
        if not isinstance(value, list):
            return None
        first = schema.get("prefixItems", ())
        for number, item in enumerate(value):
            part = first[number] if number < len(first) else schema.get("items", True)
            if found := self._mismatch(part, item, f"{at}[{number}]", depth + 1):
                return found
        if schema.get("uniqueItems") is True:
            for number, item in enumerate(value):
                self._step(number + 1)
                if any(_is_same(item, other) for other in value[:number]):
                    return f"{at}[{number}]: the same as one before"
        if "contains" in schema and not any(
            self._mismatch(schema["contains"], item, at, depth + 1) is None for item in value
        ):
            return f"{at}: no item is as `contains` says"
        return None

    def _of_object(
        self, schema: Mapping[str, Any], value: object, at: str, depth: int
    ) -> str | None:
        if not isinstance(value, dict):
            return None
        for name in schema.get("required", ()):
            if name not in value:
                return f"{at}: {one_line(repr(name), _SHOWN)} is missing"
        for name, item in value.items():
            where = f"{at}.{one_line(name, _SHOWN)}"
            if "propertyNames" in schema and (
                found := self._mismatch(schema["propertyNames"], name, where, depth + 1)
            ):
                return found
            for part in self._schemas_of(schema, name):
                if part is False:
                    return f"{where}: not expected"
                if found := self._mismatch(part, item, where, depth + 1):
                    return found
        return None

    def _schemas_of(self, schema: Mapping[str, Any], name: str) -> list[Any]:
        """The schemas of a property: by its name and by patterns, else that of all others."""
        named = schema.get("properties", {})
        found = [named[name]] if name in named else []
        for pattern, part in schema.get("patternProperties", {}).items():
            if found_words(pattern, name, self._deadline) is not None:
                found.append(part)
        return found or [schema.get("additionalProperties", True)]

    def _of_combination(
        self, schema: Mapping[str, Any], value: object, at: str, depth: int
    ) -> str | None:
        if "$ref" in schema:
            part = _resolved(self._root, schema["$ref"])
            if found := self._mismatch(part, value, at, depth + 1):
                return found
        for part in schema.get("allOf", ()):
            if found := self._mismatch(part, value, at, depth + 1):
                return found
        if "anyOf" in schema and not self._fitting(schema["anyOf"], value, at, depth):
            return f"{at}: fits no schema of anyOf"
        if "oneOf" in schema and (n := self._fitting(schema["oneOf"], value, at, depth)) != 1:
            return f"{at}: fits {n} schemas of oneOf"
        if "not" in schema and self._mismatch(schema["not"], value, at, depth + 1) is None:
            return f"{at}: is what `not` excludes"
        return None

    def _fitting(self, schemas: Sequence[Any], value: object, at: str, depth: int) -> int:
        found = (self._mismatch(part, value, at, depth + 1) for part in schemas)
        return sum(one is None for one in found)


def _of_value(schema: Mapping[str, Any], value: Any) -> str | None:  # noqa: ANN401 - any JSON
    """What is wrong with the value itself, apart from its parts."""
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(_is_of_type(value, one) for one in types):
            return f"expected {' or '.join(types)}, got {_type_of(value)}"
    if "enum" in schema and not any(_is_same(value, one) for one in schema["enum"]):
        return "expected one of the values of `enum`"
    if "const" in schema and not _is_same(value, schema["const"]):
        return f"expected {one_line(json.dumps(schema['const']), _SHOWN)}"
    for name, fits in _LIMITS.items():
        measured = _measured(name, value) if name in schema else None
        if measured is not None and not fits(measured, schema[name]):
            return f"{name} is {schema[name]}, got {measured}"
    return None


_LIMITS: Mapping[str, Callable[[Any, Any], bool]] = {
    "minLength": lambda found, limit: found >= limit,
    "maxLength": lambda found, limit: found <= limit,
    "minItems": lambda found, limit: found >= limit,
    "maxItems": lambda found, limit: found <= limit,
    "minProperties": lambda found, limit: found >= limit,
    "maxProperties": lambda found, limit: found <= limit,
    "minimum": lambda found, limit: found >= limit,
    "maximum": lambda found, limit: found <= limit,
    "exclusiveMinimum": lambda found, limit: found > limit,
    "exclusiveMaximum": lambda found, limit: found < limit,
    "multipleOf": lambda found, limit: _is_multiple(found, limit),
}


def _measured(name: str, value: Any) -> Any:  # noqa: ANN401 - a number, or None
    """What a limit is on: a length, or the number itself; None for a value of another type."""
    kinds: Mapping[str, type[Any]] = {"Length": str, "Items": list, "Properties": dict}
    if name in _COUNTS:
        return len(value) if isinstance(value, kinds[name[3:]]) else None
    return value if _is_number(value) else None


def _is_multiple(found: float, of: float) -> bool:
    if isinstance(found, int) and isinstance(of, int):
        return found % of == 0
    try:
        quotient = found / of
    except OverflowError:
        return False
    return math.isfinite(quotient) and abs(quotient - round(quotient)) < 1e-9


def _is_of_type(value: object, name: str) -> bool:
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return _type_of(value) == name or (name == "number" and _is_number(value))


def _type_of(value: object) -> str:
    if value is None:
        return "null"
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return kinds.get(type(value), "object")


def _is_same(a: object, b: object) -> bool:
    """Equality of JSON values: true is not 1, and 1.0 is."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_is_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_is_same(a[name], b[name]) for name in a)
    return a == b
