"""Who is at the other end: signed cookies, and the tokens that tie a form to them."""

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

# Signed-out sessions that are remembered; more than people sign out in twelve hours.
MOST_ENDED = 10_000
COOKIE = "rt4chart_console"
LIFETIME_S = 12 * 3600


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something; `name` is what is stored beside it."""

    name: str


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """One browser's, from its first page on. `way` is how it was let in.

    `is_new` says that the browser does not have it yet.
    """

    way: str
    user: str
    nonce: str
    issued_s: int
    is_new: bool = False

    @property
    def actor(self) -> Actor:
        """Who it is: the proxy's name for them, else how they came in."""
        return Actor(self.user or {"open": "local"}.get(self.way, self.way))


class Sessions:
    """Makes and reads them. With another secret, all that were made before are over."""

    def __init__(self, secret: str = "") -> None:
        """`secret` is the console's token; where there is none, one for this process is made."""
        base = secret.encode() if secret else secrets.token_bytes(32)
        self._key = hashlib.sha256(b"rt4chart console session\0" + base).digest()
        self._over: dict[str, None] = {}

    def begin(self, way: str, user: str, now_s: int) -> ConsoleSession:
        """A new one."""
        return ConsoleSession(way, user, secrets.token_urlsafe(18), now_s, is_new=True)

    def write(self, session: ConsoleSession) -> str:
        """The cookie's value."""
        told = [session.way, session.user, session.nonce, session.issued_s]
        body = _base64(json.dumps(told, separators=(",", ":")).encode())
        return f"{body}.{self._signed('cookie', body)}"

    def read(self, cookie: str, now_s: int) -> ConsoleSession | None:
        """The session of a cookie that this console signed and that is not too old."""
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
        """Whoever has its cookie is signed out."""
        self._over[session.nonce] = None
        while len(self._over) > MOST_ENDED:
            self._over.pop(next(iter(self._over)), None)

    def csrf(self, session: ConsoleSession) -> str:
        """What a form of this session has to send along."""
        return self._signed("csrf", f"{session.way}\0{session.user}\0{session.nonce}")

    def is_csrf(self, session: ConsoleSession, given: str) -> bool:
        """True for that, compared in constant time."""
        return _is_same(given, self.csrf(session))

    def _signed(self, use: str, body: str) -> str:
        return _base64(hmac.digest(self._key, f"{use}\0{body}".encode(), "sha256"))


def is_secure(request: Request) -> bool:
    """True where the browser came by TLS."""
    return bool(request.scope["scheme"] == "https")


def set_session_cookie(answer: Response, cookie: str, *, is_secure: bool) -> None:
    """Set a session's cookie; script of a page cannot read it, other sites do not send it."""
    answer.set_cookie(
        COOKIE, cookie, max_age=LIFETIME_S, httponly=True, samesite="strict", secure=is_secure
    )


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _is_same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
