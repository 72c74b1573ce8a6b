"""Reads JSON that people or programs hand over: what has two meanings has none."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence


def strict_json(text: str) -> object:
    """The value of a JSON text.

    ValueError (JSONDecodeError with a place) for anything else, and for NaN, numbers beyond a
    float, and an object that has a name twice; RecursionError for one that is nested too deeply.
    """
    return json.loads(
        text,
        parse_constant=_refuse_constant,
        parse_float=_finite,
        object_pairs_hook=_without_duplicates,
    )


def _finite(written: str) -> float:
    number = float(written)
    if math.isfinite(number):
        return number
    raise ValueError(f"the number {written[:20]} is too large")


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")


def _without_duplicates(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has the name {twice[:40]!r} twice")
    return found
