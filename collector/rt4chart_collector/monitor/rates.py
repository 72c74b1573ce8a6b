"""What applications read under RT4CHART_RATES: the routes of a service that are sampled more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from otel_rt4chart.deciding import Clock
from rt4chart_collector.monitor.facts import moment
from rt4chart_collector.otlp.token import authenticate
from rt4chart_collector.store.sampling_rates import RateSet

PATH = "/v1/rates"
# A document is at most 64 KiB (docs/sampling.md); a route's name is bounded here, too.
MOST, NAME_CHARS = 200, 200
# The application reads every 15 seconds; where we are away it goes on with this for so long.
EXPIRES_S = 180


def document(rates: Sequence[RateSet], *, now_ns: int) -> dict[str, object]:
    """The document of docs/sampling.md; without a raised route it changes nothing.

    A name that ends in a star would be read as a pattern, and is left out.
    """
    raised = {
        one.route: one.rate
        for one in rates[:MOST]
        if one.until_ns > now_ns and len(one.route) <= NAME_CHARS and not one.route.endswith("*")
    }
    return {"raised": raised, "expires": moment(now_ns + EXPIRES_S * 10**9)}


def rates_route(rates_of: Callable[[str], Sequence[RateSet]], token: str, *, clock: Clock) -> Route:
    """GET /v1/rates?service=NAME, for who has the token."""

    async def show(request: Request) -> Response:
        authenticate(token, request.headers.get("authorization"))
        service = request.query_params.get("service", "")
        told = document(rates_of(service), now_ns=clock())
        return JSONResponse(told, headers={"cache-control": "no-store"})

    return Route(PATH, show, methods=["GET"])
