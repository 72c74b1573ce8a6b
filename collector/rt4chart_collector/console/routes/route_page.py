"""The route page: the rate over time, and what may have changed it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.app.section import Section, page_routes
from rt4chart_collector.console.routes.criterion_tables import criterion_table
from rt4chart_collector.console.routes.route_rows import RECENT_NS, worst_first
from rt4chart_collector.console.routes.route_tables import (
    DOCUMENTS,
    ISSUES,
    STATUSES,
    WORST,
    GrownIssueRow,
    deployment_table,
    slice_table,
    status_rows,
)
from rt4chart_collector.console.routes.trail_tables import trail_tables
from rt4chart_collector.console.view.charts import rate_figure
from rt4chart_collector.console.view.measures import TITLES, checked_text, measure_param
from rt4chart_collector.console.view.params import is_partial, is_whole, text_param
from rt4chart_collector.console.view.table import Table
from rt4chart_collector.console.view.time_range import TimeRange
from rt4chart_collector.console.view.trail_note import trail_note
from rt4chart_collector.console.view.urls import answers_url, route_value, unescaped
from rt4chart_collector.core.alerts.facts import DriftFacts
from rt4chart_collector.core.alerts.state import AlertState
from rt4chart_collector.core.filters.filter_language import FilterTerm, written_filter
from rt4chart_collector.pipeline.route_names import route_note
from rt4chart_collector.store.alerts.alert_events import (
    Episode,
    EpisodeFilter,
    alert_history,
    open_alerts,
)
from rt4chart_collector.store.alerts.drift_states import (
    DriftRow,
    drift_of_measures,
    strongest_drift,
)
from rt4chart_collector.store.answers.answers import WorstAnswer, worst_answers
from rt4chart_collector.store.engine.concurrent_reads import ConcurrentReads
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.issues.issue_figures import GrownDocument, issue_growth
from rt4chart_collector.store.issues.issues import watched_issues
from rt4chart_collector.store.rates.claim_rates import RatePoint, RateSlice, route_rates
from rt4chart_collector.store.rates.criterion_rates import CriterionRate, criteria_rates
from rt4chart_collector.store.rates.traffic import Coverage, coverage_of
from rt4chart_collector.store.rates.trail_shares import (
    TrailShares,
    trail_shares,
)
from rt4chart_collector.store.rates.trends import Deployment, deployments

# The measures whose rate is always on the page.
ALWAYS = (Measure.UNFAITHFUL, Measure.MISLEADING)
TICK_S, POINTS = 300, 36
FAILURE_TABLES = ("issues", "documents", "worst")
MAX_ROWS = 10
DIMENSIONS = {"model": "Models", "prompt_version": "Prompt versions", "release": "Releases"}


@dataclass(frozen=True, slots=True)
class RouteData:
    """What the store has of a route in a time range."""

    points: Sequence[RatePoint]
    whole: RateSlice | None
    slices: Mapping[str, Sequence[RateSlice]]
    numbers: Mapping[str, int]
    covered: Coverage
    drifts: Sequence[DriftRow]
    deployed: list[Deployment]
    alerts: list[AlertState]
    episodes: list[Episode]
    stages: TrailShares | None = None
    retrievals: TrailShares | None = None
    criteria: Sequence[CriterionRate] = ()

    @property
    def drift(self) -> DriftRow | None:
        """The measure with the most evidence of a rise."""
        return strongest_drift(self.drifts)


@dataclass(frozen=True, slots=True)
class RouteFailures:
    """What failed on a route: issues and passages with more failures than before, worst answers."""

    issues: list[GrownIssueRow]
    documents: Sequence[GrownDocument]
    worst: list[WorstAnswer]


def show_route(console: Console, request: Request) -> Response:
    """GET /routes/SERVICE/ROUTE; 404 for a route without data in the time range.

    What failed takes longest to read, and the page asks for it when it is shown: `?partial=1` is
    this alone, `?part=whole` a page with both.
    """
    service, route = (unescaped(request.path_params[name]) for name in ("service", "route"))
    scope = console.scope(request).of_route(service, route)
    measure = measure_param(request)
    if is_partial(request):
        return _show_failures(console, request, scope, measure)
    has_failures = is_whole(request) or text_param(request, "table") in FAILURE_TABLES
    step_s = step_of((scope.until_ns - scope.since_ns) // 10**9)
    with console.reads() as reads:
        data = read_route(reads, scope, step_s, now_ns=console.clock())
        failures = read_failures(reads, scope, measure) if has_failures else None
    if not (data.points or data.episodes or data.alerts or data.drift or data.covered.answers):
        raise HTTPException(
            404,
            f"expected a route with answers in this time range, got {route[:80]!r} of "
            f"{service[:80]!r}; try a longer range (?since=30d)",
        )
    labels = console.label_findings.find(scope, console.clock(), may_count=True)
    return console.tables(
        request,
        [
            *_tables(data, partial(_answers_with, service, route, console.time_range(request))),
            *(_failure_tables(failures) if failures else ()),
        ],
        "route.html",
        title=route or "(no route)",
        service=service,
        route=route,
        verifier=scope.verifier,
        data=data,
        has_failures=has_failures,
        labels=labels,
        corrected=labels.rates.get((service, route)),
        route_value=route_value(service, route),
        route_note=route_note(route),
        figure=rate_figure(data.points, step_s, data.deployed, data.episodes, data.drifts, measure),
        trail=trail_note(data.stages),
        measure=measure,
        measures=tuple(Measure),
        measure_title=TITLES[measure],
        measure_name=TITLES[measure].lower(),
        shown=[(one, TITLES[one]) for one in Measure if one in (measure, *ALWAYS)],
        checked_text=checked_text,
        step_s=step_s,
    )


def _show_failures(
    console: Console, request: Request, scope: QueryScope, measure: Measure
) -> Response:
    with console.reads() as reads:
        failures = read_failures(reads, scope, measure)
    return console.tables(request, _failure_tables(failures), "route_failures.html", title="")


def _answers_with(service: str, route: str, period: TimeRange, key: str, value: str) -> str:
    """The answers of the route that a key of the filter finds."""
    term = written_filter([FilterTerm(key, value)])
    return answers_url(service=service, route=route, q=term, **period.query)


def _tables(data: RouteData, answers_with: Callable[[str, str], str]) -> Sequence[Table[object]]:
    return [
        criterion_table(data.criteria, partial(answers_with, "fails")),
        slice_table("times", "Rate over time", [p.slice for p in data.points], data.points),
        *(
            slice_table(name, title, data.slices[name], number=data.numbers.get(name, 0))
            for name, title in DIMENSIONS.items()
        ),
        STATUSES.with_rows(status_rows(data.whole)),
        *trail_tables(data.stages, data.retrievals, partial(answers_with, "step")),
        deployment_table(data.deployed),
    ]


def _failure_tables(failures: RouteFailures) -> Sequence[Table[object]]:
    return [
        ISSUES.with_rows(failures.issues),
        DOCUMENTS.with_rows(failures.documents),
        WORST.with_rows(failures.worst),
    ]


def _changed_values(alerts: Iterable[AlertState]) -> set[str]:
    """The releases, prompt versions and models that came or went with a rise."""
    facts = (one.alert.facts for one in alerts)
    return {value.value for one in facts if isinstance(one, DriftFacts) for value in one.changed}


def step_of(seconds: int) -> int:
    """The step between points: whole ticks, for about `POINTS` points."""
    return max(-(-seconds // (POINTS * TICK_S)), 1) * TICK_S


def read_route(reads: ConcurrentReads, scope: QueryScope, step_s: int, *, now_ns: int) -> RouteData:
    """Read what the page shows of one route at once; alerts and evidence are those of now."""
    route = scope.service or "", scope.route or ""
    # Those first that others wait for.
    opened = reads.start(partial(open_alerts, now_ns=now_ns))
    deployed = reads.start(partial(deployments, scope=scope))
    trails = reads.start(partial(trail_shares, scope=scope))
    episodes = reads.start(partial(alert_history, selection=EpisodeFilter(scope), limit=MAX_ROWS))
    criteria = reads.start(partial(criteria_rates, scope=scope))
    drifts = reads.start(
        partial(drift_of_measures, since_ns=now_ns - RECENT_NS, verifier=scope.verifier or "")
    )
    alerts = [one for one in opened.result() if one.alert.route_key == route]
    rated = partial(
        route_rates,
        dimensions=tuple(DIMENSIONS),
        scope=scope,
        step_s=step_s,
        also=_changed_values(alerts),
    )
    rates = reads.start(rated).result()
    stages, retrievals = trails.result()
    return RouteData(
        points=rates.points,
        whole=rates.whole,
        slices=rates.slices,
        numbers=rates.numbers,
        covered=coverage_of(rates.whole),
        drifts=drifts.result().get(route, ()),
        deployed=sorted(deployed.result(), key=lambda one: one.at_ns),
        alerts=sorted(alerts, key=worst_first),
        episodes=episodes.result(),
        stages=stages.get(route),
        retrievals=retrievals.get(route),
        criteria=criteria.result().by_route.get(route, ()),
    )


def read_failures(reads: ConcurrentReads, scope: QueryScope, measure: Measure) -> RouteFailures:
    """Read what failed on one route, and what fails more than in the period before."""
    grown = reads.start(partial(_read_growth, scope=scope))
    worst = reads.start(partial(worst_answers, scope=scope, limit=MAX_ROWS, measure=measure))
    issues, documents = grown.result()
    return RouteFailures(issues, documents, worst.result())


def _read_growth(
    client: Client, scope: QueryScope
) -> tuple[list[GrownIssueRow], Sequence[GrownDocument]]:
    """The issues and the passages with more failures than in the period before."""
    both_periods = scope.of_time(scope.before.since_ns, scope.until_ns)
    growth = issue_growth(
        client, both_periods, at_ns=scope.since_ns, limit=MAX_ROWS, measure=Measure.EITHER
    )
    titles = {issue.id: issue.title for issue in watched_issues(client)} if growth.issues else {}
    return [GrownIssueRow(one, titles.get(one.id, "")) for one in growth.issues], growth.documents


ROUTES = page_routes(("GET", "/routes/{service}/{route}", show_route))
SECTION = Section("", "/routes", ROUTES, Path(__file__).parent / "templates", order=1)
