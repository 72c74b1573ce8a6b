"""The login page: sign in with the console's token, and sign out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from rt4chart_collector.console.app.console import session_of
from rt4chart_collector.console.app.session import COOKIE, is_secure, set_session_cookie

if TYPE_CHECKING:
    from rt4chart_collector.console.app.console import Console


class Login:
    """The login page and its forms."""

    def __init__(self, console: Console) -> None:
        """`console` checks the token and signs the sessions."""
        self._console = console

    def show(self, request: Request) -> Response:
        """GET /login."""
        return self._form(request, 200, "")

    def sign_in(self, request: Request) -> Response:
        """POST /login: start a session and redirect to the requested page."""
        now_s = self._console.now_s
        form = self._console.form(request)
        session = self._console.access.sign_in(form.get("token", ""), now_s)
        if session is None:
            return self._form(
                request, 403, "The token is wrong: expected the value of RT4CHART_CONSOLE_TOKEN."
            )
        answer = RedirectResponse(local_path(form.get("next", "")), 303)
        set_session_cookie(
            answer, self._console.sessions.write(session), is_secure=is_secure(request)
        )
        return answer

    def sign_out(self, request: Request) -> Response:
        """POST /logout: end the session, so that copies of the cookie are invalid too."""
        if (session := session_of(request)) is not None:
            self._console.sessions.end(session)
        answer = RedirectResponse("/login", 303)
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return answer

    def _form(self, request: Request, status: int, wrong: str) -> Response:
        target = request.query_params.get("next", "") or self._console.form(request).get("next", "")
        return self._console.page(
            request,
            "login.html",
            title="Sign in",
            status=status,
            wrong=wrong,
            next=local_path(target),
            takes_token=bool(self._console.settings.console_token),
        )


def login_routes(console: Console) -> Sequence[BaseRoute]:
    """GET and POST /login, POST /logout."""
    login = Login(console)
    return [
        Route("/login", login.show, methods=["GET"]),
        Route("/login", login.sign_in, methods=["POST"]),
        Route("/logout", login.sign_out, methods=["POST"]),
    ]


def local_path(path: str) -> str:
    """`path` if it stays on this console, else "/"."""
    is_local = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_local else "/"
