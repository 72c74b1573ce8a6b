"""The HTTP routes for operators: /metrics, /status, /healthz and /readyz."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from otel_rt4chart.core.settings_parsers import Address
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.otlp.refusal import HANDLERS
from rt4chart_collector.ingest.otlp.token import authenticate
from rt4chart_collector.ingest.servers import bound_socket, serve_http
from rt4chart_collector.service.health import STARTING, Health
from rt4chart_collector.service.status import Status

HEALTH_STOP_S = 1.0


def operations_routes(status: Status, token: str = "") -> list[Route]:
    """The routes; metrics and status require the token, the health routes do not."""

    async def show_status(request: Request) -> Response:
        authenticate(token, request.headers.get("authorization"))
        return JSONResponse(status())

    return [
        metrics_route(status.metrics, token),
        Route("/status", show_status),
        *health_routes(status.health),
    ]


def health_routes(health: Health) -> list[Route]:
    """The routes for probes; they require nothing and tell no more than a reason."""

    async def show_health(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def show_readiness(_: Request) -> Response:
        reasons = health.reasons
        if not reasons:
            return JSONResponse({"ready": True})
        return JSONResponse({"ready": False, "reason": reasons[0]}, 503)

    return [Route("/healthz", show_health), Route("/readyz", show_readiness)]


def metrics_route(metrics: ServiceMetrics, token: str = "") -> Route:
    """The Prometheus endpoint; it requires the token if there is one."""

    async def show_metrics(request: Request) -> Response:
        authenticate(token, request.headers.get("authorization"))
        # In a thread: with 200 routes it takes 60 ms, for which no spans could be accepted.
        accept = request.headers.get("accept", "")
        body, media_type = await run_in_threadpool(metrics.exposition, accept)
        return Response(body, headers={"content-type": media_type})

    return Route("/metrics", show_metrics)


def operations_app(status: Status, token: str = "") -> Starlette:
    """A web application with only these routes, for a process without an OTLP receiver."""
    return Starlette(routes=operations_routes(status, token), exception_handlers=dict(HANDLERS))


@contextmanager
def serve_health(health: Health, address: Address | None) -> Iterator[Callable[[], None]]:
    """Serve the health routes at an address of their own, if there is one.

    In a thread with its own event loop: no client of another port can delay a probe. Without TLS,
    like the Collector's health_check. The service is not ready until the yielded function is
    called. SettingsError if the address is not available.
    """
    started = threading.Event()
    health.add_check(STARTING, lambda: not started.is_set())
    if address is None:
        yield started.set
        return
    app = Starlette(routes=health_routes(health))
    with (
        bound_socket(address, "health") as bound,
        serve_http(app, bound, stop_s=HEALTH_STOP_S, name="health"),
    ):
        yield started.set
