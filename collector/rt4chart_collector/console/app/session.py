"""Sessions: signed cookies, and the CSRF tokens of their forms."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

# Ended sessions to remember: more than users end within the lifetime of a cookie.
MOST_ENDED = 10_000
COOKIE = "rt4chart_console"
LIFETIME_S = 12 * 3600


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

    @property
    def actor(self) -> Actor:
        """The user that the proxy named, else how the client was admitted."""
        return Actor(self.user or {"open": "local"}.get(self.way, self.way))


class Sessions:
    """Creates and reads sessions. A different secret makes all earlier sessions invalid."""

    def __init__(self, secret: str = "") -> None:
        """`secret` is the console's token; without one, a random secret of this process is used."""
        base = secret.encode() if secret else secrets.token_bytes(32)
        self._key = hashlib.sha256(b"rt4chart console session\0" + base).digest()
        self._over: dict[str, None] = {}

    def begin(self, way: str, user: str, now_s: int) -> ConsoleSession:
        """A new session."""
        return ConsoleSession(way, user, secrets.token_urlsafe(18), now_s, is_new=True)

    def write(self, session: ConsoleSession) -> str:
        """The cookie's value."""
        fields = [session.way, session.user, session.nonce, session.issued_s]
        body = _base64(json.dumps(fields, separators=(",", ":")).encode())
        return f"{body}.{self._signed('cookie', body)}"

    def read(self, cookie: str, now_s: int) -> ConsoleSession | None:
        """The session of a cookie with a valid signature that has not expired or ended."""
        body, _, signature = cookie.partition(".")
        if not _is_same(signature, self._signed("cookie", body)):
            return None
        try:
            way, user, nonce, issued_s = json.loads(base64.urlsafe_b64decode(body + "=="))
        except (binascii.Error, ValueError):
            return None
        if not 0 <= now_s - issued_s < LIFETIME_S or nonce in self._over:
            return None
        return ConsoleSession(way, user, nonce, issued_s)

    def end(self, session: ConsoleSession) -> None:
        """Make every copy of its cookie invalid."""
        self._over[session.nonce] = None
        while len(self._over) > MOST_ENDED:
            self._over.pop(next(iter(self._over)), None)

    def csrf(self, session: ConsoleSession) -> str:
        """The CSRF token of the session."""
        return self._signed("csrf", f"{session.way}\0{session.user}\0{session.nonce}")

    def is_csrf(self, session: ConsoleSession, given: str) -> bool:
        """True for the CSRF token of the session, compared in constant time."""
        return _is_same(given, self.csrf(session))

    def _signed(self, use: str, body: str) -> str:
        return _base64(hmac.digest(self._key, f"{use}\0{body}".encode(), "sha256"))


def is_secure(request: Request) -> bool:
    """True if the request came over TLS."""
    return bool(request.scope["scheme"] == "https")


def set_session_cookie(answer: Response, cookie: str, *, is_secure: bool) -> None:
    """Set the session cookie; scripts cannot read it, and other sites cannot send it."""
    answer.set_cookie(
        COOKIE, cookie, max_age=LIFETIME_S, httponly=True, samesite="strict", secure=is_secure
    )


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _is_same(text: str, other: str) -> bool:
    return hmac.compare_digest(text.encode(), other.encode())
