"""Conversion of attribute values to text, numbers, flags and structures; comparison of texts."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# `ast` builds trees recursively, without Python's own recursion limit.
MAX_LITERAL_CHARS, MAX_LITERAL_BRACKETS = 65_536, 200
MAX_DEPTH, MAX_INDEX_DIGITS = 12, 6
JSON_LITERALS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
# The rest of a number that was cut after its sign, its point or its exponent.
CUT_NUMBER_ENDS = frozenset({"", ".", "e", "E", "e+", "e-", "E+", "E-"})


def as_text(value: object) -> str:
    """A value as text: JSON if it is not a string, the empty string for None."""
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), default=_json_default
        )  # fmt: skip
    except (TypeError, ValueError, RecursionError):
        return ""


def _json_default(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


def as_number(value: object) -> float | None:
    """A value as a number; the database stores numbers of attributes as text."""
    try:
        return float(value) if isinstance(value, str | int | float) else None
    except (ValueError, OverflowError):
        return None


def as_flag(value: object) -> bool | None:
    """A value as a flag; the database stores flags of attributes as text."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class ParsedJson:
    """The value of a text if it `is_json`; `is_cut` if it is JSON that ends early."""

    value: object = None
    is_json: bool = False
    is_cut: bool = False


def parse_json(text: str) -> ParsedJson:
    """Parse a text that may be JSON, possibly cut by a limit on the length of attributes."""
    start = text.lstrip()[:1]
    if start not in ("{", "[", '"') and text.strip() != "null":
        return ParsedJson()
    try:
        return ParsedJson(json.loads(text), is_json=True)
    except json.JSONDecodeError as error:
        return ParsedJson(is_cut=_is_truncated(text, error))
    except (ValueError, RecursionError):
        # More digits or deeper nesting than Python accepts.
        return ParsedJson()


def _is_truncated(text: str, error: json.JSONDecodeError) -> bool:
    if error.msg.startswith("Unterminated string"):
        return True
    rest = text[error.pos :].strip()
    if error.msg.startswith("Invalid \\uXXXX"):
        return len(rest) < len("\\u0000")
    return rest in CUT_NUMBER_ENDS or any(literal.startswith(rest) for literal in JSON_LITERALS)


def as_mapping(value: object) -> Mapping[str, object]:
    """A map, also from JSON or from Python's `str(dict)`; empty if the value is no map."""
    if isinstance(value, str):
        value = parse_json(value).value or _parse_literal(value)
    return as_structure(value) if isinstance(value, Mapping) else {}  # type: ignore[return-value]


def _parse_literal(text: str) -> object:
    """The value of Python's `repr` of a map; None if it is none."""
    brackets = sum(text.count(bracket) for bracket in "([{")
    if not text.startswith("{") or len(text) > MAX_LITERAL_CHARS or brackets > MAX_LITERAL_BRACKETS:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def as_structure(value: object, depth: int = 0) -> object:
    """Maps as dicts with text keys, sequences as lists, values nested too deeply as text."""
    if isinstance(value, Mapping):
        if depth > MAX_DEPTH:
            return as_text(value)
        return {str(key): as_structure(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        if depth > MAX_DEPTH:
            return as_text(value)
        return [as_structure(item, depth + 1) for item in value]
    return value


class _NestedMap(dict[str, object]):
    """A map that `nest_dotted_keys` created: it never writes into a map of the input."""


def nest_dotted_keys(flat: Mapping[str, object]) -> dict[str, object]:
    """Dotted keys as maps in maps: `message.content` is the `content` of `message`."""
    result = _NestedMap()
    for name, value in flat.items():
        *steps, last = name.split(".", MAX_DEPTH)
        target: dict[str, object] = result
        for step in steps:
            child = target.get(step)
            if not isinstance(child, _NestedMap):
                child = target[step] = _NestedMap()
            target = child
        if not isinstance(target.get(last), _NestedMap):
            target[last] = value
    return result


def as_list(value: object) -> list[object]:
    """A list, a tuple, or a map with indices as keys, as a list; otherwise empty."""
    # What most values are, first: to ask an abstract class costs ten times as much.
    if isinstance(value, str) or value is None:
        return []
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, Mapping) and value and all(map(_is_index, value)):
        return [value[key] for key in sorted(value, key=int)]
    return []


def _is_index(key: object) -> bool:
    return isinstance(key, str) and key.isdecimal() and len(key) <= MAX_INDEX_DIGITS


# This many characters identify a passage.
START_CHARS = 200
ESCAPES = (("\\n", " "), ("\\r", " "), ("\\t", " "), ('\\"', '"'))


def normalize_text(text: str) -> str:
    """The text with single spaces, and JSON escapes of white space and quotation marks undone."""
    if "\\" in text:
        for escape, meant in ESCAPES:
            text = text.replace(escape, meant)
    return " ".join(text.split())


def passage_start(text: str) -> str:
    """The normalised start of a text, by which a passage is found in a prompt."""
    return normalize_text(text[: 4 * START_CHARS])[:START_CHARS].rstrip()


def is_json_structure(text: str) -> bool:
    """True for a JSON object or array: data, not a text that a person or a model wrote."""
    return isinstance(parse_json(text).value, Mapping | list)


def first_nonempty(texts: Iterable[str]) -> str:
    """The first text that is not empty."""
    return next(filter(None, texts), "")
