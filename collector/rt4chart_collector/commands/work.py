"""`rt4chart work`: one of any number of workers on a log of spans, until a signal ends it."""

from __future__ import annotations

import argparse
import os

from otel_rt4chart.cli import Command
from rt4chart_collector.commands.up import declare
from rt4chart_collector.signals import heed_signals
from rt4chart_collector.sources.app import working
from rt4chart_collector.sources.settings import load_work, work_fields
from rt4chart_collector.stages import LIMIT_S
from rt4chart_collector.telemetry.logs import say, set_up

EPILOG = """\
Workers with the same source and group share the topic's partitions; start and stop them as you
like. What a worker has not decided when it ends, another takes up. Credentials for the brokers are
RT4CHART_KAFKA_* variables or a file of properties, RT4CHART_KAFKA_CONFIG. All of it: docs/scale.md
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare a flag for each setting that means something here."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    declare(parser, work_fields())


def execute(options: argparse.Namespace) -> int:
    """Run until SIGTERM or SIGINT, then finish what is in hand; a second one ends at once."""
    settings = load_work({one.name: getattr(options, one.name) for one in work_fields()})
    service = settings.service
    set_up(service.log_format, service.log_level)
    with working(settings) as worker:
        heed_signals(worker.stream.stop, service.stop_s + LIMIT_S)
        served = f", figures at {worker.url}/metrics" if worker.url else ""
        say(
            service.log_format,
            "work",
            f"{settings.source}, database {worker.database}, judge {worker.judge}{served}",
        )
        worker.stream.run()
        say(service.log_format, "work", "stopped; what is not decided is another's")
    if worker.ending.is_late:
        # A thread hangs in a library: the interpreter would wait for it, or end under it.
        os._exit(1)
    return 0


COMMAND = Command("work", "verify the answers of a log of spans, beside others", configure, execute)
