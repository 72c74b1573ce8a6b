"""Facts about an alert as text: bounded in depth and length, and the change nearest to the rise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rt4chart_collector.core.alerts.times import iso, seconds_of

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


@dataclass(frozen=True, slots=True)
class Came:
    """A value of a deployment's attribute that came, and the one that it came for, "" for none.

    `before` and `after` are its shares of the answers; `first_seen` is as the facts have it.
    """

    attribute: str
    value: str
    instead: str
    before: float | None
    after: float | None
    first_seen: str


def what_came(rows: object, since: str) -> tuple[Came, ...]:
    """The values whose share rose, then those that went without another; bounded."""
    told = [one for one in rows if isinstance(one, Mapping)] if isinstance(rows, list) else []
    came = [one for one in told if _moved(one) >= 0]
    went = [one for one in told if _moved(one) < 0]
    found = [_came(one, went) for one in came]
    replaced = {one.attribute for one in found}
    rest = [_came(one, ()) for one in went if _text(one.get("attribute")) not in replaced]
    at_s = seconds_of(since)
    return (*sorted(found, key=lambda one: _far(one, at_s)), *rest)


def _came(one: Mapping[str, object], went: Sequence[Mapping[str, object]]) -> Came:
    """Where values of the same attribute went, it came for the one that most answers had."""
    attribute = one.get("attribute")
    gone = [each for each in went if each.get("attribute") == attribute]
    instead = min(gone, key=_moved, default={})
    return Came(
        _text(attribute),
        _text(one.get("value")),
        _text(instead.get("value")),
        _share(one.get("share_before")),
        _share(one.get("share_after")),
        _text(one.get("first_seen")),
    )


def _moved(one: Mapping[str, object]) -> float:
    return (_share(one.get("share_after")) or 0.0) - (_share(one.get("share_before")) or 0.0)


def _far(one: Came, at_s: float | None) -> float:
    """Seconds between its coming and the rise; 0 where either is unknown."""
    came_s = seconds_of(one.first_seen)
    return 0.0 if came_s is None or at_s is None else abs(came_s - at_s)


def _text(value: object) -> str:
    return "" if value is None else str(value)[:200]


def _share(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
