"""The page /settings."""

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
    """GET /settings."""

    def show(request: Request) -> Response:
        return console.page(request, "settings.html", title="Settings")

    return [Route("/settings", show, methods=["GET"])]


SECTION = Section("Settings", "/settings", routes, order=90)
