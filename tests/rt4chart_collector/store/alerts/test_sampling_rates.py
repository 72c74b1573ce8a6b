"""The rates that the monitor asked for."""

from __future__ import annotations

from dataclasses import replace

from rt4chart_collector.store.alerts.sampling_rates import (
    SamplingRateRow,
    rates_in_force,
    rates_since,
    record_rates,
)
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.records import NOON, SECOND

SET = SamplingRateRow("shop", "support", NOON, 0.5, NOON + 600 * SECOND, "evidence")


def test_the_last_rate_of_a_route_is_in_force_until_its_end(any_client: Client) -> None:
    """A later one takes an earlier one's place, also where it has ended already."""
    later = replace(SET, at_ns=NOON + SECOND, rate=1.0)
    record_rates(any_client, [SET, later, replace(SET, route="billing"), replace(SET, service="b")])

    assert rates_in_force(any_client, now_ns=NOON + 2 * SECOND, service="shop") == [
        replace(SET, route="billing"),
        later,
    ]
    assert rates_in_force(any_client, now_ns=NOON, service="shop")[1] == SET
    assert rates_in_force(any_client, now_ns=NOON + 601 * SECOND) == []


def test_an_end_that_is_over_takes_a_rate_back(client: Client) -> None:
    """The route is as the application has it again, though the earlier one would hold still."""
    back = replace(SET, at_ns=NOON + SECOND, until_ns=NOON + SECOND, rate=0.1)
    record_rates(client, [SET])
    record_rates(client, [back])

    assert rates_in_force(client, now_ns=NOON + 2 * SECOND) == []
    assert rates_since(client, since_ns=NOON) == [back, SET]
