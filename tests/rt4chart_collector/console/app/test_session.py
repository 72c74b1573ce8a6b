"""Signed cookies and the tokens of forms."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.console.app.session import LIFETIME_S, Sessions
from rt4chart_collector.core.tokens import Purpose, TokenSource

NOW = 1_800_000_000


def test_a_cookie_is_read_by_whoever_signed_it() -> None:
    """Another secret, or a restart without one, ends all sessions."""
    sessions = Sessions(TokenSource(Purpose.CONSOLE, "secret"))
    session = sessions.begin("proxy", "ann@example.org", NOW)

    read = sessions.read(sessions.write(session), NOW + 5)

    assert read == replace(session, is_new=False)
    assert (
        Sessions(TokenSource(Purpose.CONSOLE, "other")).read(sessions.write(session), NOW) is None
    )
    assert Sessions().read(Sessions().write(session), NOW) is None


def test_a_session_ends() -> None:
    """After twelve hours, and before it began."""
    sessions = Sessions(TokenSource(Purpose.CONSOLE, "secret"))
    cookie = sessions.write(sessions.begin("token", "", NOW))

    assert sessions.read(cookie, NOW + LIFETIME_S - 1) is not None
    assert sessions.read(cookie, NOW + LIFETIME_S) is None
    assert sessions.read(cookie, NOW - 1) is None


@given(st.text(max_size=80))
def test_a_strangers_cookie_is_none(cookie: str) -> None:
    """Whatever it holds, it raises nothing."""
    assert Sessions(TokenSource(Purpose.CONSOLE, "secret")).read(cookie, NOW) is None


def test_a_forms_token_is_of_one_session() -> None:
    """Another browser's does not do."""
    sessions = Sessions(TokenSource(Purpose.CONSOLE, "secret"))
    mine, other = (sessions.begin("open", "", NOW) for _ in range(2))

    assert sessions.is_csrf(mine, sessions.csrf(mine))
    assert not sessions.is_csrf(mine, sessions.csrf(other))
    assert not sessions.is_csrf(mine, "")
