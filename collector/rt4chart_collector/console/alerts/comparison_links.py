"""Where the page of an alert leads to compare the versions, or the times, before and after."""

from __future__ import annotations

from collections.abc import Sequence

from rt4chart_collector.comparison.sides import shown_name, span_value
from rt4chart_collector.console.view.time_range import window_covering
from rt4chart_collector.console.view.urls import with_query
from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.alerts.facts import AttributeChange, DriftFacts
from rt4chart_collector.store.engine.version_scope import VERSION_COLUMNS, VersionKind

DAY_NS = 86_400 * 10**9


def change_urls(
    alert: Alert, changes: Sequence[AttributeChange], *, past_ns: int
) -> dict[AttributeChange, str]:
    """The comparison of the new value with the one that it replaced, for changes that have both.

    `past_ns` is the time since the rise; the comparison reaches twice as far back.
    """
    return {
        change: with_query(
            "/compare",
            **_place(alert),
            by=change.new.attribute,
            a=shown_name(change.replaced),
            b=shown_name(change.new.value),
            since=window_covering(2 * past_ns),
        )
        for change in changes
        if alert.route and change.replaced and change.new.attribute in VERSION_COLUMNS
    }


def spans_url(alert: Alert, since_ns: int, *, now_ns: int) -> str:
    """The comparison of the time of a rise with the day before it; "" for other alerts."""
    if not alert.route or not isinstance(alert.facts, DriftFacts) or not 0 < since_ns < now_ns:
        return ""
    return with_query(
        "/compare",
        **_place(alert),
        by=VersionKind.TIME,
        a=span_value(since_ns - DAY_NS, since_ns),
        b=span_value(since_ns, now_ns),
    )


def _place(alert: Alert) -> dict[str, str]:
    """The route, the measure and the verifier of the alert."""
    place = {"service": alert.service, "route": alert.route}
    if isinstance(alert.facts, DriftFacts):
        place |= {"measure": str(alert.facts.measure), "verifier": alert.facts.verifier}
    return place
