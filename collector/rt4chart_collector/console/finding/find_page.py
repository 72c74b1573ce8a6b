"""What the palette finds: pages, saved views, routes, and the answers of a trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rt4chart_collector.console.app.console import Console, session_of
from rt4chart_collector.console.view.filters import visible
from rt4chart_collector.console.view.params import text_param
from rt4chart_collector.console.view.urls import answers_url, route_url

MOST_OF_A_KIND, LONGEST = 8, 200
TRACE_ID = re.compile(r"[0-9a-fA-F]{32}")


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page with what it is, as the palette lists it."""

    text: str
    note: str
    url: str


def found_response(found: Iterator[FoundPage]) -> Response:
    """The pages as JSON; names show no characters that hide or reorder others."""
    return JSONResponse(
        [{**asdict(one), "text": visible(one.text), "note": visible(one.note)} for one in found]
    )


def show_found(console: Console, request: Request) -> Response:
    """GET /find?q=: without words the pages and views, with words also routes and a trace."""
    words = text_param(request, "q", longest=LONGEST)
    return found_response(_found(console, request, words))


def _found(console: Console, request: Request, words: str) -> Iterator[FoundPage]:
    session = session_of(request)
    if TRACE_ID.fullmatch(words):
        yield FoundPage(words.lower(), "trace", answers_url(q=words.lower()))
    pages = [FoundPage(one.title, "page", one.path) for one in console.navigation]
    views = [
        FoundPage(one.name, "view" if one.owner else "shared view", one.address)
        for one in console.saved_views(session.actor.name if session else "")
    ]
    routes = _routes(console) if words else []
    for kind in (pages, views, routes):
        matching = [one for one in kind if words.casefold() in one.text.casefold()]
        yield from matching[: MOST_OF_A_KIND if words else None]


def _routes(console: Console) -> list[FoundPage]:
    return [
        FoundPage(
            f"{route or '(no route)'} · {service or '(no service)'}",
            "route",
            route_url(service, route),
        )
        for service, route in console.known_routes()
    ]
