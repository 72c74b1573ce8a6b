"""Access control: open on this machine, by token, or by the user name that a proxy sends."""

from __future__ import annotations

import hmac
import re
from collections import deque
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request

from rt4chart_collector.console.app.session import COOKIE, ConsoleSession, Sessions
from rt4chart_collector.core.settings import ConsoleSettings

OPEN, TOKEN, PROXY, BEARER = "open", "token", "proxy", "script"
MOST_WRONG_TOKENS, WRONG_TOKENS_PERIOD_S = 20, 60
HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]*)?")
LOCAL = ("localhost", "127.0.0.1", "::1")


class Access:
    """Decides on each request, and limits wrong tokens over all clients together."""

    def __init__(self, settings: ConsoleSettings, sessions: Sessions) -> None:
        """`sessions` signs the cookies."""
        self._settings = settings
        self._sessions = sessions
        self._wrong: deque[int] = deque(maxlen=MOST_WRONG_TOKENS)

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

    def session(self, request: Request, now_s: int) -> ConsoleSession | None:
        """The session of a request; None if sign-in is required. 401 for a wrong bearer token."""
        known = self._sessions.read(request.cookies.get(COOKIE, ""), now_s)
        if user := self._named(request):
            return self._same(known, PROXY, user) or self._sessions.begin(PROXY, user, now_s)
        authorization = request.headers.get("authorization")
        if authorization is not None and self._settings.console_token:
            return self._bearer(authorization, now_s)
        if self._settings.is_open:
            return self._same(known, OPEN, "") or self._sessions.begin(OPEN, "", now_s)
        return self._same(known, TOKEN, "")

    def sign_in(self, token: str, now_s: int) -> ConsoleSession | None:
        """A session for the right token, None for a wrong one, 429 after too many wrong ones."""
        if self._is_token(token):
            return self._sessions.begin(TOKEN, "", now_s)
        self._count_wrong(now_s)
        return None

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
        user = request.headers.get(name, "").strip()
        return user[:200] if user.isprintable() else ""

    def _is_trusted(self, peer: str) -> bool:
        try:
            address = ip_address(peer)
        except ValueError:
            return False
        return any(address in network for network in self._settings.console_trusted)

    def _bearer(self, authorization: str, now_s: int) -> ConsoleSession:
        scheme, _, given = authorization.partition(" ")
        if scheme.lower() == "bearer" and self._is_token(given.strip()):
            return ConsoleSession(BEARER, "", "", now_s)
        self._count_wrong(now_s)
        raise HTTPException(
            401,
            "expected 'Authorization: Bearer TOKEN' with the token of RT4CHART_CONSOLE_TOKEN, "
            "got another header",
            {"WWW-Authenticate": "Bearer"},
        )

    def _count_wrong(self, now_s: int) -> None:
        """Counts wrong tokens only: the right one is accepted even after too many of them."""
        is_over = (
            len(self._wrong) == MOST_WRONG_TOKENS and now_s - self._wrong[0] < WRONG_TOKENS_PERIOD_S
        )
        self._wrong.append(now_s)
        if is_over:
            raise HTTPException(
                429,
                f"expected at most {MOST_WRONG_TOKENS} wrong tokens a minute: wait a minute",
                {"retry-after": str(WRONG_TOKENS_PERIOD_S)},
            )

    def _is_token(self, given: str) -> bool:
        token = self._settings.console_token
        return bool(token) and hmac.compare_digest(given.encode(), token.encode())

    @staticmethod
    def _same(known: ConsoleSession | None, way: str, user: str) -> ConsoleSession | None:
        is_it = known is not None and known.way == way and known.user == user
        return known if is_it else None


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


def host_of(header: str) -> str:
    """The host without port and brackets, in lower case; "" if the header is malformed."""
    found = HOST.fullmatch(header)
    return found[1].strip("[]").lower() if found else ""
