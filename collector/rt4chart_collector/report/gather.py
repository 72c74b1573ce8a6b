"""Reads the figures of the report from the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.model import ClaimStatus
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.comparison.figures import ComparedRate, ComparedRates, compare_rates
from rt4chart_collector.comparison.sides import left_out_words
from rt4chart_collector.console.view.trail_note import TrailNote, trail_note
from rt4chart_collector.store.alerts.alert_events import Episode, EpisodeFilter, alert_history
from rt4chart_collector.store.answers.answers import WorstAnswer, worst_answers
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.engine.version_scope import VersionKind
from rt4chart_collector.store.issues.issues import Issue, list_issues
from rt4chart_collector.store.labels.corrected_rates import RouteRate, corrected_rates
from rt4chart_collector.store.labels.draws import draws_in
from rt4chart_collector.store.rates.claim_rates import (
    RatePoint,
    RateSlice,
    SliceOrder,
    rates_by,
    rates_together,
    route_rates,
)
from rt4chart_collector.store.rates.criterion_rates import (
    CriterionRate,
    criteria_rates,
)
from rt4chart_collector.store.rates.traffic import Coverage, coverage
from rt4chart_collector.store.rates.trail_shares import TrailShares, stage_shares

MADE_WITH = ("model", "prompt_version", "release")
# Limits that keep the report readable; the console has the rest.
ROUTES, ISSUES, ALERTS, ANSWERS, SLICES = 20, 20, 50, 5, 10
STEPS = 84
TICK_S = 300
SECOND_NS = 10**9


@dataclass(frozen=True, slots=True)
class ReportedStatus:
    """The share of the decided claims with a status; None before where there were no statuses."""

    status: str
    share: float
    before: float | None


@dataclass(frozen=True, slots=True)
class MadeWith:
    """The slices of a dimension; `note` says how many there are, where these are not all."""

    dimension: str
    slices: tuple[RateSlice, ...]
    note: str


@dataclass(frozen=True, slots=True)
class RouteReport:
    """A route in the period; `before` is None if it had no answers in the period before.

    `made_with` has the slices of dimensions with several values, most answers first. `worst` and
    `misleading` are the answers with the most claims of each measure. `corrected` is None where no
    claims of this verifier and period were drawn for labels, on any route. `changes` compares with
    the period before; empty where one of the two has no decided claims.
    """

    now: RateSlice
    before: RateSlice | None
    trend: tuple[RatePoint, ...]
    coverage: Coverage | None
    made_with: tuple[MadeWith, ...]
    worst: tuple[WorstAnswer, ...]
    misleading: tuple[WorstAnswer, ...]
    changes: Mapping[Measure, ComparedRate]
    corrected: RouteRate | None = None
    stages: TrailShares | None = None
    criteria: tuple[CriterionRate, ...] = ()

    @property
    def entered(self) -> TrailNote | None:
        """In which step most of its unfaithful claims entered."""
        return trail_note(self.stages)

    @property
    def statuses(self) -> tuple[ReportedStatus, ...]:
        """The statuses of its claims, in the order of `ClaimStatus`; without those of no claim."""
        return status_rows(self.now, self.before)


@dataclass(frozen=True, slots=True)
class PeriodReport:
    """The figures; the lists are limited, `route_count` and `issue_count` are the totals.

    `corrected` has all routes, and none where no claims of the period were drawn for labels.
    `criteria` are the custom criteria over all answers.
    `compared` has the period before and this one over the routes that both have, weighted alike;
    `before` is all traffic of the period before, whose difference from `total` contains a change of
    traffic between routes.
    """

    scope: QueryScope
    total: RateSlice | None
    before: RateSlice | None
    compared: ComparedRates
    routes: tuple[RouteReport, ...]
    route_count: int
    issues: tuple[Issue, ...]
    issue_count: int
    alerts: tuple[Episode, ...]
    corrected: tuple[RouteRate, ...] = ()
    criteria: tuple[CriterionRate, ...] = ()

    @property
    def step_s(self) -> int:
        """The seconds of a step of the trends."""
        return trend_step_s(self.scope)


def trend_step_s(scope: QueryScope) -> int:
    """The seconds of a step of a trend: whole ticks, for about `STEPS` steps."""
    seconds = (scope.until_ns - scope.since_ns) // SECOND_NS
    return max(seconds // STEPS // TICK_S, 1) * TICK_S


def gather_report(client: Client, scope: QueryScope) -> PeriodReport:
    """Read the report: routes by unfaithful and misleading claims, issues by claims, most first."""
    routes = sorted(rates_by(client, "route", scope), key=_most_failures_first)
    before = {
        (rates.service, rates.route): rates for rates in rates_by(client, "route", scope.before)
    }
    compared = compare_rates(before, {(rates.service, rates.route): rates for rates in routes})
    changes = {(one.service, one.route): compared.of_measures(one) for one in compared.matched}
    covered = coverage(client, scope)
    corrected = _corrected(client, scope)
    stages = stage_shares(client, scope)
    criteria = criteria_rates(client, scope)
    issues = [
        issue
        for issue in list_issues(client)
        if issue.last_ns >= scope.since_ns and scope.route in (None, issue.route)
    ]
    return PeriodReport(
        scope=scope,
        total=rates_together(client, scope),
        before=rates_together(client, scope.before),
        compared=compared,
        routes=tuple(
            _route(
                client,
                scope.of_route(rates.service, rates.route),
                now=rates,
                before=before.get((rates.service, rates.route)),
                covered=covered.get((rates.service, rates.route)),
                changes=changes.get((rates.service, rates.route), {}),
                corrected=corrected.get((rates.service, rates.route)),
                stages=stages.get((rates.service, rates.route)),
                criteria=tuple(criteria.by_route.get((rates.service, rates.route), ())),
            )
            for rates in routes[:ROUTES]
        ),
        route_count=len(routes),
        issues=tuple(sorted(issues, key=_most_claims_first)[:ISSUES]),
        issue_count=len(issues),
        alerts=tuple(alert_history(client, EpisodeFilter(scope), limit=ALERTS)),
        corrected=tuple(corrected.values()),
        criteria=tuple(criteria.together),
    )


def _route(
    client: Client,
    scope: QueryScope,
    *,
    now: RateSlice,
    before: RateSlice | None,
    covered: Coverage | None,
    changes: Mapping[Measure, ComparedRate],
    corrected: RouteRate | None,
    stages: TrailShares | None,
    criteria: tuple[CriterionRate, ...],
) -> RouteReport:
    rates = route_rates(
        client,
        MADE_WITH,
        scope,
        step_s=trend_step_s(scope),
        limit=SLICES,
        order=SliceOrder.MOST_ANSWERS,
    )
    return RouteReport(
        now=now,
        before=before,
        trend=rates.points,
        coverage=covered,
        made_with=tuple(
            MadeWith(
                dimension,
                tuple(sorted(found, key=_most_answers_first)),
                left_out_words(VersionKind(dimension), len(found), rates.numbers.get(dimension, 0)),
            )
            for dimension in MADE_WITH
            if len(found := _with_answers(rates.slices[dimension])) > 1
        ),
        worst=tuple(worst_answers(client, scope, limit=ANSWERS)),
        misleading=tuple(worst_answers(client, scope, limit=ANSWERS, measure=Measure.MISLEADING)),
        changes=changes,
        corrected=corrected,
        stages=stages,
        criteria=criteria,
    )


def _corrected(client: Client, scope: QueryScope) -> dict[tuple[str, str], RouteRate]:
    """The corrected rates by service and route; none, and no time spent, without a draw."""
    found = corrected_rates(client, scope) if draws_in(client, scope) else []
    return {(rate.service, rate.route): rate for rate in found}


def _with_answers(slices: Sequence[RateSlice]) -> list[RateSlice]:
    return [rates for rates in slices if rates.answers]


def _most_failures_first(rates: RateSlice) -> tuple[float, str, str]:
    return (-rates.sums.wx - rates.misleading_sums.wx, rates.service, rates.route)


def status_rows(now: RateSlice, before: RateSlice | None) -> tuple[ReportedStatus, ...]:
    """What is wrong with claims, in the order of `ClaimStatus`, now and in the period before."""
    is_known = before is not None and before.misleading_sums.wm > 0
    earlier = before.status_shares if before is not None else {}
    found = now.status_shares
    return tuple(
        ReportedStatus(status, found[status], earlier.get(status, 0.0) if is_known else None)
        for status in map(str, ClaimStatus)
        if found.get(status)
    )


def _most_answers_first(rates: RateSlice) -> tuple[int, str]:
    return (-rates.answers, rates.key)


def _most_claims_first(issue: Issue) -> tuple[float, int]:
    return (-issue.weighted, issue.id)
