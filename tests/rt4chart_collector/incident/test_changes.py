"""What changed when a rise began, and what did not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rt4chart_collector.core.alerts.facts import AttributeValue, DriftFacts
from rt4chart_collector.incident.changes import (
    ChangeTime,
    DatedChange,
    dated_changes,
    first_seen,
    steady_attributes,
)
from rt4chart_collector.incident.onset_range import OnsetRange
from rt4chart_collector.store.rates.trends import AttributeTraffic
from tests.rt4chart_collector.incident.rises import HOUR, MINUTE

SINCE = 4_000_000_200 * 10**9
READ_SINCE = SINCE - 168 * HOUR
BEGAN = OnsetRange(SINCE - 20 * MINUTE, SINCE + 10 * MINUTE)


def traffic(attribute: str, value: str, first_ns: int, before: int, after: int) -> AttributeTraffic:
    """The answers with a value."""
    every = (before, after, 1)
    return AttributeTraffic(attribute, value, first_ns, SINCE + HOUR, before, after, *every)


def whole(rows: Sequence[AttributeTraffic]) -> list[AttributeTraffic]:
    """The rows, of attributes that have no other values."""
    of = {one.attribute: [row for row in rows if row.attribute == one.attribute] for one in rows}
    return [
        replace(
            row,
            all_before=sum(one.before for one in of[row.attribute]),
            all_after=sum(one.after for one in of[row.attribute]),
            values=len(of[row.attribute]),
        )
        for row in rows
    ]


OLD = traffic("release", "2.3", READ_SINCE, 100, 0)


def changed(first_ns: int, *, seen_ns: int | None = None) -> DatedChange:
    """The change from release 2.3 to 2.4, first seen then; `seen_ns` is what the facts say."""
    facts = DriftFacts(
        since_ns=SINCE,
        changed=(
            AttributeValue("release", "2.4", 0.0, 1.0, seen_ns or first_ns),
            AttributeValue("release", "2.3", 1.0, 0.0, SINCE - 24 * HOUR),
        ),
    )
    rows = [OLD, traffic("release", "2.4", first_ns, 5, 90)]
    (found,) = dated_changes(facts, rows, since_ns=SINCE, began=BEGAN, read_since_ns=READ_SINCE)
    return found


def test_a_change_is_before_with_or_after_the_rise() -> None:
    """By the interval of the beginning, not by its middle."""
    assert changed(SINCE - 3 * HOUR).time is ChangeTime.BEFORE
    assert changed(SINCE - 20 * MINUTE).time is ChangeTime.WITH
    assert changed(SINCE).time is ChangeTime.WITH
    assert changed(SINCE + 10 * MINUTE).time is ChangeTime.WITH
    assert changed(SINCE + 15 * MINUTE).time is ChangeTime.AFTER
    assert changed(SINCE).change.replaced == "2.3"


def test_a_value_that_few_answers_had_for_days_is_dated_to_then() -> None:
    """The alert's facts look a day back only, and would date it to their own beginning."""
    found = changed(SINCE - 70 * HOUR, seen_ns=SINCE - 24 * HOUR)

    assert found.first_ns == SINCE - 70 * HOUR
    assert changed(READ_SINCE).first_ns == 0
    assert changed(READ_SINCE).time is ChangeTime.UNKNOWN


def test_attributes_that_did_not_change_are_named() -> None:
    """With the values in use; an attribute that no answer names, too."""
    rows = [
        *(OLD, traffic("release", "2.4", SINCE, 0, 90)),
        *(traffic("model", "large", READ_SINCE, 80, 70), traffic("model", "", READ_SINCE, 20, 18)),
        traffic("model", "rare", READ_SINCE, 1, 1),
        traffic("prompt_version", "", READ_SINCE, 100, 90),
    ]
    found = steady_attributes(whole(rows), [changed(SINCE)])

    assert [(one.attribute, one.values) for one in found] == [
        ("prompt_version", ()),
        ("model", ("large",)),
        ("environment", ()),
    ]


def test_what_came_into_use_is_listed_in_order() -> None:
    """Not what a route began with, nor what came before the time of the chart."""
    rows = [
        OLD,
        traffic("release", "2.4", SINCE, 0, 9),
        traffic("release", "2.5", SINCE - HOUR, 1, 9),
        traffic("release", "2.2", SINCE - 30 * HOUR, 1, 0),
        traffic("model", "new", SINCE, 0, 9),
        traffic("model", "", SINCE, 0, 9),
    ]
    found = first_seen(rows, begin_ns=SINCE - 6 * HOUR, until_ns=SINCE + HOUR)

    assert [(one.attribute, one.value) for one in found] == [
        ("release", "2.5"),
        ("release", "2.4"),
        ("model", "new"),
    ]
