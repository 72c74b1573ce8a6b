"""The route page: the rate over time, and what may have changed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from rt4chart_collector.console.app.section import Section
from rt4chart_collector.console.routes.route_rows import worst_first
from rt4chart_collector.console.routes.route_tables import (
    DOCUMENTS,
    ISSUES,
    WORST,
    GrownIssueRow,
    deployment_table,
    slice_table,
)
from rt4chart_collector.console.view.charts import rate_figure
from rt4chart_collector.console.view.table import Table
from rt4chart_collector.console.view.urls import unescaped
from rt4chart_collector.core.alerts.state import AlertState
from rt4chart_collector.store.alerts.alert_events import (
    Episode,
    EpisodeFilter,
    alert_history,
    open_alerts,
)
from rt4chart_collector.store.alerts.drift_states import DriftRow, latest_drift
from rt4chart_collector.store.answers.answers import WorstAnswer, worst_answers
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_figures import GrownDocument, GrowthWindow, issue_growth
from rt4chart_collector.store.issues.issues import watched_issues
from rt4chart_collector.store.rates.claim_rates import RatePoint, RateSlice, route_rates
from rt4chart_collector.store.rates.traffic import Coverage, coverage
from rt4chart_collector.store.rates.trends import Deployment, deployments

if TYPE_CHECKING:
    from rt4chart_collector.console.app.console import Console

TICK_S, POINTS = 300, 36
RECENT_NS = 3600 * 10**9
MAX_ROWS = 10
DIMENSIONS = {"model": "Models", "prompt_version": "Prompt versions", "release": "Releases"}


@dataclass(frozen=True, slots=True)
class RouteData:
    """What the store has of a route in a time range."""

    points: Sequence[RatePoint]
    whole: RateSlice | None
    slices: Mapping[str, Sequence[RateSlice]]
    covered: Coverage
    drift: DriftRow | None
    deployed: list[Deployment]
    alerts: list[AlertState]
    episodes: list[Episode]
    issues: list[GrownIssueRow]
    documents: Sequence[GrownDocument]
    worst: list[WorstAnswer]


class RoutePage:
    """GET /routes/{service}/{route}."""

    def __init__(self, console: Console) -> None:
        """Reads nothing yet."""
        self._console = console

    def show(self, request: Request) -> Response:
        """Render the page; 404 for a route without data in the time range."""
        console = self._console
        service, route = (unescaped(request.path_params[name]) for name in ("service", "route"))
        since_ns, until_ns = console.window(request)
        verifier = console.verifier(request)
        step_s = step_of((until_ns - since_ns) // 10**9)
        span = GrowthWindow(service, route, verifier, 2 * since_ns - until_ns, since_ns, until_ns)
        with console.store() as client:
            data = read_route(client, span, step_s)
        if not (data.points or data.episodes or data.alerts or data.drift or data.covered.answers):
            raise HTTPException(
                404,
                f"expected a route with answers in this time range, got {route[:80]!r} of "
                f"{service[:80]!r}; try a longer range (?since=30d)",
            )
        return console.tables(
            request,
            self._tables(data),
            "route.html",
            title=route or "(no route)",
            service=service,
            route=route,
            verifier=verifier,
            data=data,
            figure=rate_figure(data.points, step_s, data.deployed, data.episodes, data.drift),
            step_s=step_s,
        )

    @staticmethod
    def _tables(data: RouteData) -> Sequence[Table[object]]:
        found: list[Table[object]] = [
            slice_table("times", "Rate over time", [one.slice for one in data.points], data.points)
        ]
        found += [slice_table(name, title, data.slices[name]) for name, title in DIMENSIONS.items()]
        found.append(deployment_table(data.deployed))
        found.append(ISSUES.with_rows(data.issues))
        found.append(DOCUMENTS.with_rows(data.documents))
        found.append(WORST.with_rows(data.worst))
        return found


def step_of(seconds: int) -> int:
    """The step between points: whole ticks, for about `POINTS` points."""
    return max(-(-seconds // (POINTS * TICK_S)), 1) * TICK_S


def read_route(client: Client, span: GrowthWindow, step_s: int) -> RouteData:
    """Read everything that the page shows."""
    key = span.service, span.route
    filters: dict[str, Any] = {
        "since_ns": span.at_ns,
        "until_ns": span.until_ns,
        "service": span.service,
        "route": span.route,
        "verifier": span.verifier,
    }
    episode_filter = EpisodeFilter(
        span.at_ns, span.until_ns, service=span.service, route=span.route
    )
    rates = route_rates(client, tuple(DIMENSIONS), step_s=step_s, **filters)
    more = issue_growth(client, span, limit=MAX_ROWS)
    titles = {one.id: one.title for one in watched_issues(client)} if more.issues else {}
    latest = latest_drift(client, since_ns=span.until_ns - RECENT_NS, verifier=span.verifier)
    return RouteData(
        points=rates.points,
        whole=rates.whole,
        slices=rates.slices,
        covered=coverage(client, **filters).get(key, Coverage({}, 0, 0)),
        drift=latest.get(key),
        deployed=deployments(client, **filters),
        alerts=sorted(
            (
                one
                for one in open_alerts(client, now_ns=span.until_ns)
                if (one.alert.service, one.alert.route) == key
            ),
            key=worst_first,
        ),
        episodes=alert_history(client, episode_filter, limit=MAX_ROWS),
        issues=[GrownIssueRow(one, titles.get(one.id, "")) for one in more.issues],
        documents=more.documents,
        worst=worst_answers(client, **filters, limit=MAX_ROWS),
    )


def routes(console: Console) -> Sequence[BaseRoute]:
    """GET /routes/{service}/{route}."""
    return [Route("/routes/{service}/{route}", RoutePage(console).show, methods=["GET"])]


SECTION = Section("", "/routes", routes, Path(__file__).parent / "templates", order=1)
