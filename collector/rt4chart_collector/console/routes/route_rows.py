"""The rows of the overview: each route with its rate, traffic, evidence and alerts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from otel_rt4chart.verify.core.rates import Measure
from otel_rt4chart.verify.rates.corrected import CorrectedRate
from rt4chart_collector.console.view.charts import bar, sparkline
from rt4chart_collector.console.view.corrected import HINT, MISLEADING_HINT, corrected_cell
from rt4chart_collector.console.view.filters import count, hourly, link, percent, plural
from rt4chart_collector.console.view.measures import HINTS, TITLES, rate_cell
from rt4chart_collector.console.view.table import EMPTY_CELL, CellValue, Column
from rt4chart_collector.console.view.urls import alert_url, route_url
from rt4chart_collector.core.alerts.alert import severity_rank
from rt4chart_collector.core.alerts.state import AlertState
from rt4chart_collector.incident.evidence_words import (
    EVIDENCE_HINTS,
    EVIDENCE_WORDS,
    evidence_kind,
)
from rt4chart_collector.store.alerts.drift_states import (
    DriftRow,
    drift_of_measures,
    strongest_drift,
)
from rt4chart_collector.store.engine.concurrent_reads import ConcurrentReads, Pending
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import RouteRate
from rt4chart_collector.store.labels.populations import RouteKey
from rt4chart_collector.store.rates.claim_rates import RateSlice, rates_by
from rt4chart_collector.store.rates.traffic import Coverage, coverage_of
from rt4chart_collector.store.rates.trends import RouteTrend, route_trends

STEPS = 24
# Older evidence is out of date: the monitor writes every five minutes.
HOUR_NS = RECENT_NS = 3600 * 10**9


@dataclass(frozen=True, slots=True)
class RouteRow:
    """One route in the selected time range."""

    slice: RateSlice
    coverage: Coverage
    trend: RouteTrend
    hours: float
    drift: DriftRow | None
    alerts: tuple[AlertState, ...]
    corrected: RouteRate | None = None

    @property
    def service(self) -> str:
        """The service of the route."""
        return self.slice.service

    @property
    def route(self) -> str:
        """The name of the route."""
        return self.slice.route

    @property
    def evidence(self) -> float | None:
        """The evidence of a rise as a share of its threshold; None without monitor or baseline."""
        return self.drift.evidence if self.drift is not None else None

    @property
    def attention(self) -> float:
        """The sort key for urgency: alerts by severity, then the evidence."""
        worst = max((severity_rank(state.alert.severity) for state in self.alerts), default=0)
        return worst * 1000 + min(self.evidence or 0.0, 999.0)


def read_route_rows(
    reads: ConcurrentReads,
    scope: QueryScope,
    opened: Pending[list[AlertState]],
    measure: Measure,
    *,
    now_ns: int,
) -> list[RouteRow]:
    """Read every route with an answer in the scope, decided or not; `measure` is that of trends.

    The open alerts, which are read beside them, and the evidence of a rise are those of now,
    whenever the scope ended.
    """
    rates_read = reads.start(partial(rates_by, dimension="route", scope=scope))
    trends_read = reads.start(partial(route_trends, scope=scope, steps=STEPS, measure=measure))
    since_ns = now_ns - RECENT_NS
    drift_read = reads.start(
        partial(drift_of_measures, since_ns=since_ns, verifier=scope.verifier or "")
    )
    found, trends, drift = rates_read.result(), trends_read.result(), drift_read.result()
    alerts: defaultdict[RouteKey, list[AlertState]] = defaultdict(list)
    for alert in sorted(opened.result(), key=worst_first):
        alerts[alert.alert.route_key].append(alert)
    no_trend = RouteTrend((0,) * STEPS, (None,) * STEPS)
    return [
        RouteRow(
            rates,
            coverage_of(rates),
            trends.get(route, no_trend),
            (scope.until_ns - scope.since_ns) / HOUR_NS,
            strongest_drift(drift.get(route, ())),
            tuple(alerts.get(route, ())),
        )
        for rates in found
        for route in ((rates.service, rates.route),)
    ]


def worst_first(state: AlertState) -> tuple[bool, int, int]:
    """The order of alerts: unacknowledged, then most severe, then newest first."""
    return state.state != "firing", -severity_rank(state.alert.severity), -state.fired_ns


def _name_cell(row: RouteRow) -> Markup:
    name = link(route_url(row.service, row.route), row.route or "(no route)")
    return Markup('{} <span class="quiet">{}</span>').format(name, row.service or "(no service)")


def _claims_cell(row: RouteRow) -> Markup:
    return Markup('{} <span class="quiet">/ {}</span>').format(
        count(row.slice.claims), count(row.slice.answers)
    )


def _trend_cell(row: RouteRow) -> Markup:
    known = [value for value in row.trend.rates if value is not None]
    text = f"rate over time, last {percent(known[-1])}" if known else "no rate"
    return sparkline(row.trend.rates, text)


def _coverage_cell(row: RouteRow) -> Markup:
    covered = row.coverage
    left = [
        f"{count(number)} {word}"
        for number, word in (
            (covered.sampled_out, "sampled out"),
            (covered.over_budget, "of these over budget"),
            (covered.unreadable, "unreadable"),
            (covered.failed, "failed"),
        )
        if number
    ]
    return Markup('<span title="{}">{}</span>').format(
        ", ".join(left) or "all verified", percent(covered.verified_share)
    )


def evidence_bar(drift: DriftRow | None) -> Markup:
    """The evidence of a rise relative to its threshold, as a bar with text."""
    if drift is None:
        return Markup('<span class="quiet" title="{}">no recent evidence</span>').format(
            "no recent answers, or no monitor is running"
        )
    share = drift.evidence
    if share is None:
        return Markup('<span class="quiet" title="{}">learning</span>').format(
            f"the baseline has {plural(drift.baseline_claims, 'claim')} so far"
        )
    kind = evidence_kind(drift.state)
    words = EVIDENCE_WORDS[kind]
    hint = f"{words} evidence that more claims are {drift.measure}: {EVIDENCE_HINTS[kind]}"
    return Markup('{} <span class="evidence {}" title="{}">{}</span>').format(
        bar(share, hint, kind), kind, hint, words
    )


def _evidence_cell(row: RouteRow) -> Markup:
    return evidence_bar(row.drift)


def _alerts_cell(row: RouteRow) -> Markup | str:
    if not row.alerts:
        return EMPTY_CELL
    first = max(row.alerts, key=lambda state: severity_rank(state.alert.severity))
    more = f" +{len(row.alerts) - 1}" if len(row.alerts) > 1 else ""
    return Markup('<a class="severity severity-{}" href="{}" title="{}">{}</a>').format(
        first.alert.severity,
        alert_url(first.id),
        first.alert.title,
        f"▲ {first.alert.severity}{more}",
    )


# The name of the rate of each measure, in exports and in `?sort=`.
RATE_NAMES = {
    Measure.UNFAITHFUL: "rate",
    Measure.MISLEADING: "misleading",
    Measure.EITHER: "either",
}


CORRECTED_HINTS = {
    Measure.UNFAITHFUL: HINT,
    Measure.MISLEADING: MISLEADING_HINT,
}


def _both_rates_cell(row: RouteRow, measure: Measure) -> Markup:
    found = row.corrected
    if found is not None and measure is Measure.MISLEADING:
        found = found.of_misleading
    return Markup('{}<br><span class="n">corrected:</span> {}').format(
        rate_cell(row.slice, measure), corrected_cell(found)
    )


def _rate_columns(
    measure: Measure, is_shown: bool, *, is_corrected: bool = False
) -> tuple[Column[RouteRow], ...]:
    """A rate with its interval; the bounds and the number of claims are exported only."""
    name = RATE_NAMES[measure]
    before = "" if measure is Measure.UNFAITHFUL else f"{name}_"
    bounds = (
        _exported(f"{before}low", lambda row: row.slice.rate_of(measure).low),
        _exported(f"{before}high", lambda row: row.slice.rate_of(measure).high),
    )
    size = _exported(f"{before}claims", lambda row: row.slice.sums_of(measure).claims)
    return (
        Column(
            name,
            "Either" if measure is Measure.EITHER else f"{TITLES[measure]} claims",
            lambda row: row.slice.rate_of(measure).value,
            lambda row: (
                _both_rates_cell(row, measure) if is_corrected else rate_cell(row.slice, measure)
            ),
            is_sortable=True,
            hint=f"{HINTS[measure]}; corrected: {CORRECTED_HINTS[measure]}"
            if is_corrected
            else HINTS[measure],
            is_exported_only=not is_shown,
        ),
        *bounds,
        *((size,) if before else ()),
    )


def _exported(name: str, value: Callable[[RouteRow], CellValue]) -> Column[RouteRow]:
    return Column(name, name.replace("_", " ").capitalize(), value, is_exported_only=True)


def route_columns(measure: Measure, *, is_corrected: bool = False) -> Sequence[Column[RouteRow]]:
    """The columns of the overview: both rates, and that of either if the page is about it.

    With `is_corrected`, the page shows rates that are corrected by labels as well.
    """
    return (
        _exported("service", lambda row: row.service),
        Column("route", "Route", lambda row: row.route, _name_cell, is_sortable=True),
        *_rate_columns(Measure.UNFAITHFUL, is_shown=True, is_corrected=is_corrected),
        *CORRECTED,
        *_rate_columns(Measure.MISLEADING, is_shown=True, is_corrected=is_corrected),
        *CORRECTED_MISLEADING,
        *_rate_columns(Measure.EITHER, is_shown=measure is Measure.EITHER),
        *COLUMNS,
    )


def _of_corrected(value: Callable[[CorrectedRate], CellValue]) -> Callable[[RouteRow], CellValue]:
    return lambda row: None if row.corrected is None else value(row.corrected.corrected)


def _of_misleading(value: Callable[[CorrectedRate], CellValue]) -> Callable[[RouteRow], CellValue]:
    def of_row(row: RouteRow) -> CellValue:
        found = None if row.corrected is None else row.corrected.misleading
        return None if found is None else value(found)

    return of_row


# Exports always have them, so that their columns do not change with the first draw.
CORRECTED: Sequence[Column[RouteRow]] = (
    Column(
        "corrected",
        "Corrected",
        _of_corrected(lambda found: found.rate.value),
        is_sortable=True,
        is_exported_only=True,
    ),
    _exported("corrected_low", _of_corrected(lambda found: found.rate.low)),
    _exported("corrected_high", _of_corrected(lambda found: found.rate.high)),
    _exported("labels", _of_corrected(lambda found: found.labels)),
    _exported("more_labels", _of_corrected(lambda found: found.more_labels)),
)
CORRECTED_MISLEADING: Sequence[Column[RouteRow]] = (
    _exported("corrected_misleading", _of_misleading(lambda found: found.rate.value)),
    _exported("corrected_misleading_low", _of_misleading(lambda found: found.rate.low)),
    _exported("corrected_misleading_high", _of_misleading(lambda found: found.rate.high)),
    _exported("misleading_labels", _of_misleading(lambda found: found.labels)),
)
COLUMNS: Sequence[Column[RouteRow]] = (
    Column(
        "undecided",
        "Undecided",
        lambda row: row.slice.undecided_rate.value,
        lambda row: percent(row.slice.undecided_rate.value),
        is_number=True,
        is_sortable=True,
        hint="share of claims that the judge left undecided: the rates leave them out",
    ),
    Column(
        "claims",
        "Claims / answers",
        lambda row: row.slice.claims,
        _claims_cell,
        is_number=True,
        is_sortable=True,
        hint="decided claims and verified answers behind the rate of unfaithful claims",
    ),
    _exported("answers", lambda row: row.slice.answers),
    Column(
        "trend",
        "Trend",
        lambda row: _last(row.trend.rates),
        _trend_cell,
        hint="the rate of the chosen measure over time",
    ),
    Column(
        "traffic",
        "Answers/h",
        lambda row: round(row.coverage.answers / row.hours, 2),
        lambda row: hourly(row.coverage.answers / row.hours),
        is_number=True,
        is_sortable=True,
    ),
    Column(
        "coverage",
        "Verified",
        lambda row: row.coverage.verified_share,
        _coverage_cell,
        is_sortable=True,
        hint="share of answers with a verdict",
    ),
    Column(
        "evidence",
        "Evidence",
        lambda row: row.evidence,
        _evidence_cell,
        is_sortable=True,
        hint="how much speaks against chance: none, some or strong, which alerts; in files the "
        "logarithm of the evidence as a share of its threshold",
    ),
    Column("attention", "Alert", lambda row: row.attention, _alerts_cell, is_sortable=True),
)


def _last(values: Sequence[float | None]) -> float | None:
    return next((value for value in reversed(values) if value is not None), None)
