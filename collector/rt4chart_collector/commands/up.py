"""`rt4chart up`: the service, until a signal ends it."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from dataclasses import Field, fields
from threading import Event

from otel_rt4chart.cli import Command
from rt4chart_collector.app import running
from rt4chart_collector.settings import PREFIX, Settings, load

SIGNALS = (signal.SIGTERM, signal.SIGINT)
CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}


class PlainFormatter(logging.Formatter):
    """A message is one line, control characters escaped: it may quote what strangers sent."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """The line without the traceback, which keeps its own lines."""
        return super().formatMessage(record).translate(CONTROL)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare a flag for each setting that is no secret."""
    for declared in flagged():
        variable = PREFIX + declared.name.upper()
        default = f"default {shown(declared.default)}" if declared.default != "" else "no default"
        parser.add_argument(
            "--" + declared.name.replace("_", "-"),
            metavar="VALUE",
            help=f"{declared.metadata['help']} ({variable}; {default})".replace("%", "%%"),
        )


def flagged() -> list[Field[object]]:
    """The settings that have a flag: what a secret is, every user of the machine could read."""
    return [declared for declared in fields(Settings) if "secret" not in declared.metadata]


def shown(default: object) -> str:
    """A default as one would write it."""
    return str(default) if not isinstance(default, frozenset) else ",".join(sorted(default))


def execute(options: argparse.Namespace) -> int:
    """Run until SIGTERM or SIGINT, then finish what was acknowledged; a second one ends at once."""
    settings = load({declared.name: getattr(options, declared.name) for declared in flagged()})
    log_plainly()
    stop = Event()
    for number in SIGNALS:
        signal.signal(number, lambda *_: stop.set())
    with running(settings) as service:
        sys.stdout.write(
            f"rt4chart up: OTLP at {service.url}/v1/traces and gRPC at {service.grpc}, "
            f"database {service.database}, judge {service.judge}\n"
        )
        sys.stdout.flush()
        stop.wait()
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        sys.stdout.write("rt4chart up: stopping; finishing what was acknowledged\n")
        sys.stdout.flush()
    return 0


def log_plainly() -> None:
    """Warnings and worse to stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(PlainFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


COMMAND = Command("up", "take spans, verify their answers, keep both", configure, execute)
