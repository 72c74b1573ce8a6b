"""What the filter boxes suggest: the names that answers have."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rt4chart_collector.console.app.console import Console
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.engine.version_scope import VersionKind
from rt4chart_collector.store.rates.traffic import busiest_routes
from rt4chart_collector.store.rates.version_rates import versions_in

MOST, PAST_NS = 500, 30 * 86_400 * 10**9
VERSIONS = {
    "model": VersionKind.MODEL,
    "release": VersionKind.RELEASE,
    "prompt": VersionKind.PROMPT_VERSION,
    "environment": VersionKind.ENVIRONMENT,
}
ROUTES = ("route", "service")


def suggest(console: Console, request: Request) -> Response:
    """GET /suggest/KEY: names of the last 30 days, those in most use or the newest first."""
    key, now_ns = request.path_params["key"], console.clock()
    scope = QueryScope(now_ns - PAST_NS, now_ns, console.verifier(request))
    if key not in (*VERSIONS, *ROUTES):
        raise HTTPException(404, f"expected {' or '.join((*ROUTES, *VERSIONS))}, got {key[:40]!r}")
    with console.store() as client:
        if key in VERSIONS:
            found = [one.version for one in versions_in(client, VERSIONS[key], scope)]
        else:
            routes = busiest_routes(
                client,
                since_ns=scope.since_ns,
                now_ns=now_ns,
                verifier=scope.verifier or "",
                limit=MOST,
            )
            found = [pair[key == "route"] for pair in routes]
    return JSONResponse([name for name in dict.fromkeys(found) if name])
