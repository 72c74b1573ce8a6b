"""Middleware of the console: host, session and form checks, and security headers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute
from starlette.types import Message, Receive, Scope, Send

from rt4chart_collector.console.app.console import Console, session_of
from rt4chart_collector.console.app.error_pages import INTERNAL_ERROR, error_page
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
HEALTH_PATH = "/healthz"
PUBLIC_PATHS = ("/login", "/logout", HEALTH_PATH)
UNAUTHENTICATED = "expected a session or 'Authorization: Bearer TOKEN', got none"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages that somebody may see, and what they share."""

    app: Starlette
    console: Console


class AuthMiddleware:
    """Checks each request before the pages see it, and adds security headers to each answer."""

    def __init__(
        self,
        app: Starlette,
        console: Console,
        api_paths: Collection[str] = (),
        reading_forms: Collection[str] = (),
        *,
        open_tenant: Callable[[str], Pages],
    ) -> None:
        """`app` serves the pages, and under `api_paths` what checks tokens of its own.

        The forms of `reading_forms` change nothing: whoever may read may send them. `open_tenant`
        makes the pages of a tenant, which alone serve who signs in for it.
        """
        self._all = Pages(app, console)
        self._open_tenant = open_tenant
        self._tenants: dict[str, Pages] = {}
        self._console = console
        self._api_paths = frozenset(api_paths)
        self._reading_forms = frozenset(reading_forms)

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """Every route behind this middleware."""
        return self._all.app.routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request, or answer with the error or the login page."""
        if scope["type"] != "http":
            return
        sending = _HeaderSender(send)
        try:
            request = Request(scope, receive)
            try:
                answer = await self._refusal(request, sending)
            except HTTPException as error:
                answer = error_page(self._pages(request).console, request, error)
            if answer is not None:
                await answer(scope, receive, sending)
                return
            await self._pages(request).app(scope, receive, sending)
        except ClientDisconnect:
            return  # before its body was whole: nobody reads an answer, and no line of the log
        except Exception as error:  # noqa: BLE001 - process boundary: one request
            log.error("a console page failed: %s", redacted_error(error))
            if not sending.has_begun:
                await PlainTextResponse(INTERNAL_ERROR, 500)(scope, receive, sending)

    def _pages(self, request: Request) -> Pages:
        """What serves the request: for a session of a tenant, that tenant's pages."""
        session = session_of(request)
        tenant = session.tenant if session is not None else ""
        if not tenant:
            return self._all
        if tenant not in self._tenants:
            self._tenants[tenant] = self._open_tenant(tenant)
        return self._tenants[tenant]

    async def _refusal(self, request: Request, sending: _HeaderSender) -> Response | None:
        console = self._console
        # Not `request.url`: it contains the Host header, which the client chooses.
        path = str(request.scope["path"])
        if path != HEALTH_PATH:
            console.access.check_host(request)
        if path in self._api_paths:
            return None
        is_free = path in PUBLIC_PATHS or path.startswith("/static/")
        is_change = request.method not in ("GET", "HEAD") and path not in self._reading_forms
        session = console.access.session(
            request, console.now_s, takes_bearer=not is_free, is_change=is_change
        )
        request.scope["rt4chart.session"] = session
        if session is not None and session.is_new:
            carrier = Response()
            set_session_cookie(
                carrier, console.sessions.write(session), is_secure=is_secure(request)
            )
            sending.cookie = carrier.headers["set-cookie"]
        if request.method not in ("GET", "HEAD"):
            await self._check_form(request, session, is_change=is_change)
        if session is not None or is_free:
            return None
        if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
            target = request_url(request).full
            return RedirectResponse(with_query("/login", next="" if target == "/" else target), 303)
        raise HTTPException(401, UNAUTHENTICATED)

    async def _check_form(
        self, request: Request, session: ConsoleSession | None, *, is_change: bool
    ) -> None:
        if request.method != "POST":
            raise HTTPException(405, f"expected GET or POST, got {request.method[:20]}")
        path = request.scope["path"]
        if session is None and path not in PUBLIC_PATHS:
            raise HTTPException(401, UNAUTHENTICATED)
        if path not in PUBLIC_PATHS and is_change:
            self._console.access.check_change(session)
        # Checked before the body is read, so that another site cannot make the console read one.
        self._console.access.check_sent(request, session)
        form = await read_form(request)
        request.scope["rt4chart.form"] = form
        self._console.access.check_form(request, session, form)


class _HeaderSender:
    """Sends a response with the security headers and, for a new session, its cookie."""

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


FORM_BYTES = 256 * 1024
FORM_FIELDS = 200
FORM = "application/x-www-form-urlencoded"


async def read_form(request: Request) -> Mapping[str, str]:
    """Its fields, of those with one name the last; an empty body is an empty form.

    Raises HTTPException 415 for another encoding than UTF-8 in `FORM`, 413 or 400.
    """
    body = await _body(request)
    if not body:
        return {}
    content_type = request.headers.get("content-type", "")
    kind, _, charset = content_type.lower().replace(" ", "").partition(";")
    if kind != FORM or charset not in ("", "charset=utf-8"):
        raise HTTPException(415, f"expected {FORM} in UTF-8, got {content_type[:80]!r}")
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=FORM_FIELDS
        )
    except ValueError as error:
        raise HTTPException(
            400, f"expected a form of at most {FORM_FIELDS} fields in UTF-8, got another"
        ) from error
    return dict(pairs)


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > FORM_BYTES:
            raise HTTPException(413, f"expected a form of at most {FORM_BYTES} bytes")
    return bytes(body)
