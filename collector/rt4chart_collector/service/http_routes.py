"""The HTTP routes for operators: /metrics, /status, /healthz and /readyz."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from rt4chart_collector.core.instruments import TOKENS_REFUSED
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.token_guard import TokenGuard
from rt4chart_collector.ingest.otlp.refusal import HANDLERS
from rt4chart_collector.ingest.otlp.token import authenticate_reader
from rt4chart_collector.service.status import Status


def operations_routes(status: Status, guard: TokenGuard) -> list[Route]:
    """The routes; metrics and status require a token for reading, the health routes none."""
    status.metrics.observe(TOKENS_REFUSED, guard.refusals)

    async def show_status(request: Request) -> Response:
        authenticate_reader(guard, request)
        return JSONResponse(status())

    async def show_health(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def show_readiness(_: Request) -> Response:
        reasons = status.health.reasons
        if not reasons:
            return JSONResponse({"ready": True})
        return JSONResponse({"ready": False, "reason": reasons[0]}, 503)

    return [
        metrics_route(status.metrics, guard),
        Route("/status", show_status),
        Route("/healthz", show_health),
        Route("/readyz", show_readiness),
    ]


def metrics_route(metrics: ServiceMetrics, guard: TokenGuard) -> Route:
    """The Prometheus endpoint; it requires a token for reading if there is one."""

    async def show_metrics(request: Request) -> Response:
        authenticate_reader(guard, request)
        # In a thread: with 200 routes it takes 60 ms, for which no spans could be accepted.
        accept = request.headers.get("accept", "")
        body, media_type = await run_in_threadpool(metrics.exposition, accept)
        return Response(body, headers={"content-type": media_type})

    return Route("/metrics", show_metrics)


def operations_app(status: Status, guard: TokenGuard) -> Starlette:
    """A web application with only these routes, for a process without an OTLP receiver."""
    return Starlette(routes=operations_routes(status, guard), exception_handlers=dict(HANDLERS))
