"""What operators ask over HTTP: /metrics, /status, /healthz and /readyz."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from rt4chart_collector.ingest.otlp.refusal import HANDLERS
from rt4chart_collector.ingest.otlp.token import authenticate
from rt4chart_collector.service.status import Status
from rt4chart_collector.telemetry.prometheus import exposition


def operations_routes(status: Status, token: str = "") -> list[Route]:
    """The routes; figures are for those who have the token, health is for everyone."""

    async def show_status(request: Request) -> Response:
        authenticate(token, request.headers.get("authorization"))
        return JSONResponse(status())

    async def show_metrics(request: Request) -> Response:
        authenticate(token, request.headers.get("authorization"))
        body, media_type = exposition(status.figures(), request.headers.get("accept", ""))
        return Response(body, headers={"content-type": media_type})

    async def show_health(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def show_readiness(_: Request) -> Response:
        reasons = status.health.reasons
        if not reasons:
            return JSONResponse({"ready": True})
        return JSONResponse({"ready": False, "reason": reasons[0]}, 503)

    return [
        Route("/metrics", show_metrics),
        Route("/status", show_status),
        Route("/healthz", show_health),
        Route("/readyz", show_readiness),
    ]


def operations_app(status: Status, token: str = "") -> Starlette:
    """A web application of these routes alone, for a process that takes no OTLP."""
    return Starlette(routes=operations_routes(status, token), exception_handlers=dict(HANDLERS))
