"""The pages that somebody may see who is shown one tenant alone; every other one is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

# Everything that these read is of one service each, and filtered where it is read.
TENANT_PAGES = frozenset(
    {
        "/",
        "/routes/{service}/{route}",
        "/compare",
        "/answers",
        "/suggest/{key}",
        "/answers/{trace}/{span}",
        "/alerts",
        "/alerts/{id}",
    }
)
# What shows the state of the process or of the database, or texts of several tenants, or changes
# something for all of them.
REFUSED_PAGES = frozenset(
    {
        "/answers/{trace}/{span}/feedback",
        "/silences",
        "/label",
        "/label/draw",
        "/try",
        "/health",
        "/settings",
        "/find",
        "/views",
    }
)
# Of the sections of other packages, all are refused: those of issues and eval sets.
REFUSED_FOLDERS = ("/issues", "/evalsets", "/map")
REFUSED = (
    "this page is not shown to who signs in for one tenant ({tenant}), because it is not of one "
    "tenant alone: ask whoever runs this service"
)


def tenant_routes(pages: Iterable[BaseRoute], tenant: str) -> Iterator[BaseRoute]:
    """Those of the pages that a tenant may see, and one that refuses all others."""
    for page in pages:
        if not isinstance(page, Route):
            continue
        if page.path in TENANT_PAGES and "GET" in (page.methods or ()):
            yield page
    yield Route("/{path:path}", partial(_refuse, tenant), methods=["GET", "POST"])


async def _refuse(tenant: str, _: Request) -> Response:
    raise HTTPException(403, REFUSED.format(tenant=tenant))
