"""The overview page: open alerts, then every route."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.app.label_findings import LabelFindings
from rt4chart_collector.console.app.section import Section, page_routes
from rt4chart_collector.console.routes.criterion_tables import overview_table
from rt4chart_collector.console.routes.route_rows import (
    RATE_NAMES,
    RouteRow,
    read_route_rows,
    route_columns,
    worst_first,
)
from rt4chart_collector.console.view.measures import measure_param
from rt4chart_collector.console.view.paging import page_of_table
from rt4chart_collector.console.view.params import choice_param, is_partial, text_param
from rt4chart_collector.console.view.table import (
    HTML,
    Table,
    format_param,
    sort_param,
    sorted_rows,
)
from rt4chart_collector.console.view.time_range import TimeRange
from rt4chart_collector.console.view.urls import answers_url
from rt4chart_collector.core.filters.filter_language import FilterTerm, written_filter
from rt4chart_collector.store.alerts.alert_events import open_alerts
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.criterion_rates import CriteriaRates, criteria_rates

EMPTY = "No answers in this time range. Choose a longer range, or see Health for what arrives."
NO_MATCH = "No route has this in its name, or in that of its service."
MAX_ALERTS = 8


def show_overview(console: Console, request: Request) -> Response:
    """GET /: the routes in the time range, the most urgent first unless `?sort=` is given.

    With `?partial=1`, only the part of the page that refreshes itself.
    """
    scope, name = console.scope(request), text_param(request, "name")
    measure = measure_param(request)
    now_ns = console.clock()
    with console.reads() as reads:
        opened = reads.start(partial(open_alerts, now_ns=now_ns))
        criteria_read = reads.start(partial(criteria_rates, scope=scope))
        # Of thousands of routes, the parts of an hour at both ends would be most of what is read.
        hours = scope.whole_hours
        found = read_route_rows(reads, hours, opened, measure, now_ns=now_ns)
        alerts = sorted(opened.result(), key=worst_first)
        criteria = _criteria(criteria_read.result(), console.time_range(request))
    labels = _labels(console, request, scope)
    found = [replace(row, corrected=labels.rates.get((row.service, row.route))) for row in found]
    rows = [row for row in found if name.casefold() in f"{row.service} {row.route}".casefold()]
    routes = _table(request, rows, measure, EMPTY if not found else NO_MATCH, labels)
    is_export = format_param(request) != HTML
    chosen = choice_param(request, "table", ("routes", "criteria"), "routes")
    return console.table(
        request,
        criteria if is_export and chosen == "criteria" else routes,
        "overview_live.html" if is_partial(request) else "overview.html",
        title="Overview",
        alerts=alerts[:MAX_ALERTS],
        more_alerts=max(len(alerts) - MAX_ALERTS, 0),
        verifier=scope.verifier,
        name=name,
        measure=measure,
        measures=tuple(Measure),
        labels=labels,
        is_new=not found and not scope.verifier,
        # They are of all routes.
        criteria=criteria if criteria.rows and not name else None,
    )


def _labels(console: Console, request: Request, scope: QueryScope) -> LabelFindings:
    """What labels say; a file, and an order by corrected rates, cannot say that it is missing."""
    needs = format_param(request) != HTML or "corrected" in text_param(request, "sort")
    return console.label_findings.find(scope, console.clock(), may_count=not needs)


def _criteria(rates: CriteriaRates, period: TimeRange) -> Table[Any]:
    """The custom criteria over all routes."""

    def failing_answers(name: str) -> str:
        return answers_url(q=written_filter([FilterTerm("fails", name)]), **period.query)

    return overview_table(rates, failing_answers)


def _table(
    request: Request,
    rows: Sequence[RouteRow],
    measure: Measure,
    empty: str,
    labels: LabelFindings,
) -> Table[RouteRow]:
    columns = route_columns(measure, is_corrected=labels.is_drawn)
    sort = sort_param(request, columns, "-attention")
    # The sort is stable: among equally urgent routes the worse rate comes first.
    by_rate = sorted_rows(rows, columns, f"-{RATE_NAMES[measure]}")
    table = Table("routes", "Routes", sorted_rows(by_rate, columns, sort), columns, empty, sort)
    return page_of_table(request, table)


ROUTES = page_routes(("GET", "/", show_overview))
SECTION = Section("Overview", "/", ROUTES, Path(__file__).parent / "templates", order=0)
