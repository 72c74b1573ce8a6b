"""The corrected rates that the monitor computes, stores, and reports as gauges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.detect.drift.policy import DAY_NS, TICK_NS
from rt4chart_collector.detect.monitor.corrected_rates import PERIOD_NS, CorrectedRates
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import corrected_rates
from rt4chart_collector.store.labels.rate_history import corrected_history
from rt4chart_collector.store.labels.trusted_labels import record_labels
from tests.rt4chart_collector.detect.monitor.world import World
from tests.rt4chart_collector.records import NOON, VERIFIER
from tests.rt4chart_collector.store.labels.label_rows import (
    NOW,
    draw,
    insert_answers,
    label_all,
    with_status,
)

PERIOD = QueryScope(NOW - PERIOD_NS, NOW, VERIFIER)


def test_the_rates_of_the_last_week_are_stored_for_the_day(client: Client) -> None:
    """With interval, labels and the judge's quality; a later row of the day replaces it."""
    insert_answers(client, range(1, 61))
    queue = draw(client, 60).queue
    label_all(client, queue[:10])
    rates = CorrectedRates(client)
    few = rates.update(VERIFIER, NOW).rates
    (before,) = corrected_history(client, PERIOD)
    label_all(client, queue)

    found = rates.update(VERIFIER, NOW + TICK_NS).rates

    assert [one.corrected.labels for one in (*few, *found)] == [10, 60]
    assert found == tuple(corrected_rates(client, replace(PERIOD, until_ns=NOW + TICK_NS)))
    (row,) = corrected_history(client, PERIOD)
    assert (before.rate, before.labels, before.more_labels) == (None, 10, 10)
    (one,) = found
    assert one.quality is not None
    assert (row.service, row.route, row.verifier) == ("shop", "support", VERIFIER)
    assert (row.day_ns, row.until_ns) == (NOW // DAY_NS * DAY_NS, NOW + TICK_NS)
    assert (row.raw, row.rate, row.low, row.high, row.labels, row.covered) == (
        *(one.raw, one.corrected.rate.value, one.corrected.rate.low, one.corrected.rate.high),
        *(60, 1.0),
    )
    assert (row.precision, row.recall_low) == (one.quality.precision.value, one.quality.recall.low)


def test_the_rate_of_misleading_claims_is_stored_beside_it(client: Client) -> None:
    """It counts the labels that say whether a claim misleads; without any it is not known."""
    insert_answers(client, range(1, 61))
    queue = draw(client, 60).queue
    label_all(client, queue[:30])
    rates = CorrectedRates(client)
    rates.update(VERIFIER, NOW)
    (before,) = corrected_history(client, PERIOD)
    record_labels(client, [with_status(row, 0.2) for row in queue[30:]])

    (one,) = rates.update(VERIFIER, NOW + TICK_NS).rates

    (row,) = corrected_history(client, PERIOD)
    assert one.misleading is not None
    rate = one.misleading.rate
    assert (before.misleading, before.misleading_labels) == (None, 0)
    assert (row.misleading, row.misleading_low, row.misleading_high, row.misleading_labels) == (
        *(rate.value, rate.low, rate.high),
        30,
    )
    assert rate.value is not None


def test_rates_are_computed_again_when_labels_change_and_at_most_once_a_tick(
    client: Client,
) -> None:
    """A round every minute costs nothing while nobody labels."""
    insert_answers(client, range(1, 61))
    queue = draw(client, 60).queue
    rates = CorrectedRates(client)
    first = rates.update(VERIFIER, NOW)
    label_all(client, queue)

    assert rates.update(VERIFIER, NOW + 1) is first
    second = rates.update(VERIFIER, NOW + TICK_NS)
    assert second.rates[0].corrected.labels == 60
    assert rates.update(VERIFIER, NOW + 2 * TICK_NS) is second
    assert rates.update(VERIFIER, NOW + 12 * TICK_NS) is not second


def test_routes_are_limited_to_those_with_the_most_labels(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A route that nothing was drawn from is not among them, however many names there are."""
    insert_answers(client, range(1, 31))
    insert_answers(client, range(101, 131), route="sales")
    label_all(client, [row for row in draw(client, 30).queue if row.route == "sales"])
    insert_answers(client, range(201, 231), route="new", start_ns=NOW)

    found = [one.route for one in CorrectedRates(client).update(VERIFIER, NOW + TICK_NS).rates]
    monkeypatch.setattr("rt4chart_collector.detect.monitor.corrected_rates.MAX_ROUTES", 1)
    first = [one.route for one in CorrectedRates(client).update(VERIFIER, NOW + TICK_NS).rates]

    assert (found, first) == (["sales", "support"], ["sales"])


def test_without_a_draw_nothing_is_computed_or_stored(client: Client) -> None:
    """Also where there is no verifier yet."""
    insert_answers(client, range(1, 31))
    rates = CorrectedRates(client)

    assert rates.update("", NOW).rates == ()
    assert rates.update(VERIFIER, NOW).rates == ()
    assert corrected_history(client, PERIOD) == []


def test_the_weeks_before_are_read_where_there_are_labels_to_compare(client: Client) -> None:
    """Labels on claims of an earlier period are of that period."""
    insert_answers(client, range(1, 61), start_ns=NOON)
    label_all(client, draw(client, 60).queue)
    later = NOW + 8 * DAY_NS
    insert_answers(client, range(101, 161), start_ns=later - DAY_NS)
    rates = CorrectedRates(client)
    assert rates.update(VERIFIER, later).before == ()

    scope = QueryScope(later - 2 * DAY_NS, later, VERIFIER)
    label_all(client, draw(client, 60, now_ns=later, scope=scope).queue)
    found = rates.update(VERIFIER, later + TICK_NS)

    assert [one.corrected.labels for one in (*found.rates, *found.before)] == [60, 60]


@pytest.mark.parametrize("limit", [0.0, 0.01])
def test_a_round_alerts_on_the_limit_and_reports_the_rate_by_bound(
    client: Client, limit: float
) -> None:
    """The gauge has the routes that the monitor watches."""
    world = World(client, max_corrected_rate=limit)
    insert_answers(client, range(1, 61), start_ns=world.now)
    now_ns = world.now + TICK_NS
    scope = QueryScope(world.now, now_ns, VERIFIER)
    label_all(client, draw(client, 60, now_ns=now_ns, scope=scope).queue)
    world.now = now_ns + 2 * TICK_NS

    world.monitor.run_round()

    (figures,) = [
        one
        for one in world.monitor.figures()
        if one.corrected and one.measure is Measure.UNFAITHFUL
    ]
    assert sorted(figures.corrected) == ["high", "low", "value"]
    assert figures.labels == 60
    assert [alert.rule for alert in world.alerts()] == ["corrected_rate"] * bool(limit)
