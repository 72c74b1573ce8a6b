"""What the detector found, written and read."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.store.alerts.drift_states import (
    DriftRow,
    drift_of_measures,
    drift_of_route,
    latest_drift,
    strongest_drift,
    write_drift,
)
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER
from tests.rt4chart_collector.store.alerts.drift_rows import drift_rows

TICK = 300 * SECOND
START = NOON // TICK * TICK
ROW = DriftRow(
    service="shop",
    route="support",
    verifier=VERIFIER,
    tick_ns=START,
    state="calm",
    warn=1.5,
    page=-0.25,
    warn_at=3.5,
    page_at=9.0,
    baseline=0.06,
    dead_band=0.005,
    baseline_claims=12_000,
    detectable=0.03,
)


def test_rows_come_back_as_they_were_written(any_client: Client) -> None:
    """By service, route and tick."""
    rows = [replace(ROW, tick_ns=START + at * TICK, warn=float(at)) for at in range(3)]
    other = replace(ROW, route="billing")
    write_drift(any_client, [*reversed(rows), other], version=1)

    found = drift_rows(any_client)

    assert found == [other, *rows]


def test_a_later_look_at_a_tick_replaces_the_earlier(client: Client) -> None:
    """Verdicts come late: the tick is written again."""
    write_drift(client, [ROW], version=1)
    write_drift(client, [replace(ROW, state="warn", warn=4.0)], version=2)

    (found,) = drift_rows(client)

    assert (found.state, found.warn) == ("warn", 4.0)


def test_each_measure_has_a_row_of_its_own(client: Client) -> None:
    """Of the same tick; without one asked for, it is the one of unfaithful claims."""
    misleading = replace(ROW, state="page", measure=Measure.MISLEADING)
    write_drift(client, [ROW, misleading], version=1)

    found = {
        measure: latest_drift(client, since_ns=START, verifier=VERIFIER, measure=measure)
        for measure in (Measure.UNFAITHFUL, Measure.MISLEADING)
    }

    key = ("shop", "support")
    assert found == {Measure.UNFAITHFUL: {key: ROW}, Measure.MISLEADING: {key: misleading}}
    assert latest_drift(client, since_ns=START, verifier=VERIFIER) == {key: ROW}


def test_the_measure_that_rises_most_is_the_one_that_is_shown(client: Client) -> None:
    """A route whose failures mislead has its evidence; of equal ones, the unfaithful claims."""
    misleading = replace(ROW, page=4.5, measure=Measure.MISLEADING)
    calm = replace(ROW, route="billing")
    cold = replace(calm, state="cold", page=20.0, measure=Measure.MISLEADING)
    write_drift(client, [ROW, misleading, calm, cold], version=1)

    found = drift_of_measures(client, since_ns=START, verifier=VERIFIER)

    assert found == {("shop", "support"): (ROW, misleading), ("shop", "billing"): (calm, cold)}
    assert {route: strongest_drift(rows) for (_, route), rows in found.items()} == {
        "support": misleading,
        "billing": calm,
    }
    assert [row.evidence for row in (ROW, misleading, cold)] == [0.0, 0.5, None]
    assert strongest_drift(()) is None


def test_the_latest_row_of_each_route(client: Client) -> None:
    """One a route, and none older than asked for."""
    write_drift(
        client,
        [ROW, replace(ROW, tick_ns=START + TICK, state="page"), replace(ROW, route="old")],
        version=1,
    )

    found = latest_drift(client, since_ns=START + TICK, verifier=VERIFIER)

    assert {key: one.state for key, one in found.items()} == {("shop", "support"): "page"}


def test_one_measure_of_one_route_is_read_alone(client: Client) -> None:
    """Its newest row since then."""
    rows = [
        ROW,
        replace(ROW, tick_ns=START + TICK, state="page"),
        replace(ROW, tick_ns=START + 2 * TICK, measure=Measure.MISLEADING),
        replace(ROW, tick_ns=START + 2 * TICK, route="other"),
    ]
    write_drift(client, rows, version=1)

    def found(since_ns: int) -> DriftRow | None:
        return drift_of_route(
            client,
            "shop",
            "support",
            since_ns=since_ns,
            verifier=VERIFIER,
            measure=Measure.UNFAITHFUL,
        )

    assert found(START) == rows[1]
    assert found(START + 2 * TICK) is None
