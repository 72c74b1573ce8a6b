"""The login page: sign in with the console's token, and sign out."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from rt4chart_collector.console.app.access import http_error
from rt4chart_collector.console.app.console import Console, session_of
from rt4chart_collector.console.app.section import page_routes
from rt4chart_collector.console.app.session import COOKIE, is_secure, set_session_cookie
from rt4chart_collector.core.token_guard import TokenFault, TokenRefusedError


def show_login(console: Console, request: Request) -> Response:
    """GET /login."""
    return _login_page(console, request, 200, "")


def sign_in(console: Console, request: Request) -> Response:
    """POST /login: start a session and redirect to the requested page."""
    now_s = console.now_s
    form = console.form(request)
    try:
        token = form.get("token", "")
        session = console.access.sign_in(request, session_of(request), token, now_s)
    except TokenRefusedError as refused:
        if refused.fault is TokenFault.THROTTLED:
            raise http_error(refused) from None
        return _login_page(console, request, 403, "The token is wrong.")
    answer = RedirectResponse(local_path(form.get("next", "")), 303)
    set_session_cookie(answer, console.sessions.write(session), is_secure=is_secure(request))
    return answer


def sign_out(console: Console, request: Request) -> Response:
    """POST /logout: end the session, so that copies of the cookie are invalid too."""
    if (session := session_of(request)) is not None:
        console.sessions.end(session)
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


def _login_page(console: Console, request: Request, status: int, wrong: str) -> Response:
    target = request.query_params.get("next", "") or console.form(request).get("next", "")
    return console.page(
        request,
        "login.html",
        title="Sign in",
        status=status,
        wrong=wrong,
        next=local_path(target),
        takes_token=console.access.takes_token(session_of(request)),
    )


def local_path(path: str) -> str:
    """`path` if it stays on this console, else "/"."""
    is_local = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_local else "/"


login_routes = page_routes(
    ("GET", "/login", show_login),
    ("POST", "/login", sign_in),
    ("POST", "/logout", sign_out),
)
