"""`rt4chart up`: run the service until a signal."""

from __future__ import annotations

import argparse
import logging
import os
from threading import Event

from otel_rt4chart.core.settings import load
from rt4chart_collector.core.environment import check_retired, setting_warnings
from rt4chart_collector.core.logs import announce, configure_logging
from rt4chart_collector.core.settings import UpSettings
from rt4chart_collector.service.console import serve_console
from rt4chart_collector.service.guards import guard_of_service
from rt4chart_collector.service.signals import handle_signals
from rt4chart_collector.service.stages import LIMIT_S
from rt4chart_collector.service.up import run_service

log = logging.getLogger(__name__)


def execute(options: argparse.Namespace) -> int:
    """Run until SIGTERM or SIGINT, then finish acknowledged work; a second signal exits at once."""
    check_retired()
    loaded = load(UpSettings, vars(options))
    settings, monitoring = loaded.service, loaded.monitoring
    configure_logging(settings.log_format, settings.log_level)
    for warning in setting_warnings():
        log.warning("%s", warning)
    stopped = Event()
    handle_signals(stopped.set, settings.stop_s + LIMIT_S)
    guard = guard_of_service(settings, loaded.console)
    others = (loaded.judge, monitoring.monitor, monitoring.alerts, loaded.grouping)
    with (
        run_service(settings, monitoring, loaded.grouping, guard=guard, opens_more=True) as service,
        serve_console(
            settings,
            loaded.console,
            service.shutdown,
            service.tls,
            service.status,
            others,
            guard=guard,
        ) as url,
    ):
        service.status.health.start()
        shown_at = f", console {url}" if url else ""
        announce(
            settings.log_format,
            "up",
            f"OTLP at {service.url}/v1/traces and gRPC at {service.grpc}, "
            f"database {service.database}, judge {service.judge}{shown_at}",
        )
        stopped.wait()
        announce(settings.log_format, "up", "stopping: finishing acknowledged work")
    if service.shutdown.is_late:
        # A thread is still in the engine or another library, which may crash when the interpreter
        # ends under it. What was acknowledged is stored by now, or logged.
        os._exit(service.shutdown.status)
    return 0
