"""Attribute values as text, numbers and flattened lists, whatever form they were written in."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from otel_rt4chart.spans.record import Attributes


def text(value: object) -> str:
    """A value as text; JSON for what is no string, the empty string for nothing."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def number(value: object) -> float | None:
    """A value as a number; rows of a database carry numbers as text."""
    try:
        return float(value) if isinstance(value, str | int | float) else None
    except ValueError:
        return None


def flag(value: object) -> bool | None:
    """A value as a flag; rows of a database carry it as text."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None


def structured(value: object) -> Any:  # noqa: ANN401 whatever the JSON holds
    """JSON text as what it says, other values as they are; None where the text is no JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def items(attributes: Attributes, prefix: str) -> list[dict[str, Any]]:
    """The maps of a list attribute: `prefix.0.a.b` keys, or one value (JSON or structured).

    Keys of the maps are what stands behind the index, such as `document.content`.
    """
    found: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    start = f"{prefix}."
    for key, value in attributes.items():
        if key.startswith(start):
            index, _, name = key.removeprefix(start).partition(".")
            if index.isdecimal() and name:
                found[int(index)][name] = value
    if found:
        return [found[index] for index in sorted(found)]
    whole = structured(attributes.get(prefix))
    if isinstance(whole, Sequence) and not isinstance(whole, str):
        return [flattened(one) for one in whole if isinstance(one, Mapping)]
    return []


def flattened(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested maps and lists as one map with dotted keys; `metadata` maps stay whole."""
    out: dict[str, Any] = {}
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if isinstance(inner, Mapping) and not name.endswith("metadata"):
            out |= flattened(inner, f"{name}.")
        elif _is_list_of_maps(inner):
            for index, one in enumerate(inner):
                out |= flattened(one, f"{name}.{index}.")
        else:
            out[name] = inner
    return out


def _is_list_of_maps(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(one, Mapping) for one in value)
    )
