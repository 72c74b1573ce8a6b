"""`rt4chart work`: run one of several workers on a Kafka topic of spans until a signal."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from threading import Event, Thread

from otel_rt4chart.core.settings import load
from rt4chart_collector.core.environment import check_retired
from rt4chart_collector.core.logs import announce, configure_logging
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.core.settings import WorkSettings
from rt4chart_collector.pipeline.kafka_stream import KafkaStream
from rt4chart_collector.service.signals import handle_signals
from rt4chart_collector.service.stages import LIMIT_S, Shutdown
from rt4chart_collector.service.worker import run_worker

log = logging.getLogger(__name__)


def execute(options: argparse.Namespace) -> int:
    """Run until SIGTERM or SIGINT, then finish work in flight; a second signal exits at once."""
    check_retired()
    settings = load(WorkSettings, vars(options))
    service = settings.service
    configure_logging(service.log_format, service.log_level)
    stopped, shutdowns = Event(), list[Shutdown]()
    handle_signals(stopped.set, service.stop_s + LIMIT_S)
    try:
        _work(settings, stopped, shutdowns)
    finally:
        if any(shutdown.is_late for shutdown in shutdowns):
            # A thread hangs in a library, and the interpreter would wait for it at exit.
            if (error := sys.exception()) is not None:
                log.critical("ended by an error: %s", redacted_error(error))
            os._exit(1)
    return 0


def _work(settings: WorkSettings, stopped: Event, shutdowns: list[Shutdown]) -> None:
    service = settings.service
    with run_worker(settings) as worker:
        shutdowns.append(worker.shutdown)
        served = f", figures at {worker.url}/metrics" if worker.url else ""
        announce(
            service.log_format,
            "work",
            f"{settings.worker.source}, database {worker.database}, judge {worker.judge}{served}",
        )
        # The main thread polls Kafka; this one passes the signal on.
        Thread(target=_stop_on_signal, args=(stopped, worker.stream), daemon=True).start()
        worker.stream.run()
        announce(service.log_format, "work", "stopped; other workers take over undecided answers")


def _stop_on_signal(stopped: Event, stream: KafkaStream) -> None:
    stopped.wait()
    stream.stop()
