"""Reads JSON that people or programs hand over: what has two meanings has none."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence


class JsonTooLargeError(ValueError):
    """A JSON text with a number, or a depth, that cannot be read here."""


def strict_json(text: str) -> object:
    """The value of a JSON text.

    ValueError (JSONDecodeError with a place) for anything else, NaN, and an object that has a name
    twice; JsonTooLargeError, which is one, for numbers beyond a float, integers beyond Python's
    limit of digits, and deep nesting.
    """
    try:
        return json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_integer,
            object_pairs_hook=_without_duplicates,
        )
    except RecursionError:
        raise JsonTooLargeError("it is nested too deeply") from None


def _finite(written: str) -> float:
    number = float(written)
    if math.isfinite(number):
        return number
    raise JsonTooLargeError(f"the number {written[:20]} is too large")


def _integer(written: str) -> int:
    try:
        return int(written)
    except ValueError:  # sys.set_int_max_str_digits
        digits = len(written.lstrip("-"))
        raise JsonTooLargeError(f"an integer of {digits} digits is too large") from None


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")


def _without_duplicates(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has the name {twice[:40]!r} twice")
    return found
