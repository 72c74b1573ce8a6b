"""`rt4chart console`: the web console in a process of its own, on any store."""

from __future__ import annotations

import argparse
import os
from contextlib import nullcontext
from threading import Event

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import PREFIX, load
from rt4chart_collector.core.environment import check_retired
from rt4chart_collector.core.logs import announce, configure_logging
from rt4chart_collector.core.settings import ConsoleProcessSettings
from rt4chart_collector.ingest.tls import checked_tls
from rt4chart_collector.service.console import serve_console
from rt4chart_collector.service.guards import guard_of_console
from rt4chart_collector.service.monitor import monitors_store, standalone_monitor_running
from rt4chart_collector.service.signals import handle_signals
from rt4chart_collector.service.stages import LIMIT_S, Shutdown
from rt4chart_collector.store.engine.dsn import parse_dsn

# How long the monitor may take to finish its round at shutdown; pages need no such time.
MONITOR_S = 10.0


def execute(options: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT; the database may be unavailable for a time."""
    check_retired()
    loaded = load(ConsoleProcessSettings, vars(options))
    service, settings, monitoring = loaded.service, loaded.console, loaded.monitoring
    if settings.console is None:
        raise SettingsError(f"{PREFIX}CONSOLE: expected an address; got off")
    configure_logging(service.log_format, service.log_level)
    tls = checked_tls(service.tls_cert, service.tls_key)
    stopped = Event()
    console_shutdown, monitor_shutdown = Shutdown(0.0), Shutdown(MONITOR_S)
    handle_signals(stopped.set, MONITOR_S + LIMIT_S)
    target = parse_dsn(service.dsn)
    is_monitoring = monitors_store(
        monitoring, is_readonly=settings.console_readonly, is_folder=bool(target.path)
    )
    guard = guard_of_console(service, settings)
    monitor = standalone_monitor_running(service.dsn, monitoring, guard, monitor_shutdown)
    others = (monitoring.monitor, monitoring.alerts) if is_monitoring else ()
    with (
        monitor if is_monitoring else nullcontext(()) as api_routes,
        serve_console(
            service,
            settings,
            console_shutdown,
            tls,
            others=others,
            api_routes=api_routes,
            guard=guard,
        ) as url,
    ):
        monitored = ", monitoring its routes" if is_monitoring else ""
        announce(service.log_format, "console", f"{url}, database {target.display_name}{monitored}")
        stopped.wait()
    if console_shutdown.is_late or monitor_shutdown.is_late:
        # A thread is still in the engine or another library, which may crash when the interpreter
        # ends under it.
        os._exit(monitor_shutdown.status)
    return 0
