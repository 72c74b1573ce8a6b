"""What changed when a rise began, and what stayed as it was. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rt4chart_collector.core.alerts.facts import AttributeChange, DriftFacts, attribute_changes
from rt4chart_collector.incident.onset_range import OnsetRange
from rt4chart_collector.store.rates.ticks import TICK_NS
from rt4chart_collector.store.rates.trends import ATTRIBUTES, AttributeTraffic

# A value of this share of the answers is in use; fewer are named by their number.
IN_USE = 0.05
MAX_NAMED = 3


class ChangeTime(StrEnum):
    """When a value came, compared with the interval of the rise's beginning."""

    BEFORE = "before"
    WITH = "with"
    AFTER = "after"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DatedChange:
    """A change of an attribute; `first_ns` is the first tick with the new value.

    It is 0 where the value was in use as far back as was read.
    """

    change: AttributeChange
    first_ns: int
    time: ChangeTime


@dataclass(frozen=True, slots=True)
class SteadyAttribute:
    """An attribute whose values kept their shares: those in use, the commonest first.

    `values` is empty where no answer names the attribute; `more` of them are not named.
    """

    attribute: str
    values: tuple[str, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class UncomparedValues:
    """How many of an attribute's values were not compared: those that the fewest answers have."""

    attribute: str
    number: int
    values: int


@dataclass(frozen=True, slots=True)
class FirstSeen:
    """A value of an attribute that came into use within the time of the chart."""

    at_ns: int
    attribute: str
    value: str


def dated_changes(
    facts: DriftFacts,
    traffic: Sequence[AttributeTraffic],
    *,
    since_ns: int,
    began: OnsetRange,
    read_since_ns: int,
) -> tuple[DatedChange, ...]:
    """The changes of the alert's facts, the one nearest to the rise first.

    `traffic` goes back to `read_since_ns`, further than the facts do, so it dates the values: one
    that a few answers had for days is not new with the rise.
    """
    first = {(row.attribute, row.value): row.first_ns for row in traffic}
    begins = _first_traffic_ns(traffic)
    found = []
    for change in attribute_changes(facts.changed, facts.since_ns):
        new = change.new
        first_ns = first.get((new.attribute, new.value), new.first_seen_ns or 0)
        if new.change < 0 or first_ns <= max(begins, read_since_ns):
            first_ns = 0
        found.append(DatedChange(change, first_ns, _time_of(first_ns, began)))
    return tuple(sorted(found, key=lambda one: _distance_ns(one, since_ns)))


def steady_attributes(
    traffic: Sequence[AttributeTraffic], changes: Iterable[DatedChange]
) -> tuple[SteadyAttribute, ...]:
    """The attributes that are not among the changes."""
    changed = {one.change.new.attribute for one in changes}
    return tuple(_steady(name, traffic) for name in ATTRIBUTES if name not in changed)


def uncompared_values(traffic: Sequence[AttributeTraffic]) -> tuple[UncomparedValues, ...]:
    """The attributes of which the traffic has not all values."""
    known = Counter(row.attribute for row in traffic)
    values = {row.attribute: row.values for row in traffic}
    return tuple(
        UncomparedValues(name, values[name] - known[name], values[name])
        for name in ATTRIBUTES
        if values.get(name, 0) > known[name]
    )


def first_seen(
    traffic: Sequence[AttributeTraffic], *, begin_ns: int, until_ns: int
) -> tuple[FirstSeen, ...]:
    """The values that came within the time, in its order; the first ones of a route did not."""
    begins = _first_traffic_ns(traffic)
    found = [
        FirstSeen(row.first_ns, row.attribute, row.value)
        for row in traffic
        if row.value and begins < row.first_ns and begin_ns <= row.first_ns < until_ns
    ]
    order = list(ATTRIBUTES)
    return tuple(sorted(found, key=lambda one: (one.at_ns, order.index(one.attribute), one.value)))


def _first_traffic_ns(traffic: Sequence[AttributeTraffic]) -> int:
    return min((row.first_ns for row in traffic), default=0)


def _time_of(first_ns: int, began: OnsetRange) -> ChangeTime:
    """The answers of a tick came somewhere in it, so it counts as a whole."""
    if not first_ns:
        return ChangeTime.UNKNOWN
    if first_ns > began.high_ns:
        return ChangeTime.AFTER
    return ChangeTime.BEFORE if first_ns + TICK_NS < began.low_ns else ChangeTime.WITH


def _distance_ns(one: DatedChange, since_ns: int) -> tuple[bool, int]:
    """Those whose time is not known come last."""
    return not one.first_ns, abs(one.first_ns - since_ns)


def _steady(name: str, traffic: Sequence[AttributeTraffic]) -> SteadyAttribute:
    rows = [row for row in traffic if row.attribute == name]
    whole = max((row.all_before + row.all_after for row in rows), default=0)
    used = [row.value for row in rows if row.value and row.before + row.after >= IN_USE * whole]
    return SteadyAttribute(name, tuple(used[:MAX_NAMED]), max(len(used) - MAX_NAMED, 0))
