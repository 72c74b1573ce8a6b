"""Serves the console, in the process of the service or in one of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from starlette.routing import Route

from otel_rt4chart.core.settings import in_force
from rt4chart_collector.console.app.process_info import ProcessInfo
from rt4chart_collector.console.site import build_site
from rt4chart_collector.core.memory import start_left_out
from rt4chart_collector.core.settings import ConsoleSettings, ServiceSettings
from rt4chart_collector.core.token_guard import TokenGuard
from rt4chart_collector.ingest.servers import bound_socket, serve_http, url_of
from rt4chart_collector.ingest.tls import Tls
from rt4chart_collector.service.stages import Shutdown
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.dsn import parse_dsn
from rt4chart_collector.store.engine.ownership import connect_briefly

# The time for open requests at shutdown: short, because pages can simply be loaded again.
STOP_S = 2.0


@contextmanager
def serve_console(
    service: ServiceSettings,
    settings: ConsoleSettings,
    shutdown: Shutdown,
    tls: Tls | None,
    status: Callable[[], Mapping[str, object]] | None = None,
    others: Sequence[object] = (),
    api_routes: Sequence[Route] = (),
    guard: TokenGuard | None = None,
) -> Iterator[str]:
    """Serve the console of this store while the block runs; yields its URL, "" if it is off.

    `tls` is the certificate of all listeners, `status` returns the figures of a service in this
    process, `others` are more of its settings, `api_routes` serve other programs at the console's
    address and check their own tokens; `guard` has the tokens of the whole process. Raises
    SettingsError if the address is not available. An unreachable store is an error of each page,
    not of the start.
    """
    if settings.console is None:
        yield ""
        return

    def open_client() -> Client:
        return connect_briefly(service.dsn)

    facts = ProcessInfo(
        in_force(service, settings, *others),
        status,
        parse_dsn(service.dsn).display_name,
        service.judge,
    )
    site = build_site(open_client, settings, facts, api_routes=api_routes, guard=guard)
    with bound_socket(settings.console, "console") as bound:
        try:
            with serve_http(site.app, bound, tls=tls, stop_s=STOP_S), start_left_out():
                yield url_of(bound, tls)
        finally:
            # A thread that hangs in a library is abandoned, and `shutdown.is_late` becomes True.
            shutdown.join_readers([*site.threads.alive, *site.console.alive])
            site.console.close()
