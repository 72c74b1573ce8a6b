"""`rt4chart up`: the service, until a signal ends it."""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Sequence
from dataclasses import Field, fields
from threading import Event

from otel_rt4chart.cli import Command
from otel_rt4chart.settings.application import JudgeSettings
from rt4chart_collector.core.console_settings import ConsoleSettings, load_console
from rt4chart_collector.core.logs import announce, configure_logging
from rt4chart_collector.core.settings import PREFIX, Settings, check_metrics, load, variables
from rt4chart_collector.service.console import console_served
from rt4chart_collector.service.monitor import load_monitoring, monitoring_fields
from rt4chart_collector.service.signals import heed_signals
from rt4chart_collector.service.stages import LIMIT_S, Ending
from rt4chart_collector.service.unknown_variables import misspelt
from rt4chart_collector.service.up import running

log = logging.getLogger(__name__)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare a flag for each setting that is no secret."""
    declare(parser, [*flagged(), *ConsoleSettings.flags(), *monitoring_fields()])


def declare(parser: argparse.ArgumentParser, settings: Sequence[Field[object]]) -> None:
    """A flag for each of these settings; a switch needs no value."""
    for declared in settings:
        variable = PREFIX + declared.name.upper()
        default = f"default {shown(declared.default)}" if shown(declared.default) else "no default"
        parser.add_argument(
            "--" + declared.name.replace("_", "-"),
            metavar="VALUE",
            help=f"{declared.metadata['help']} ({variable}; {default})".replace("%", "%%"),
            nargs="?" if declared.default is False else None,
            const="true" if declared.default is False else None,
        )


def flagged() -> list[Field[object]]:
    """The settings that have a flag: what a secret is, every user of the machine could read."""
    return [declared for declared in fields(Settings) if "secret" not in declared.metadata]


def shown(default: object) -> str:
    """A default as one would write it."""
    if default == ():
        return ""
    return str(default) if not isinstance(default, frozenset) else ",".join(sorted(default))


def execute(options: argparse.Namespace) -> int:
    """Run until SIGTERM or SIGINT, then finish what was acknowledged; a second one ends at once."""
    settings = load({declared.name: getattr(options, declared.name) for declared in flagged()})
    console = load_console(
        {one.name: getattr(options, one.name) for one in ConsoleSettings.flags()}
    )
    monitoring = load_monitoring(
        {one.name: getattr(options, one.name) for one in monitoring_fields()}
    )
    check_metrics(settings.self_metrics, (settings.otlp_http, settings.otlp_grpc))
    configure_logging(settings.log_format, settings.log_level)
    for warning in misspelt(variables()):
        log.warning("%s", warning)
    asked = Event()
    heed_signals(asked.set, settings.stop_s + LIMIT_S)
    late = Ending(0.0)
    others = (JudgeSettings.from_environment(), monitoring.monitor, monitoring.alerts)
    with (
        running(settings, monitoring) as service,
        console_served(settings, console, late, service.status, others) as pages,
    ):
        shown_at = f", console {pages}" if pages else ""
        announce(
            settings.log_format,
            "up",
            f"OTLP at {service.url}/v1/traces and gRPC at {service.grpc}, "
            f"database {service.database}, judge {service.judge}{shown_at}",
        )
        asked.wait()
        announce(settings.log_format, "up", "stopping; finishing what was acknowledged")
    if service.ending.is_late or late.is_late:
        # A thread hangs in a library: the interpreter would wait for it, or end under it.
        os._exit(1)
    return 0


COMMAND = Command("up", "take spans, verify their answers, keep both", configure, execute)
