"""Access control: open on this machine, by token, or by the user name that a proxy sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request

from otel_rt4chart.core.urls import host_of
from rt4chart_collector.console.app.session import COOKIE, ConsoleSession, Sessions
from rt4chart_collector.core.settings import ConsoleSettings
from rt4chart_collector.core.token_guard import TokenGuard, TokenRefusedError
from rt4chart_collector.core.tokens import Purpose
from rt4chart_collector.ingest.otlp.token import client_of

OPEN, TOKEN, PROXY, BEARER = "open", "token", "proxy", "script"
MAX_USER = 200
LOCAL = ("localhost", "127.0.0.1", "::1")


class Access:
    """Decides on each request: who may see the console, and who may change something."""

    def __init__(self, settings: ConsoleSettings, sessions: Sessions, guard: TokenGuard) -> None:
        """`sessions` signs the cookies, `guard` knows the tokens."""
        self._settings = settings
        self._sessions = sessions
        self._guard = guard

    def check_host(self, request: Request) -> None:
        """Raise HTTPException 421 for a host name that is not one of the console's.

        Otherwise a foreign host name that resolves to this address could read the console through
        the browser of a user (DNS rebinding), because an open console needs no cookie.
        """
        header, settings = request.headers.get("host", ""), self._settings
        host = host_of(header)
        is_named = settings.is_open or settings.console_user_header or settings.console_hosts
        if is_named and host not in LOCAL and host not in settings.console_hosts:
            raise HTTPException(
                421,
                f"expected the host localhost, 127.0.0.1, [::1] or one of RT4CHART_CONSOLE_HOSTS, "
                f"got {header[:80]!r}",
            )

    def session(
        self, request: Request, now_s: int, *, takes_bearer: bool = True, is_change: bool = False
    ) -> ConsoleSession | None:
        """The session of a request; None if sign-in is required. 401 for a wrong bearer token."""
        known = self._sessions.read(request.cookies.get(COOKIE, ""), now_s)
        if user := self._named(request):
            session = self._same(known, PROXY, user) or self._sessions.begin(PROXY, user, now_s)
            # Any valid token may sign its cookie: the proxy vouches for it with each request.
            return replace(session, tenant="")
        authorization, purpose = request.headers.get("authorization"), self._purpose(is_change)
        if takes_bearer and authorization is not None and self._guard.is_set(purpose):
            return self._bearer(request, authorization, purpose, now_s)
        if self._settings.is_open:
            return self._same(known, OPEN, "") or self._sessions.begin(OPEN, "", now_s)
        return self._same(known, TOKEN, "")

    def takes_token(self, session: ConsoleSession | None) -> bool:
        """Whether somebody with this session, or none, can sign in with a token."""
        if session is None:
            return self._guard.is_set(Purpose.CONSOLE)
        if session.tenant:
            return False
        return not self.may_change(session) and not self._settings.console_readonly

    def may_change(self, session: ConsoleSession) -> bool:
        """Whether this session may change something: never one of a tenant."""
        is_enough = session.is_admin or not self._guard.is_set(Purpose.ADMIN)
        return is_enough and not self._settings.console_readonly and not session.tenant

    def check_change(self, session: ConsoleSession | None) -> None:
        """Raise HTTPException 403 for a change that this session may not make."""
        if self._settings.console_readonly:
            raise HTTPException(403, "the console is read-only: RT4CHART_CONSOLE_READONLY is set")
        if session is not None and session.tenant:
            raise HTTPException(403, f"who signs in for the tenant {session.tenant} only reads")
        if session is not None and not self.may_change(session):
            raise HTTPException(
                403,
                "expected a session that was begun with a token of RT4CHART_ADMIN_TOKEN as well, "
                "got one without: enter that token at /login",
            )

    def sign_in(
        self, request: Request, session: ConsoleSession | None, token: str, now_s: int
    ) -> ConsoleSession:
        """A session for the right token of the console, then one for that of an administrator.

        Raises TokenRefusedError for a wrong token, and after too many wrong ones.
        """
        if session is not None and session.tenant:
            raise HTTPException(
                403, f"expected nobody signed in, got the tenant {session.tenant}: sign out first"
            )
        is_admin = session is not None and self._guard.is_set(Purpose.ADMIN)
        purpose = Purpose.ADMIN if is_admin else Purpose.CONSOLE
        if not self._guard.is_set(purpose):
            raise HTTPException(403, f"expected {purpose.variable} to be set, got a token for it")
        tenant = self._guard.check(purpose, token, client_of(request))
        if session is not None and is_admin:
            return self._sessions.begin_admin(session, token, now_s)
        return self._sessions.begin(TOKEN, "", now_s, token, tenant)

    def check_sent(self, request: Request, session: ConsoleSession | None) -> None:
        """Raise HTTPException 403 for a change that another site sent."""
        if session is None or session.way != BEARER:
            check_origin(request)

    def check_form(
        self, request: Request, session: ConsoleSession | None, form: Mapping[str, str]
    ) -> None:
        """Raise HTTPException 403 for a form without the CSRF token of this session."""
        if session is None or session.way == BEARER:
            return
        given = form.get("csrf", "") or request.headers.get("x-csrf-token", "")
        if not self._sessions.is_csrf(session, given):
            raise HTTPException(
                403,
                "expected the form's own token (CSRF), got "
                f"{'another' if given else 'none'}: reload the page and try again",
            )

    def _named(self, request: Request) -> str:
        """The user that a trusted proxy names, else ""."""
        name = self._settings.console_user_header
        if not name or request.client is None or not self._is_trusted(request.client.host):
            return ""
        given = [user.strip() for user in request.headers.getlist(name)]
        if len(given) > 1 or len("".join(given)) > MAX_USER:
            raise HTTPException(
                400,
                f"expected one header {name} of at most {MAX_USER} characters, got {len(given)} "
                f"with {len(''.join(given))}: the proxy must replace what a client sends",
            )
        return next((user for user in given if user.isprintable()), "")

    def _is_trusted(self, peer: str) -> bool:
        try:
            address = ip_address(peer)
        except ValueError:
            return False
        return any(address in network for network in self._settings.console_trusted)

    def _purpose(self, is_change: bool) -> Purpose:
        """What a script's token must be for: to change something, where there is one for that."""
        needs_admin = is_change and self._guard.is_set(Purpose.ADMIN)
        return Purpose.ADMIN if needs_admin else Purpose.CONSOLE

    def _bearer(
        self, request: Request, authorization: str, purpose: Purpose, now_s: int
    ) -> ConsoleSession:
        try:
            tenant = self._guard.check_header(purpose, authorization, client_of(request))
        except TokenRefusedError as refused:
            raise http_error(refused) from None
        is_admin = purpose is Purpose.ADMIN
        return ConsoleSession(BEARER, "", "", now_s, is_admin=is_admin, tenant=tenant)

    @staticmethod
    def _same(known: ConsoleSession | None, way: str, user: str) -> ConsoleSession | None:
        is_it = known is not None and known.way == way and known.user == user
        return known if is_it else None


def http_error(refused: TokenRefusedError) -> HTTPException:
    """The console's answer to a token that does not open."""
    if refused.retry_s is not None:
        return HTTPException(429, str(refused), {"retry-after": str(refused.retry_s)})
    return HTTPException(401, str(refused), {"WWW-Authenticate": "Bearer"})


def check_origin(request: Request) -> None:
    """Raise HTTPException 403 if the browser says that another site sent the request."""
    origin = request.headers.get("origin", "")
    host = request.headers.get("host", "")
    if not origin and request.headers.get("sec-fetch-site") == "same-origin":
        return
    if not host or authority_of(origin) != host.lower():
        raise HTTPException(
            403,
            f"expected the header Origin of this console ({host[:80]!r}), got {origin[:80]!r}; a "
            "proxy must forward Host; a script must send 'Authorization: Bearer TOKEN'",
        )


def authority_of(origin: str) -> str:
    """The host and port of an origin in lower case; "" if it is malformed."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
