"""The HTTP routes for operators: /metrics, /status, /healthz and /readyz."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from otel_rt4chart.core.settings_parsers import Address
from rt4chart_collector.core.instruments import TOKENS_REFUSED
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.token_guard import TokenGuard
from rt4chart_collector.ingest.otlp.refusal import HANDLERS
from rt4chart_collector.ingest.otlp.token import authenticate_operator
from rt4chart_collector.ingest.servers import bound_socket, serve_http
from rt4chart_collector.service.health import Health
from rt4chart_collector.service.status import Status

HEALTH_STOP_S = 1.0


def operations_routes(status: Status, guard: TokenGuard) -> list[Route]:
    """The routes; metrics and status require a token for reading, the health routes none."""
    status.metrics.observe(TOKENS_REFUSED, guard.refusals)

    async def show_status(request: Request) -> Response:
        authenticate_operator(guard, request)
        return JSONResponse(status())

    return [
        metrics_route(status.metrics, guard),
        Route("/status", show_status),
        *health_routes(status.health),
    ]


def health_routes(health: Health) -> list[Route]:
    """The routes for probes; they require nothing and tell no more than a reason."""

    async def show_health(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def show_readiness(_: Request) -> Response:
        reasons, damaged = health.reasons, list(health.damaged)
        told: dict[str, object] = {"damaged": damaged} if damaged else {}
        if not reasons:
            return JSONResponse({"ready": True, **told})
        return JSONResponse({"ready": False, "reason": reasons[0], **told}, 503)

    return [Route("/healthz", show_health), Route("/readyz", show_readiness)]


def metrics_route(metrics: ServiceMetrics, guard: TokenGuard) -> Route:
    """The Prometheus endpoint; it requires a token for reading if there is one."""

    async def show_metrics(request: Request) -> Response:
        authenticate_operator(guard, request)
        # In a thread: with 200 routes it takes 60 ms, for which no spans could be accepted.
        accept = request.headers.get("accept", "")
        body, media_type = await run_in_threadpool(metrics.exposition, accept)
        return Response(body, headers={"content-type": media_type})

    return Route("/metrics", show_metrics)


def operations_app(status: Status, guard: TokenGuard) -> Starlette:
    """A web application with only these routes, for a process without an OTLP receiver."""
    return Starlette(routes=operations_routes(status, guard), exception_handlers=dict(HANDLERS))


@contextmanager
def serve_health(health: Health, address: Address | None) -> Iterator[None]:
    """Serve the health routes at an address of their own, if there is one.

    In a thread with its own event loop: no client of another port can delay a probe. Without TLS,
    like the Collector's health_check. SettingsError if the address is not available.
    """
    if address is None:
        yield
        return
    app = Starlette(routes=health_routes(health))
    with (
        bound_socket(address, "health") as bound,
        serve_http(app, bound, stop_s=HEALTH_STOP_S, name="health"),
    ):
        yield
