"""Sessions: signed cookies, and the CSRF tokens of their forms."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from starlette.requests import Request
from starlette.responses import Response

from rt4chart_collector.core.tokens import Purpose, TokenSource, token_digest

# Ended sessions to remember: more than users end within the lifetime of a cookie.
MOST_ENDED = 10_000
COOKIE = "rt4chart_console"
LIFETIME_S = 12 * 3600
LABEL = b"rt4chart console session\0"


@dataclass(frozen=True, slots=True)
class Actor:
    """The person who makes a change; `name` is stored with it."""

    name: str


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """A client's session. `way` is how the client was admitted.

    `is_new` means that the browser does not have the cookie yet.
    """

    way: str
    user: str
    nonce: str
    issued_s: int
    is_new: bool = False
    # Signs its cookie and its forms; that of an administrator depends on the token for that too.
    key: bytes = field(default=b"", repr=False, compare=False)
    is_admin: bool = False
    # The tenant that the token is bound to, who alone is shown; "" for everything.
    tenant: str = ""

    @property
    def actor(self) -> Actor:
        """The user that the proxy named, else the token's tenant, else how one was admitted."""
        return Actor(self.user or self.tenant or {"open": "local"}.get(self.way, self.way))


class Sessions:
    """Creates and reads sessions, which end when a token is gone that they were begun with."""

    def __init__(
        self, console: TokenSource | None = None, admin: TokenSource | None = None
    ) -> None:
        """Without a token of the console, a random secret of this process takes its place."""
        self._console = console or TokenSource(Purpose.CONSOLE, secrets.token_urlsafe(32))
        self._admin = admin
        self._over: dict[str, None] = {}

    def begin(
        self, way: str, user: str, now_s: int, token: str = "", tenant: str = ""
    ) -> ConsoleSession:
        """A new session; `token` and its `tenant` are those with which somebody signs in."""
        digests = (token_digest(token),) if token else self._console.tenants()
        key = _derived(LABEL, next(iter(digests), secrets.token_bytes(32)))
        nonce = secrets.token_urlsafe(18)
        return ConsoleSession(way, user, nonce, now_s, is_new=True, key=key, tenant=tenant)

    def begin_admin(self, session: ConsoleSession, admin_token: str, now_s: int) -> ConsoleSession:
        """A new session of the same person, who may change state as well."""
        if session.is_admin:
            return session
        key = _derived(session.key, token_digest(admin_token))
        nonce = secrets.token_urlsafe(18)
        return replace(session, nonce=nonce, issued_s=now_s, is_new=True, key=key, is_admin=True)

    def write(self, session: ConsoleSession) -> str:
        """The cookie's value."""
        fields = [session.way, session.user, session.nonce, session.issued_s]
        body = _base64(json.dumps(fields, separators=(",", ":")).encode())
        return f"{body}.{_signed(session.key, 'cookie', body)}"

    def read(self, cookie: str, now_s: int) -> ConsoleSession | None:
        """The session of a cookie with a valid signature that has not expired or ended.

        Its tenant is that of the token that signed it: who knows a token can sign anything else.
        """
        body, _, signature = cookie.partition(".")
        signed = [
            one for one in self._keys() if _is_same(signature, _signed(one[0], "cookie", body))
        ]
        if not signed:
            return None
        key, is_admin, tenant = signed[0]
        try:
            way, user, nonce, issued_s = json.loads(base64.urlsafe_b64decode(body + "=="))
        except (binascii.Error, ValueError):
            return None
        if not 0 <= now_s - issued_s < LIFETIME_S or nonce in self._over:
            return None
        return ConsoleSession(way, user, nonce, issued_s, key=key, is_admin=is_admin, tenant=tenant)

    def end(self, session: ConsoleSession) -> None:
        """Make every copy of its cookie invalid."""
        self._over[session.nonce] = None
        while len(self._over) > MOST_ENDED:
            self._over.pop(next(iter(self._over)), None)

    def csrf(self, session: ConsoleSession) -> str:
        """The CSRF token of the session."""
        body = f"{session.way}\0{session.user}\0{session.nonce}"
        return _signed(session.key, "csrf", body)

    def is_csrf(self, session: ConsoleSession, given: str) -> bool:
        """True for the CSRF token of the session, compared in constant time."""
        return _is_same(given, self.csrf(session))

    def _keys(self) -> Iterator[tuple[bytes, bool, str]]:
        """The keys of all valid tokens, whether they are of administrators, and their tenants."""
        admins = self._admin.tenants() if self._admin else ()
        for digest, tenant in self._console.tenants().items():
            key = _derived(LABEL, digest)
            yield key, False, tenant
            yield from ((_derived(key, admin), True, tenant) for admin in admins)


def is_secure(request: Request) -> bool:
    """True if the request came over TLS."""
    return bool(request.scope["scheme"] == "https")


def set_session_cookie(answer: Response, cookie: str, *, is_secure: bool) -> None:
    """Set the session cookie; scripts cannot read it, and other sites cannot send it."""
    answer.set_cookie(
        COOKIE, cookie, max_age=LIFETIME_S, httponly=True, samesite="strict", secure=is_secure
    )


def _derived(base: bytes, digest: bytes) -> bytes:
    return hmac.digest(base, digest, "sha256")


def _signed(key: bytes, use: str, body: str) -> str:
    return _base64(hmac.digest(key, f"{use}\0{body}".encode(), "sha256"))


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _is_same(text: str, other: str) -> bool:
    return hmac.compare_digest(text.encode(), other.encode())
