"""The page /alerts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from rt4chart_collector.console.section import Section

if TYPE_CHECKING:
    from rt4chart_collector.console.console import Console


def routes(console: Console) -> Sequence[BaseRoute]:
    """GET /alerts."""

    def show(request: Request) -> Response:
        return console.page(request, "alerts.html", title="Alerts")

    return [Route("/alerts", show, methods=["GET"])]


SECTION = Section("Alerts", "/alerts", routes, order=30)
