"""The tokens of a process, for tests."""

from __future__ import annotations

from rt4chart_collector.core.token_guard import TokenGuard
from rt4chart_collector.core.tokens import Purpose, TokenSource


def guard_with(*, closed: bool = False, **tokens: str) -> TokenGuard:
    """A guard with these tokens by purpose; with `closed`, the other purposes open nothing."""
    sources = {Purpose(name): TokenSource(Purpose(name), token) for name, token in tokens.items()}
    return TokenGuard([sources], closed=tuple(Purpose) if closed else ())
