"""The page /health."""

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
    """GET /health."""

    def show(request: Request) -> Response:
        return console.page(request, "health.html", title="Health")

    return [Route("/health", show, methods=["GET"])]


SECTION = Section("Health", "/health", routes, order=80)
