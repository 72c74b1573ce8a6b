"""A route's rates in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.claim_rates import (
    RateSlice,
    RouteRates,
    SliceOrder,
    rates_by,
    rates_over_time,
    route_rates,
)
from rt4chart_collector.store.rates.ticks import route_ticks
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, verdict

GOOD, WRONG = Label.ENTAILED, Label.CONTRADICTED
TICK = 300 * SECOND
SCOPE = QueryScope(NOON // TICK * TICK, NOON + 3600 * SECOND, VERIFIER, "shop", "support")
DIMENSIONS = ("model", "release")


def of_release(one: Verdict, release: str) -> Verdict:
    """The verdict on an answer of this release."""
    return replace(one, candidate=replace(one.candidate, release=release))


def read(client: Client) -> RouteRates:
    """Those of the hour after noon."""
    return route_rates(client, DIMENSIONS, SCOPE, step_s=300)


def alone(client: Client, dimension: str) -> list[RateSlice]:
    """The same by one dimension, as its own statement has it."""
    return rates_by(client, dimension, SCOPE)


def test_they_are_what_each_statement_alone_says(any_client: Client) -> None:
    """Together, over time and by each dimension, other routes left out."""
    insert_verdicts(
        any_client,
        [
            verdict(1, [GOOD, WRONG]),
            verdict(2, [WRONG], start_ns=NOON + 900 * SECOND),
            verdict(3, decision=Decision.NOT_SAMPLED),
            verdict(4, [WRONG, WRONG], route="other"),
        ],
    )

    found = read(any_client)

    points = rates_over_time(any_client, SCOPE, step_s=300)
    assert list(found.points) == points
    assert [replace(one, key="") for one in alone(any_client, "route")] == [found.whole]
    for name in DIMENSIONS:
        assert list(found.slices[name]) == alone(any_client, name)
    assert found.whole is not None
    assert found.whole.rate.value == pytest.approx(2 / 3)


def test_only_the_last_releases_are_read(any_client: Client) -> None:
    """Those of the newest step with the most answers, and any that is asked for.

    The number of all is known, and no step of the time is left out.
    """
    insert_verdicts(
        any_client,
        [
            of_release(verdict(1, [WRONG]), "old"),
            *(
                of_release(verdict(10 + at, start_ns=NOON + 900 * SECOND), f"build-{at:03}")
                for at in range(60)
            ),
            of_release(verdict(99, [GOOD], start_ns=NOON + 900 * SECOND), "build-059"),
            of_release(verdict(100, [GOOD], start_ns=NOON + 1800 * SECOND), "last"),
        ],
    )

    def releases(
        limit: int, also: Sequence[str] = (), order: SliceOrder = SliceOrder.NEWEST
    ) -> list[str]:
        found = route_rates(
            any_client, DIMENSIONS, SCOPE, step_s=300, limit=limit, order=order, also=also
        )
        assert found.numbers == {"model": 1, "release": 62}
        assert found.whole is not None
        assert (found.whole.answers, len(found.points)) == (63, 3)
        return [one.key for one in found.slices["release"]]

    assert releases(2) == ["build-059", "last"]
    assert releases(2, also=["old"]) == ["last", "old"]
    assert releases(1, order=SliceOrder.MOST_ANSWERS) == ["build-059"]


def test_a_route_without_answers_has_none(client: Client) -> None:
    """No whole, no points, and empty lists."""
    assert read(client) == RouteRates(None, (), {name: [] for name in DIMENSIONS})


def test_stored_rate_below_the_floor_counts_as_the_floor(any_client: Client) -> None:
    """Earlier versions stored any rate: no page may fail because of one answer."""
    insert_verdicts(
        any_client,
        [
            replace(verdict(1, [WRONG]), sample_rate=1e-300),
            replace(verdict(2, [GOOD]), sample_rate=1e-6),
        ],
    )

    found = read(any_client).whole
    ticks = route_ticks(any_client, SCOPE)

    assert found is not None
    assert found.rate.value == pytest.approx(0.5)
    assert found.sums.wm == pytest.approx(2e6)
    assert {bin_.sample_rate for one in ticks for tick in one.ticks for bin_ in tick.bins} == {1e-6}
