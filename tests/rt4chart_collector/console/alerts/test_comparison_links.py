"""Where an alert leads to compare versions, and the times before and after."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.console.alerts.comparison_links import change_urls, spans_url
from rt4chart_collector.core.alerts.alert import Alert, Rule, Severity
from rt4chart_collector.core.alerts.facts import (
    AttributeChange,
    AttributeValue,
    BacklogFacts,
    DriftFacts,
)

HOUR_NS = 3600 * 10**9
RISE = 4_000_000_000_000_000_000
FACTS = DriftFacts(measure=Measure.MISLEADING, verifier="local/1")
ALERT = Alert(Rule.MISLEADING_DRIFT, Severity.ERROR, "shop", "support/refunds", facts=FACTS)


def asked(url: str) -> dict[str, str]:
    """The query of a comparison."""
    assert urlsplit(url).path == "/compare"
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def test_a_release_is_compared_with_the_one_that_it_replaced() -> None:
    """On the alert's route, by its measure and judge, over a time that has both."""
    change = AttributeChange(AttributeValue("release", "2.4.0"), replaced="2.3.0")

    found = change_urls(ALERT, [change], past_ns=5 * HOUR_NS)

    assert asked(found[change]) == {
        "service": "shop",
        "route": "support/refunds",
        "measure": "misleading",
        "verifier": "local/1",
        "by": "release",
        "a": "2.3.0",
        "b": "2.4.0",
        "since": "24h",
    }


def test_a_value_that_replaced_nothing_is_not_compared() -> None:
    """Nor is an attribute that makes no version, nor an alert of no route."""
    alone = AttributeChange(AttributeValue("release", "2.4.0"))
    region = AttributeChange(AttributeValue("region", "eu"), replaced="us")
    whole = AttributeChange(AttributeValue("model", "m-2"), replaced="m-1")

    assert change_urls(ALERT, [alone, region], past_ns=HOUR_NS) == {}
    assert change_urls(Alert(Rule.BACKLOG, Severity.ERROR), [whole], past_ns=HOUR_NS) == {}


def test_the_time_since_a_rise_is_compared_with_the_day_before() -> None:
    """Of alerts on a rise; others have no before."""
    found = asked(spans_url(ALERT, RISE, now_ns=RISE + 2 * HOUR_NS))

    assert (found["by"], found["a"], found["b"]) == (
        "time",
        "2096-10-01T07:06:40Z..2096-10-02T07:06:40Z",
        "2096-10-02T07:06:40Z..2096-10-02T09:06:40Z",
    )
    other = Alert(
        Rule.BACKLOG,
        Severity.ERROR,
        "shop",
        "pay",
        facts=BacklogFacts(waiting=1, dead_last_hour=0, verifier="local/1"),
    )
    assert spans_url(other, RISE, now_ns=RISE + HOUR_NS) == ""
