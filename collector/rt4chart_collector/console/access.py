"""Who may see the console: all on this machine, holders of the token, or whom a proxy names."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request

from rt4chart_collector.console.session import COOKIE, Session, Sessions
from rt4chart_collector.console.settings import ConsoleSettings

OPEN, TOKEN, PROXY, BEARER = "open", "token", "proxy", "script"
LOCAL = ("localhost", "127.0.0.1", "::1")


class Access:
    """Decides by the request alone."""

    def __init__(self, settings: ConsoleSettings, sessions: Sessions) -> None:
        """What is asked for, and who signs cookies."""
        self._settings = settings
        self._sessions = sessions

    def check_host(self, request: Request) -> None:
        """Raise HTTPException 421 where an open console is addressed by another name.

        A page of a stranger's host name that points to 127.0.0.1 would else read it through the
        browser (DNS rebinding).
        """
        host = host_of(request.headers.get("host", ""))
        if self._settings.is_open and host not in LOCAL:
            raise HTTPException(
                421,
                f"expected the host localhost, 127.0.0.1 or [::1], got {host[:80]!r}: without "
                "RT4CHART_CONSOLE_TOKEN the console answers to names of this machine alone",
            )

    def session(self, request: Request, now_s: int) -> Session | None:
        """Whose request it is; None where they have to sign in. 401 for a wrong bearer token."""
        if (authorization := request.headers.get("authorization")) is not None:
            return self._bearer(authorization, now_s)
        known = self._sessions.read(request.cookies.get(COOKIE, ""), now_s)
        if user := self._named(request):
            return self._same(known, PROXY, user) or self._sessions.begin(PROXY, user, now_s)
        if self._settings.is_open:
            return self._same(known, OPEN, "") or self._sessions.begin(OPEN, "", now_s)
        return self._same(known, TOKEN, "")

    def sign_in(self, token: str, now_s: int) -> Session | None:
        """A session for whoever has the token."""
        return self._sessions.begin(TOKEN, "", now_s) if self._is_token(token) else None

    def check_post(
        self, request: Request, session: Session | None, form: Mapping[str, str]
    ) -> None:
        """Raise HTTPException 403 for a change that did not begin on a page of this console."""
        if session is not None and session.way == BEARER:
            return
        check_origin(request)
        if session is None:
            return
        given = form.get("csrf", "") or request.headers.get("x-csrf-token", "")
        if not self._sessions.is_csrf(session, given):
            raise HTTPException(
                403,
                "expected the form's own token (CSRF), got "
                f"{'another' if given else 'none'}: load the page again and repeat it",
            )

    def _named(self, request: Request) -> str:
        """Whom a trusted proxy names."""
        name = self._settings.console_user_header
        if not name or request.client is None or not self._is_trusted(request.client.host):
            return ""
        user = request.headers.get(name, "").strip()
        return user[:200] if user.isprintable() else ""

    def _is_trusted(self, peer: str) -> bool:
        try:
            address = ip_address(peer)
        except ValueError:
            return False
        return any(address in network for network in self._settings.console_trusted)

    def _bearer(self, authorization: str, now_s: int) -> Session:
        scheme, _, given = authorization.partition(" ")
        if scheme.lower() == "bearer" and self._is_token(given.strip()):
            return Session(BEARER, "", "", now_s)
        raise HTTPException(
            401,
            "expected 'Authorization: Bearer TOKEN' with the token of RT4CHART_CONSOLE_TOKEN, "
            "got another header",
            {"WWW-Authenticate": "Bearer"},
        )

    def _is_token(self, given: str) -> bool:
        token = self._settings.console_token
        return bool(token) and hmac.compare_digest(given.encode(), token.encode())

    @staticmethod
    def _same(known: Session | None, way: str, user: str) -> Session | None:
        is_it = known is not None and known.way == way and known.user == user
        return known if is_it else None


def check_origin(request: Request) -> None:
    """Raise HTTPException 403 where the browser says that another site sent this."""
    origin = request.headers.get("origin", "")
    host = request.headers.get("host", "")
    if not origin and request.headers.get("sec-fetch-site") == "same-origin":
        return
    if not host or urlsplit(origin).netloc.lower() != host.lower():
        raise HTTPException(
            403,
            f"expected the header Origin of this console ({host[:80]!r}), got {origin[:80]!r}; a "
            "proxy before it must pass Host on, a script sends 'Authorization: Bearer TOKEN'",
        )


def host_of(header: str) -> str:
    """The host without its port, in lower case."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""
