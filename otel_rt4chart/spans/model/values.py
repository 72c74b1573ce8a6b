"""Attribute values as text, numbers, flags and structures, whatever form they were written in."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass

# `ast` builds trees by recursion, outside Python's own bound on it.
LITERAL_CHARS, LITERAL_BRACKETS = 65_536, 200
STEPS, INDEX_DIGITS = 12, 6
LITERALS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
# What is left of a number that is cut behind its sign, its point or its exponent.
ENDS = frozenset({"", ".", "e", "E", "e+", "e-", "E+", "E-"})


def text(value: object) -> str:
    """A value as text; JSON for what is no string, the empty string for nothing."""
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), default=_plain
        )  # fmt: skip
    except (TypeError, ValueError, RecursionError):
        return ""


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


def number(value: object) -> float | None:
    """A value as a number; rows of a database carry numbers as text."""
    try:
        return float(value) if isinstance(value, str | int | float) else None
    except (ValueError, OverflowError):
        return None


def flag(value: object) -> bool | None:
    """A value as a flag; rows of a database carry it as text."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Opened:
    """What a JSON text holds: `is_json` where it is JSON, `is_cut` where it is, but ends early."""

    value: object = None
    is_json: bool = False
    is_cut: bool = False


def opened(given: str) -> Opened:
    """Read a text that may be JSON; a limit on the length of values cuts JSON without a word."""
    start = given.lstrip()[:1]
    if start not in ("{", "[", '"') and given.strip() != "null":
        return Opened()
    try:
        return Opened(json.loads(given), is_json=True)
    except json.JSONDecodeError as error:
        return Opened(is_cut=_is_cut(given, error))
    except (ValueError, RecursionError):
        # More digits or deeper than Python reads.
        return Opened()


def _is_cut(given: str, error: json.JSONDecodeError) -> bool:
    if error.msg.startswith("Unterminated string"):
        return True
    rest = given[error.pos :].strip()
    if error.msg.startswith("Invalid \\uXXXX"):
        return len(rest) < len("\\u0000")
    return rest in ENDS or any(one.startswith(rest) for one in LITERALS)


def mapping(value: object) -> Mapping[str, object]:
    """A map, from JSON or Python's `str(dict)` too; the empty one where it is none."""
    if isinstance(value, str):
        value = opened(value).value or _literal(value)
    return structure(value) if isinstance(value, Mapping) else {}  # type: ignore[return-value]


def _literal(given: str) -> object:
    """What Python's `repr` of a map says."""
    brackets = sum(given.count(one) for one in "([{")
    if not given.startswith("{") or len(given) > LITERAL_CHARS or brackets > LITERAL_BRACKETS:
        return None
    try:
        return ast.literal_eval(given)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def structure(value: object, depth: int = 0) -> object:
    """Maps as dicts with text keys, sequences as lists, what is too deep as text."""
    if isinstance(value, Mapping):
        if depth > STEPS:
            return text(value)
        return {str(key): structure(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        if depth > STEPS:
            return text(value)
        return [structure(one, depth + 1) for one in value]
    return value


class _Branch(dict[str, object]):
    """A map that `nested` made itself: another's is never written to."""


def nested(flat: Mapping[str, object]) -> dict[str, object]:
    """Dotted keys as maps in maps: `message.content` is the `content` of `message`."""
    out = _Branch()
    for name, value in flat.items():
        *steps, last = name.split(".", STEPS)
        at: dict[str, object] = out
        for step in steps:
            inner = at.get(step)
            if not isinstance(inner, _Branch):
                inner = at[step] = _Branch()
            at = inner
        if not isinstance(at.get(last), _Branch):
            at[last] = value
    return out


def listed(value: object) -> list[object]:
    """A list, a tuple, or a map whose keys are the indices, as a list; else nothing."""
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, Mapping) and value and all(map(_is_index, value)):
        return [value[key] for key in sorted(value, key=int)]
    return []


def _is_index(key: object) -> bool:
    return isinstance(key, str) and key.isdecimal() and len(key) <= INDEX_DIGITS
