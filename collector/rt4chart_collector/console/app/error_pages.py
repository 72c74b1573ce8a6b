"""Error pages: status, title and detail of a request that failed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from otel_rt4chart.core.errors import InputError, StoreDamagedError, StoreError
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.store.schema.migrate import is_schema_missing

if TYPE_CHECKING:
    from rt4chart_collector.console.app.console import Console

log = logging.getLogger(__name__)

TITLES = {
    400: "Bad request",
    401: "Sign in required",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    413: "Too large",
    415: "Unsupported media type",
    421: "Misdirected request",
    429: "Too many attempts",
    500: "Internal error",
    503: "Database unavailable",
}
NOT_MIGRATED_TITLE, DAMAGED_TITLE = "Database not migrated", "Database damaged"
STORE_UNAVAILABLE = (
    "the database did not answer. Pages work again as soon as it is back; the cause is in the log "
    "and at /readyz of the service"
)
STORE_NOT_MIGRATED = (
    "expected the tables of this version, but some are missing. Run rt4chart migrate with the same "
    "RT4CHART_DSN, or start rt4chart up on it once; then reload this page"
)
PAGE_TIMEOUT = (
    "the page took longer than {seconds:g} s. Choose a shorter time range, or raise "
    "RT4CHART_CONSOLE_PAGE_S"
)
INTERNAL_ERROR = "the console failed on this request; the cause is in its log"


def error_page(console: Console, request: Request, error: Exception) -> Response:
    """The page for an error; the message of a database error goes to the log, not to the page."""
    status, detail, headers = _status_and_detail(console, error)
    if status == 503 and console.store_errors.is_due(console.now_s):
        log.warning("the console answers pages with 503: %s", redacted_error(error))
    title = _title(error, status, detail)
    if "text/html" not in request.headers.get("accept", "") or "x-partial" in request.headers:
        return JSONResponse({"error": detail}, status, headers)
    answer = console.page(request, "error.html", title=title, status=status, detail=detail)
    answer.headers.update(headers)
    return answer


def _title(error: Exception, status: int, detail: str) -> str:
    if isinstance(error, StoreDamagedError):
        return DAMAGED_TITLE
    return NOT_MIGRATED_TITLE if detail == STORE_NOT_MIGRATED else TITLES.get(status, "Error")


def _status_and_detail(console: Console, error: Exception) -> tuple[int, str, dict[str, str]]:
    if isinstance(error, HTTPException):
        return error.status_code, error.detail, dict(error.headers or {})
    if isinstance(error, StoreDamagedError):
        return 503, error.detail, {"retry-after": "60"}
    if isinstance(error, StoreError) and is_schema_missing(error):
        return 503, STORE_NOT_MIGRATED, {"retry-after": "5"}
    if isinstance(error, StoreError):
        return 503, STORE_UNAVAILABLE, {"retry-after": "5"}
    if isinstance(error, TimeoutError):
        seconds = console.settings.console_page_s
        return 503, PAGE_TIMEOUT.format(seconds=seconds), {"retry-after": "5"}
    if isinstance(error, InputError):
        return 400, str(error), {}
    return 500, INTERNAL_ERROR, {}
