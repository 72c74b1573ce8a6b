"""The last known rate and drift of each watched route, and the gauges that report them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter

from otel_rt4chart.verify.core.rates import claim_rate
from rt4chart_collector.core.instruments import (
    ROUTE_CLAIMS,
    ROUTE_DRIFT_LOG_EVIDENCE,
    ROUTE_DRIFT_THRESHOLD,
    ROUTE_HALLUCINATION_RATE,
    ROUTE_MIN_DETECTABLE_RISE,
    ROUTE_UNDECIDED_RATIO,
)
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.detect.drift.finding import DriftFinding, RouteKey
from rt4chart_collector.detect.drift.policy import HOUR_NS
from rt4chart_collector.detect.monitor.drift_alerts import SILENT_NS
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.ticks import answer_sums, route_ticks
from rt4chart_collector.store.rates.traffic import coverage

# Limits the series in Prometheus; stated in docs/reference/metrics.md.
MAX_ROUTES = 200


@dataclass(frozen=True, slots=True)
class RouteFigures:
    """The figures of a route in the last round: the answers of the last hour, and the drift.

    `rate` and `undecided` are shares, None without a denominator; `claims` counts decided claims.
    `evidence` (for any rise, and the part that pages) and `thresholds` (at which it warns and
    pages) are natural logarithms. `detectable` is the smallest rise that is detected within 90
    minutes, None if unknown.
    """

    service: str
    route: str
    claims: int
    rate: float | None = None
    undecided: float | None = None
    evidence: Mapping[str, float] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    detectable: float | None = None


def observe_routes(metrics: ServiceMetrics, routes: Callable[[], Sequence[RouteFigures]]) -> None:
    """Report the figures that `routes` returns as gauges; unknown values are left out."""
    for gauge, value in (
        (ROUTE_HALLUCINATION_RATE, attrgetter("rate")),
        (ROUTE_CLAIMS, attrgetter("claims")),
        (ROUTE_UNDECIDED_RATIO, attrgetter("undecided")),
        (ROUTE_MIN_DETECTABLE_RISE, attrgetter("detectable")),
    ):
        metrics.observe(gauge, partial(_by_route, routes, value))
    for gauge, levels in (
        (ROUTE_DRIFT_LOG_EVIDENCE, attrgetter("evidence")),
        (ROUTE_DRIFT_THRESHOLD, attrgetter("thresholds")),
    ):
        metrics.observe(gauge, partial(_by_level, routes, levels))


def route_figures(
    client: Client,
    findings: Mapping[RouteKey, DriftFinding],
    *,
    verifier: str,
    now_ns: int,
    rule: str,
) -> tuple[RouteFigures, ...]:
    """The figures of the monitored routes with an answer in the last day.

    Rates are of the last hour. Of more than `MAX_ROUTES`, those with the most traffic are included.
    """
    active = {
        key: finding for key, finding in findings.items() if now_ns - finding.tick_ns < SILENT_NS
    }
    if not active:
        return ()
    busiest = sorted(active, key=lambda key: (-active[key].traffic_per_hour, key))
    scope = QueryScope(now_ns - HOUR_NS, now_ns, verifier)
    read = {(route.service, route.route): route for route in route_ticks(client, scope)}
    covered = coverage(client, scope)
    found = []
    for key in busiest[:MAX_ROUTES]:
        ticks = read[key].ticks if key in read else ()
        sums = answer_sums(bin_ for tick in ticks for bin_ in tick.bins)
        known = covered.get(key)
        found.append(
            RouteFigures(
                *key,
                claims=sums.claims,
                rate=claim_rate(sums).value,
                undecided=known.undecided_share if known else None,
                evidence=_levels(findings[key], rule),
                thresholds=_bounds(findings[key], rule),
                detectable=findings[key].detectable,
            )
        )
    return tuple(found)


def _levels(found: DriftFinding, rule: str) -> dict[str, float]:
    """The evidence by level; empty for the other rules, and for a cold route."""
    if rule != "evidence" or found.state == "cold":
        return {}
    return {"any": found.warn, "page": found.page}


def _bounds(found: DriftFinding, rule: str) -> dict[str, float]:
    return {"warn": found.warn_at, "page": found.page_at} if _levels(found, rule) else {}


def _by_route(
    routes: Callable[[], Sequence[RouteFigures]], value: Callable[[RouteFigures], float | None]
) -> dict[tuple[str, ...], float]:
    found = {(figures.service, figures.route): value(figures) for figures in routes()}
    return {key: number for key, number in found.items() if number is not None}


def _by_level(
    routes: Callable[[], Sequence[RouteFigures]],
    levels: Callable[[RouteFigures], Mapping[str, float]],
) -> dict[tuple[str, ...], float]:
    return {
        (figures.service, figures.route, level): number
        for figures in routes()
        for level, number in levels(figures).items()
    }
