"""What every request passes: its host, who sends it, its form, and the headers of every answer."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.app.error_pages import INTERNAL_ERROR, error_page
from rt4chart_collector.console.app.form import read_form
from rt4chart_collector.console.app.session import ConsoleSession, is_secure, set_session_cookie
from rt4chart_collector.console.view.request_url import request_url
from rt4chart_collector.console.view.urls import with_query
from rt4chart_collector.core.redacted_error import redacted_error

# Plotly and the pages set styles through the CSSOM, which no policy forbids.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # `no-referrer` would make the browser send `Origin: null` with forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
HEALTHY = "/healthz"
FREE = ("/login", "/logout", HEALTHY)
UNKNOWN = "expected a session or 'Authorization: Bearer TOKEN', got none"
log = logging.getLogger(__name__)


class Gate:
    """The console as an application of the web, with all its doors."""

    def __init__(self, app: ASGIApp, console: Console) -> None:
        """`app` has the pages."""
        self._app = app
        self._console = console

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or say why not."""
        if scope["type"] != "http":
            return
        sending = _Sending(send)
        try:
            request = Request(scope, receive)
            try:
                answer = await self._refusal(request, sending)
            except HTTPException as error:
                answer = error_page(self._console, request, error)
            if answer is not None:
                await answer(scope, receive, sending)
                return
            await self._app(scope, receive, sending)
        except Exception as error:  # noqa: BLE001 - process boundary: one request
            log.error("a page of the console failed: %s", redacted_error(error))
            if not sending.has_begun:
                await PlainTextResponse(INTERNAL_ERROR, 500)(scope, receive, sending)

    async def _refusal(self, request: Request, sending: _Sending) -> Response | None:
        console = self._console
        # Not `request.url`: it is made of the header Host.
        path = str(request.scope["path"])
        if path != HEALTHY:
            console.access.check_host(request)
        is_free = path in FREE or path.startswith("/static/")
        session = console.access.session(request, console.now_s)
        request.scope["rt4chart.session"] = session
        if session is not None and session.is_new:
            carrier = Response()
            set_session_cookie(
                carrier, console.sessions.write(session), is_secure=is_secure(request)
            )
            sending.cookie = carrier.headers["set-cookie"]
        if request.method not in ("GET", "HEAD"):
            await self._check_change(request, session)
        if session is not None or is_free:
            return None
        if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
            asked = request_url(request).full
            return RedirectResponse(with_query("/login", next="" if asked == "/" else asked), 303)
        raise HTTPException(401, UNKNOWN)

    async def _check_change(self, request: Request, session: ConsoleSession | None) -> None:
        if request.method != "POST":
            raise HTTPException(405, f"expected GET or POST, got {request.method[:20]}")
        path = request.scope["path"]
        if session is None and path not in FREE:
            raise HTTPException(401, UNKNOWN)
        if self._console.settings.console_readonly and path not in FREE:
            raise HTTPException(
                403, "expected no changes, got one: RT4CHART_CONSOLE_READONLY is set"
            )
        # Before anything of the body is read.
        self._console.access.check_sent(request, session)
        form = await read_form(request)
        request.scope["rt4chart.form"] = form
        self._console.access.check_form(request, session, form)


class _Sending:
    """Sends an answer with the headers of all answers."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.cookie = ""
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            headers = MutableHeaders(raw=_raw_headers(message))
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
            if self.cookie:
                headers.append("set-cookie", self.cookie)
        await self._send(message)


def _raw_headers(message: MutableMapping[str, Any]) -> list[tuple[bytes, bytes]]:
    raw: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
    message["headers"] = raw
    return raw
