"""Facts of any form as text of one line: bounded in depth, number and length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rt4chart_collector.alerts.times import iso

# What users were told, at any depth of an alert's facts.
TEXTS = frozenset({"claim", "text", "question", "answer"})
SHARES = ("rate", "low", "high", "share")
MOST_ITEMS, VALUE = 5, 500
# Their names say nothing that their values do not.
_NAMELESS = ("id", "title", "attribute", "value", "label")
_DEPTH = 4


def shown(name: str, value: object, *, with_texts: bool, depth: int = _DEPTH) -> str:
    """The value under this name; what users were told only with texts."""
    if depth == 0:
        return "…"
    if isinstance(value, Mapping):
        if "rate" in value:
            return rate_shown(value)
        return ", ".join(list(_parts(value, with_texts, depth))[: 2 * MOST_ITEMS])
    if isinstance(value, list | tuple):
        some = value[:MOST_ITEMS]
        parts = [shown(name, one, with_texts=with_texts, depth=depth - 1) for one in some]
        more = len(value) - MOST_ITEMS
        return "; ".join([*filter(None, parts), *([f"and {more} more"] if more > 0 else [])])
    return _scalar(name, value)


def rate_shown(value: Mapping[str, object]) -> str:
    """A rate with its interval and its number, however many of these are known."""
    told = {name: _scalar(name, one) for name, one in value.items()}
    interval = f" ({told['low']} to {told['high']})" if {"low", "high"} <= set(told) else ""
    counts = " in ".join(f"{told[name]} {name}" for name in ("claims", "answers") if name in told)
    return f"{told['rate']}{interval}" + (f", {counts}" if counts else "")


def _parts(value: Mapping[str, object], with_texts: bool, depth: int) -> Iterator[str]:
    for key, one in value.items():
        name = str(key)
        if (name in TEXTS and not with_texts) or one in ("", None):
            continue
        told = shown(name, one, with_texts=with_texts, depth=depth - 1)
        yield told if name in _NAMELESS else f"{name.replace('_', ' ')} {told}"


def _scalar(name: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and name.endswith("_ns"):
        return iso(value)
    if isinstance(value, float):
        is_share = name in SHARES or name.endswith("_share")
        return f"{value:.1%}" if is_share else f"{value:.4g}"
    return "–" if value is None else str(value)[:VALUE]
