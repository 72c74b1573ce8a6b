"""The overview: what is wrong first, then every route."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from rt4chart_collector.console.app.section import Section
from rt4chart_collector.console.routes.route_rows import (
    COLUMNS,
    RouteRow,
    read_route_rows,
    worst_first,
)
from rt4chart_collector.console.view.paging import page_of_table
from rt4chart_collector.console.view.params import choice_param, text_param
from rt4chart_collector.console.view.table import Table, ordered, sort_of
from rt4chart_collector.store.alerts.alert_events import open_alerts

if TYPE_CHECKING:
    from rt4chart_collector.console.app.console import Console

EMPTY = "No answer was seen in this time. Choose a longer one, or look at Health for what arrives."
MAX_ALERTS = 8


class OverviewPage:
    """GET /; with `?partial=1` the part of it that renews itself."""

    def __init__(self, console: Console) -> None:
        """Nothing is read yet."""
        self._console = console

    def show(self, request: Request) -> Response:
        """The routes of the time, by what should be looked at first unless `?sort=` says other."""
        console = self._console
        since_ns, until_ns = console.window(request)
        verifier, wanted = console.verifier(request), text_param(request, "name")
        with console.store() as client:
            alarms = sorted(open_alerts(client, now_ns=until_ns), key=worst_first)
            seen = read_route_rows(
                client, since_ns=since_ns, until_ns=until_ns, verifier=verifier, alerts=alarms
            )
        rows = [row for row in seen if wanted.casefold() in f"{row.service} {row.route}".casefold()]
        part = choice_param(request, "partial", ("", "1"), "")
        return console.table(
            request,
            self._table(request, rows),
            "overview_live.html" if part else "overview.html",
            title="Overview",
            alarms=alarms[:MAX_ALERTS],
            more_alarms=max(len(alarms) - MAX_ALERTS, 0),
            verifier=verifier,
            name=wanted,
            is_new=not seen and not verifier,
        )

    @staticmethod
    def _table(request: Request, rows: Sequence[RouteRow]) -> Table[RouteRow]:
        sort = sort_of(request, COLUMNS, "-attention")
        # Among those that are alike the worse rate comes first.
        by_rate = ordered(rows, COLUMNS, "-rate")
        table = Table("routes", "Routes", ordered(by_rate, COLUMNS, sort), COLUMNS, EMPTY, sort)
        return page_of_table(request, table)


def routes(console: Console) -> Sequence[BaseRoute]:
    """GET /."""
    return [Route("/", OverviewPage(console).show, methods=["GET"])]


SECTION = Section("Overview", "/", routes, order=0)
