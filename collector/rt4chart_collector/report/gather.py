"""Reads the figures of the report from the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rt4chart_collector.store.alerts.alert_events import Episode, EpisodeFilter, alert_history
from rt4chart_collector.store.answers.answers import WorstAnswer, worst_answers
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issues import Issue, list_issues
from rt4chart_collector.store.rates.claim_rates import (
    RatePoint,
    RateSlice,
    rates_by,
    rates_over_time,
    rates_together,
)
from rt4chart_collector.store.rates.traffic import Coverage, coverage

MADE_WITH = ("model", "prompt_version", "release")
# Limits that keep the report readable; the console has the rest.
ROUTES, ISSUES, ALERTS, ANSWERS, SLICES = 20, 20, 50, 5, 10
STEPS = 84
TICK_S = 300
SECOND_NS = 10**9


@dataclass(frozen=True, slots=True)
class Period:
    """The period of the report, in epoch nanoseconds."""

    since_ns: int
    until_ns: int

    @property
    def before(self) -> Period:
        """The period of the same length before it."""
        return Period(2 * self.since_ns - self.until_ns, self.since_ns)

    @property
    def step_s(self) -> int:
        """The seconds of a step of the trend: whole ticks, for about `STEPS` steps."""
        seconds = (self.until_ns - self.since_ns) // SECOND_NS
        return max(seconds // STEPS // TICK_S, 1) * TICK_S


@dataclass(frozen=True, slots=True)
class RouteReport:
    """A route in the period; `before` is None if it had no answers in the period before.

    `made_with` has the slices of dimensions with several values, most answers first.
    """

    now: RateSlice
    before: RateSlice | None
    trend: tuple[RatePoint, ...]
    coverage: Coverage | None
    made_with: tuple[tuple[str, tuple[RateSlice, ...]], ...]
    worst: tuple[WorstAnswer, ...]


@dataclass(frozen=True, slots=True)
class PeriodReport:
    """The figures; the lists are limited, `route_count` and `issue_count` are the totals."""

    period: Period
    verifier: str
    total: RateSlice | None
    before: RateSlice | None
    routes: tuple[RouteReport, ...]
    route_count: int
    issues: tuple[Issue, ...]
    issue_count: int
    alerts: tuple[Episode, ...]


def gather_report(client: Client, period: Period, *, verifier: str) -> PeriodReport:
    """Read the report: routes by unfaithful claims, issues by claims, most first."""
    filters, earlier = _filters(period, verifier), _filters(period.before, verifier)
    routes = sorted(rates_by(client, "route", **filters), key=_most_unfaithful_first)
    before = rates_by(client, "route", **earlier)
    earlier_rates = {(route.service, route.route): route for route in before}
    covered = coverage(client, **filters)
    issues = [issue for issue in list_issues(client) if issue.last_ns >= period.since_ns]
    return PeriodReport(
        period=period,
        verifier=verifier,
        total=rates_together(client, **filters),
        before=rates_together(client, **earlier),
        routes=tuple(
            _route(
                client,
                period,
                verifier,
                now=route,
                before=earlier_rates.get((route.service, route.route)),
                covered=covered.get((route.service, route.route)),
            )
            for route in routes[:ROUTES]
        ),
        route_count=len(routes),
        issues=tuple(sorted(issues, key=_most_claims_first)[:ISSUES]),
        issue_count=len(issues),
        alerts=tuple(
            alert_history(client, EpisodeFilter(period.since_ns, period.until_ns), limit=ALERTS)
        ),
    )


def _route(
    client: Client,
    period: Period,
    verifier: str,
    *,
    now: RateSlice,
    before: RateSlice | None,
    covered: Coverage | None,
) -> RouteReport:
    filters = _filters(period, verifier) | {"service": now.service, "route": now.route}
    return RouteReport(
        now=now,
        before=before,
        trend=tuple(rates_over_time(client, step_s=period.step_s, **filters)),
        coverage=covered,
        made_with=tuple(
            (dimension, tuple(sorted(found, key=_most_answers_first)[:SLICES]))
            for dimension in MADE_WITH
            if len(found := _with_answers(rates_by(client, dimension, **filters))) > 1
        ),
        worst=tuple(worst_answers(client, limit=ANSWERS, **filters)),
    )


def _filters(period: Period, verifier: str) -> dict[str, Any]:
    return {"since_ns": period.since_ns, "until_ns": period.until_ns, "verifier": verifier}


def _with_answers(slices: Sequence[RateSlice]) -> list[RateSlice]:
    return [rates for rates in slices if rates.answers]


def _most_unfaithful_first(route: RateSlice) -> tuple[float, str, str]:
    return (-route.weighted.contradicted - route.weighted.baseless, route.service, route.route)


def _most_answers_first(rates: RateSlice) -> tuple[int, str]:
    return (-rates.answers, rates.key)


def _most_claims_first(issue: Issue) -> tuple[float, int]:
    return (-issue.weighted, issue.id)
