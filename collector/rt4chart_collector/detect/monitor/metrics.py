"""The last known rate and drift of each watched route, and the gauges that report them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core.instruments import (
    MONITOR_ROUTES,
    ROUTE_CHECKED_CLAIMS,
    ROUTE_CLAIMS,
    ROUTE_CORRECTED_RATE,
    ROUTE_DRIFT_LOG_EVIDENCE,
    ROUTE_DRIFT_THRESHOLD,
    ROUTE_HALLUCINATION_RATE,
    ROUTE_MIN_DETECTABLE_RISE,
    ROUTE_MISLEADING_CORRECTED_RATE,
    ROUTE_MISLEADING_DRIFT_LOG_EVIDENCE,
    ROUTE_MISLEADING_DRIFT_THRESHOLD,
    ROUTE_MISLEADING_MIN_DETECTABLE_RISE,
    ROUTE_MISLEADING_RATE,
    ROUTE_MISLEADING_TRUSTED_LABELS,
    ROUTE_TRUSTED_LABELS,
    ROUTE_UNDECIDED_RATIO,
    Instrument,
)
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.detect.drift.finding import DriftFinding, DriftKey, RouteKey
from rt4chart_collector.detect.drift.policy import HOUR_NS
from rt4chart_collector.detect.monitor.drift_alerts import SILENT_NS
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import RouteRate
from rt4chart_collector.store.rates.claim_rates import RateSlice, rates_by
from rt4chart_collector.store.rates.traffic import Coverage, coverage

ByValue = Mapping[Instrument, Callable[["RouteFigures"], float | None]]
ByLevel = Mapping[Instrument, Callable[["RouteFigures"], Mapping[str, float]]]
# The gauges of each measure. They have names of their own, not a label: a rule or panel on a name
# that gets another label would count each route twice.
GAUGES: Mapping[Measure, tuple[ByValue, ByLevel]] = {
    Measure.UNFAITHFUL: (
        {
            ROUTE_HALLUCINATION_RATE: attrgetter("rate"),
            ROUTE_CLAIMS: attrgetter("claims"),
            ROUTE_UNDECIDED_RATIO: attrgetter("undecided"),
            ROUTE_MIN_DETECTABLE_RISE: attrgetter("detectable"),
            ROUTE_TRUSTED_LABELS: attrgetter("labels"),
        },
        {
            ROUTE_CORRECTED_RATE: attrgetter("corrected"),
            ROUTE_DRIFT_LOG_EVIDENCE: attrgetter("evidence"),
            ROUTE_DRIFT_THRESHOLD: attrgetter("thresholds"),
        },
    ),
    Measure.MISLEADING: (
        {
            ROUTE_MISLEADING_RATE: attrgetter("rate"),
            ROUTE_CHECKED_CLAIMS: attrgetter("claims"),
            ROUTE_MISLEADING_MIN_DETECTABLE_RISE: attrgetter("detectable"),
            ROUTE_MISLEADING_TRUSTED_LABELS: attrgetter("labels"),
        },
        {
            ROUTE_MISLEADING_CORRECTED_RATE: attrgetter("corrected"),
            ROUTE_MISLEADING_DRIFT_LOG_EVIDENCE: attrgetter("evidence"),
            ROUTE_MISLEADING_DRIFT_THRESHOLD: attrgetter("thresholds"),
        },
    ),
}


@dataclass(frozen=True, slots=True)
class RouteFigures:
    """The figures of one measure of a route: the answers of the last hour, and the drift.

    `rate` and `undecided` are shares, None without a denominator; `claims` counts decided claims.
    `evidence` (for any rise, and the part that pages) and `thresholds` (at which it warns and
    pages) are natural logarithms. `detectable` is the smallest rise that is detected within 90
    minutes, None if unknown. `undecided` is of no measure and stands beside unfaithful claims.
    `corrected` has the rate of the last week and its bounds, `labels` the number of labels that say
    it; both are empty where no claims were drawn for labels.
    """

    service: str
    route: str
    claims: int
    rate: float | None = None
    undecided: float | None = None
    evidence: Mapping[str, float] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    detectable: float | None = None
    measure: Measure = Measure.UNFAITHFUL
    corrected: Mapping[str, float] = field(default_factory=dict)
    labels: int | None = None


def observe_routes(
    metrics: ServiceMetrics,
    routes: Callable[[], Sequence[RouteFigures]],
    states: Callable[[], Mapping[str, int]],
) -> None:
    """Report the figures that `routes` returns as gauges; unknown values are left out.

    `states` are numbers of routes by what the monitor does with them.
    """
    metrics.observe(
        MONITOR_ROUTES, lambda: {(state,): float(number) for state, number in states().items()}
    )
    for measure, (values, levels) in GAUGES.items():
        of_measure = partial(_of_measure, routes, measure)
        for gauge, value in values.items():
            metrics.observe(gauge, partial(_by_route, of_measure, value))
        for gauge, level in levels.items():
            metrics.observe(gauge, partial(_by_level, of_measure, level))


def route_figures(
    client: Client,
    findings: Mapping[DriftKey, DriftFinding],
    *,
    verifier: str,
    now_ns: int,
    rule: str,
    limit: int = 1_000,
    corrected: Sequence[RouteRate] = (),
) -> tuple[RouteFigures, ...]:
    """The figures of the monitored routes with an answer in the last day.

    `corrected` are the rates of the last week that labels correct, of any routes. Other rates are
    of the last hour. Of more than `limit`, which limits the series in Prometheus, those with the
    most traffic are included.
    """
    active = {
        key: finding for key, finding in findings.items() if now_ns - finding.tick_ns < SILENT_NS
    }
    traffic = {
        (service, route): finding.traffic_per_hour
        for (service, route, measure), finding in active.items()
        if measure is Measure.UNFAITHFUL
    }
    if not traffic:
        return ()
    scope = QueryScope(now_ns - HOUR_NS, now_ns, verifier)
    read = {(one.service, one.route): one for one in rates_by(client, "route", scope)}
    covered = coverage(client, scope)
    by_labels = {(one.service, one.route): one for one in corrected}
    found = [
        _figures((*key, measure), active.get((*key, measure)), read.get(key), covered, rule)
        for key in sorted(traffic, key=lambda key: (-traffic[key], key))[:limit]
        for measure in GAUGES
        if (*key, measure) in active or _is_checked(read.get(key), measure)
    ]
    return tuple(_with_labels(one, by_labels.get((one.service, one.route))) for one in found)


def _with_labels(figures: RouteFigures, rate: RouteRate | None) -> RouteFigures:
    """The figures with the corrected rate of their measure."""
    own = rate.of_misleading if rate and figures.measure is Measure.MISLEADING else rate
    if own is None:
        return figures
    found = own.corrected.rate
    bounds = {"value": found.value, "low": found.low, "high": found.high}
    known = {name: share for name, share in bounds.items() if share is not None}
    return replace(figures, corrected=known, labels=own.corrected.labels)


def _is_checked(rates: RateSlice | None, measure: Measure) -> bool:
    """True if the measure has a rate, though too few answers had all checks for a finding."""
    return rates is not None and rates.sums_of(measure).wm > 0


def _figures(
    key: DriftKey,
    found: DriftFinding | None,
    rates: RateSlice | None,
    covered: Mapping[RouteKey, Coverage],
    rule: str,
) -> RouteFigures:
    service, route, measure = key
    known = covered.get((service, route)) if measure is Measure.UNFAITHFUL else None
    return RouteFigures(
        service=service,
        route=route,
        claims=rates.sums_of(measure).claims if rates else 0,
        rate=rates.rate_of(measure).value if rates else None,
        undecided=known.undecided_share if known else None,
        evidence=_levels(found, rule),
        thresholds=_bounds(found, rule),
        detectable=found.detectable if found else None,
        measure=measure,
    )


def _levels(found: DriftFinding | None, rule: str) -> dict[str, float]:
    """The evidence by level; empty for the other rules, and for a cold route."""
    if found is None or rule != "evidence" or found.state == "cold":
        return {}
    return {"any": found.warn, "page": found.page}


def _bounds(found: DriftFinding | None, rule: str) -> dict[str, float]:
    if found is None or not _levels(found, rule):
        return {}
    return {"warn": found.warn_at, "page": found.page_at}


def _of_measure(
    routes: Callable[[], Sequence[RouteFigures]], measure: Measure
) -> list[RouteFigures]:
    return [figures for figures in routes() if figures.measure is measure]


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
