"""What changed around a rise, from an alert's facts: the change that is nearest to it first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rt4chart_collector.alerts.times import seconds_of


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
