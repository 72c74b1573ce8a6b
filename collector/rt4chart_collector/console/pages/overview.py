"""The page /."""

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
    """GET /."""

    def show(request: Request) -> Response:
        return console.page(request, "overview.html", title="Overview")

    return [Route("/", show, methods=["GET"])]


SECTION = Section("Overview", "/", routes, order=0)
