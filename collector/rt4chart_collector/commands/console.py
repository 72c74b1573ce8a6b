"""`rt4chart console`: the web console alone, over any store."""

from __future__ import annotations

import argparse
import os
from dataclasses import Field, fields
from threading import Event

from otel_rt4chart.cli import Command
from otel_rt4chart.errors import SettingsError
from rt4chart_collector.commands.up import declare
from rt4chart_collector.console.serve import console_served
from rt4chart_collector.console.settings import ConsoleSettings, load_console
from rt4chart_collector.settings import PREFIX, Settings, load
from rt4chart_collector.signals import heed_signals
from rt4chart_collector.stages import LIMIT_S, Ending
from rt4chart_collector.store.connect import target_of
from rt4chart_collector.telemetry.logs import say, set_up

# Of the service's settings, those that mean something here.
SHARED = ("dsn", "tls_cert", "tls_key", "log_format", "log_level")


def console_fields() -> list[Field[object]]:
    """The settings that have a flag."""
    shared = [one for one in fields(Settings) if one.name in SHARED]
    return [*ConsoleSettings.flags(), *shared]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare a flag for each setting that is no secret."""
    declare(parser, console_fields())


def execute(options: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT; the database may be away and come back."""
    given = {one.name: getattr(options, one.name) for one in console_fields()}
    service = load({name: value for name, value in given.items() if name in SHARED})
    settings = load_console(given)
    if settings.console is None:
        raise SettingsError(f"{PREFIX}CONSOLE: expected where to serve it, got off")
    set_up(service.log_format, service.log_level)
    asked, ending = Event(), Ending(0.0)
    heed_signals(asked.set, LIMIT_S)
    with console_served(service, settings, ending) as url:
        say(service.log_format, "console", f"{url}, database {target_of(service.dsn).shown}")
        asked.wait()
    if ending.is_late:
        # A thread hangs in a library: the interpreter would wait for it, or end under it.
        os._exit(1)
    return 0


COMMAND = Command("console", "look at rates, alerts and answers in a browser", configure, execute)
