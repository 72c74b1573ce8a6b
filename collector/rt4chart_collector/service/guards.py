"""The tokens of each process, from its settings."""

from __future__ import annotations

from rt4chart_collector.core.settings import ConsoleSettings, ServiceSettings
from rt4chart_collector.core.token_guard import TokenGuard
from rt4chart_collector.core.tokens import Purpose, token_sources


def guard_of_service(
    service: ServiceSettings, console: ConsoleSettings | None = None
) -> TokenGuard:
    """The tokens of `rt4chart up`; with one for ingest alone, nobody may read."""
    found = token_sources(service)
    closed = {Purpose.READ} if found[Purpose.INGEST].is_set else set[Purpose]()
    return TokenGuard([found, token_sources(console)], closed=closed)


def guard_of_worker(service: ServiceSettings) -> TokenGuard:
    """The tokens of `rt4chart work`, which other programs only read from."""
    found = token_sources(service)
    return TokenGuard([{Purpose.READ: found[Purpose.READ]}])


def guard_of_console(service: ServiceSettings, console: ConsoleSettings) -> TokenGuard:
    """The tokens of `rt4chart console`; without one for reading, only an open console is read."""
    closed = set[Purpose]() if console.is_open else {Purpose.READ}
    reading = {Purpose.READ: token_sources(service)[Purpose.READ]}
    return TokenGuard([reading, token_sources(console)], closed=closed)
