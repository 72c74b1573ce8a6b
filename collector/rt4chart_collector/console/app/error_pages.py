"""What a person sees when a page cannot be shown."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from otel_rt4chart.core.errors import InputError, StoreError
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.store.schema.migrate import is_schema_missing

if TYPE_CHECKING:
    from rt4chart_collector.console.app.console import Console

log = logging.getLogger(__name__)

TITLES = {
    400: "That cannot be asked",
    401: "Sign in first",
    403: "Not allowed",
    404: "Not here",
    405: "Not this way",
    413: "Too large",
    415: "Not this kind of form",
    421: "Another host",
    429: "Too many attempts",
    500: "A fault of the console",
    503: "The database is away",
}
LOG_PERIOD_S = 60
NOT_MIGRATED_TITLE = "The database is not ready"
STORE_UNAVAILABLE = (
    "expected an answer of the database, got none. The page comes back by itself when the database "
    "does; the log and /readyz of the service say what it is"
)
STORE_NOT_MIGRATED = (
    "expected the tables of this version, some are not there. Run rt4chart migrate with the same "
    "RT4CHART_DSN, or start rt4chart up on it once; then load this page again"
)
PAGE_TIMEOUT = (
    "expected the page within {seconds:g} s, it took longer. Choose a shorter time, or raise "
    "RT4CHART_CONSOLE_PAGE_S"
)
INTERNAL_ERROR = "expected a page, the console failed; its log has the place"


class LogThrottle:
    """True once in a while: what repeats with every page is logged once a minute."""

    def __init__(self) -> None:
        """It is due."""
        self._last_s = -LOG_PERIOD_S

    def is_due(self, now_s: int) -> bool:
        """True, and then not for a minute."""
        if 0 <= now_s - self._last_s < LOG_PERIOD_S:
            return False
        self._last_s = now_s
        return True


def error_page(console: Console, request: Request, error: Exception) -> Response:
    """The page of an error: 503 for a store that is away, no word of what it said."""
    status, detail, headers = _status_and_detail(console, error)
    if status == 503 and console.away.is_due(console.now_s):
        log.warning("pages of the console are answered 503: %s", redacted_error(error))
    title = (
        NOT_MIGRATED_TITLE
        if detail == STORE_NOT_MIGRATED
        else TITLES.get(status, "It did not work")
    )
    if "text/html" not in request.headers.get("accept", "") or "x-partial" in request.headers:
        return JSONResponse({"error": detail}, status, headers)
    answer = console.page(request, "error.html", title=title, status=status, detail=detail)
    answer.headers.update(headers)
    return answer


def _status_and_detail(console: Console, error: Exception) -> tuple[int, str, dict[str, str]]:
    if isinstance(error, HTTPException):
        return error.status_code, error.detail, dict(error.headers or {})
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
