"""What the filter boxes suggest: the names that answers have."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from otel_rt4chart.core.tenants import tenant_of_service
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.engine.version_scope import VersionKind
from rt4chart_collector.store.rates.criterion_rates import criteria_rates
from rt4chart_collector.store.rates.version_rates import versions_in

PAST_NS = 30 * 86_400 * 10**9
VERSIONS = {
    "model": VersionKind.MODEL,
    "release": VersionKind.RELEASE,
    "prompt": VersionKind.PROMPT_VERSION,
    "environment": VersionKind.ENVIRONMENT,
}
ROUTES = ("route", "service")
TENANT = "tenant"
CRITERION = "fails"


def suggest(console: Console, request: Request) -> Response:
    """GET /suggest/KEY: names of the last 30 days, those in most use or the newest first."""
    key, now_ns = request.path_params["key"], console.clock()
    scope = QueryScope(now_ns - PAST_NS, now_ns, console.verifier(request))
    if key not in (known := (*ROUTES, TENANT, *VERSIONS, CRITERION)):
        raise HTTPException(404, f"expected {' or '.join(known)}, got {key[:40]!r}")
    if key in ROUTES:
        found = [pair[key == "route"] for pair in console.known_routes()]
    elif key == TENANT:
        found = [tenant_of_service(service) for service, _ in console.known_routes()]
    elif key == CRITERION:
        with console.store() as client:
            found = [one.of.name for one in criteria_rates(client, scope).together]
    else:
        with console.store() as client:
            found = [one.version for one in versions_in(client, VERSIONS[key], scope)]
    return JSONResponse([name for name in dict.fromkeys(found) if name])
