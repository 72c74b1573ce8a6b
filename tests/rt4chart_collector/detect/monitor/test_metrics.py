"""Which routes have figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core import metrics as service_metrics
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.detect.drift.finding import DriftFinding, DriftKey
from rt4chart_collector.detect.monitor.metrics import RouteFigures, observe_routes, route_figures
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.detect.monitor.world import DAY, START
from tests.rt4chart_collector.records import VERIFIER
from tests.rt4chart_collector.telemetry.asked import samples

UNFAITHFUL, MISLEADING = Measure.UNFAITHFUL, Measure.MISLEADING
FOUND = DriftFinding(START, "calm", 1.0, 1.0, 3.0, 9.0, None, None, 0, 10.0, 10.0, "")


def routes(
    client: Client, found: dict[DriftKey, DriftFinding], now_ns: int, limit: int = 9
) -> list[str]:
    """Those with figures, in their order."""
    made = route_figures(
        client, found, verifier=VERIFIER, now_ns=now_ns, rule="evidence", limit=limit
    )
    return [one.route for one in made]


def test_the_busiest_routes_have_figures(client: Client) -> None:
    """Where there are more than a Prometheus bears."""
    found: dict[DriftKey, DriftFinding] = {
        ("shop", name, UNFAITHFUL): replace(FOUND, traffic_per_hour=at)
        for at, name in enumerate("abc")
    }

    assert routes(client, found, START, limit=2) == ["c", "b"]


def test_a_route_that_is_silent_for_a_day_has_no_evidence(client: Client) -> None:
    """Its last finding is no state of now, and no alarm of Prometheus either."""
    found: dict[DriftKey, DriftFinding] = {
        ("shop", "old", UNFAITHFUL): FOUND,
        ("shop", "new", UNFAITHFUL): replace(FOUND, tick_ns=START + DAY),
    }

    assert routes(client, found, START + DAY) == ["new"]


def test_gauges_report_what_is_known_of_each_route() -> None:
    """A value that is unknown has no series."""
    known = RouteFigures(
        "shop",
        "support",
        claims=400,
        rate=0.06,
        undecided=0.02,
        evidence={"any": 4.0, "page": -1.5},
        thresholds={"warn": 3.5, "page": 9.1},
        detectable=0.03,
        corrected={"value": 0.09, "low": 0.05, "high": 0.14},
        labels=60,
    )
    metrics = ServiceMetrics()
    observe_routes(metrics, lambda: [known, RouteFigures("shop", "new", claims=0)], dict)

    found = samples(metrics.exposition()[0].decode())

    support = (("route", "support"), ("service", "shop"))
    assert found["rt4chart_route_hallucination_rate", support] == 0.06
    assert found["rt4chart_route_undecided_ratio", support] == 0.02
    assert found["rt4chart_route_min_detectable_rise", support] == 0.03
    for name, level, value in (
        ("log_evidence", "any", 4.0),
        ("log_evidence", "page", -1.5),
        ("threshold", "warn", 3.5),
        ("threshold", "page", 9.1),
    ):
        assert found[f"rt4chart_route_drift_{name}", (("level", level), *support)] == value
    for bound, value in known.corrected.items():
        assert found["rt4chart_route_corrected_rate", (("bound", bound), *support)] == value
    assert found["rt4chart_route_trusted_labels", support] == 60
    new = [name for name, labels in found if ("route", "new") in labels]
    assert new == ["rt4chart_route_claims"]


def test_each_measure_has_gauges_of_its_own() -> None:
    """The names of unfaithful claims have no series of misleading ones."""
    known = RouteFigures(
        "shop",
        "support",
        claims=100,
        rate=0.14,
        evidence={"any": 12.0, "page": 10.0},
        thresholds={"warn": 3.5, "page": 9.1},
        detectable=0.05,
        measure=MISLEADING,
        corrected={"value": 0.11, "low": 0.06, "high": 0.17},
        labels=40,
    )
    metrics = ServiceMetrics()
    observe_routes(metrics, lambda: [known], dict)

    found = samples(metrics.exposition()[0].decode())

    support = (("route", "support"), ("service", "shop"))
    prefix = "rt4chart_route_misleading_"
    assert {
        (name, dict(labels).get("level", "") or dict(labels).get("bound", "")): value
        for (name, labels), value in found.items()
        if set(support) <= set(labels)
    } == {
        ("rt4chart_route_checked_claims", ""): 100,
        (f"{prefix}rate", ""): 0.14,
        (f"{prefix}min_detectable_rise", ""): 0.05,
        (f"{prefix}drift_log_evidence", "any"): 12.0,
        (f"{prefix}drift_log_evidence", "page"): 10.0,
        (f"{prefix}drift_threshold", "warn"): 3.5,
        (f"{prefix}drift_threshold", "page"): 9.1,
        (f"{prefix}corrected_rate", "value"): 0.11,
        (f"{prefix}corrected_rate", "low"): 0.06,
        (f"{prefix}corrected_rate", "high"): 0.17,
        (f"{prefix}trusted_labels", ""): 40,
    }


def test_a_route_that_is_gone_has_no_series() -> None:
    """Nor has it one after its place was taken by others, as often as that happens."""
    metrics, routes = ServiceMetrics(), [RouteFigures("shop", "old", claims=1)]
    observe_routes(metrics, lambda: routes, dict)
    metrics.exposition()

    for number in range(3000):
        routes[:] = [RouteFigures("shop", f"r{number}", claims=number)]
        if number % 100 == 0 or number > 2990:
            metrics.exposition()

    found = samples(metrics.exposition()[0].decode())
    shown = {labels: value for (name, labels), value in found.items() if "route_" in name}
    assert shown == {(("route", "r2999"), ("service", "shop")): 2999}


def test_series_of_routes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound new routes share one series, which has a label that says so."""
    monkeypatch.setattr(service_metrics, "MAX_SERIES", 2)
    metrics = ServiceMetrics()
    observe_routes(metrics, lambda: [RouteFigures("shop", name, claims=1) for name in "abcd"], dict)

    found = samples(metrics.exposition()[0].decode())
    shown = [dict(labels) for name, labels in found if name == "rt4chart_route_claims"]
    assert [one["route"] for one in shown] == ["a", "b", ""]
    assert shown[2]["otel_metric_overflow"] == "true"
