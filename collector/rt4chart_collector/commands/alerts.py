"""`rt4chart alerts`: open alerts, their history, silences and targets."""

from __future__ import annotations

import argparse

from otel_rt4chart.cli import Command
from rt4chart_collector.commands import alerts_actions, alerts_backtest, alerts_read, alerts_test

LIST = alerts_read.SUBCOMMANDS[0]
SUBCOMMANDS = (
    *alerts_read.SUBCOMMANDS,
    *alerts_actions.SUBCOMMANDS,
    *alerts_test.SUBCOMMANDS,
    *alerts_backtest.SUBCOMMANDS,
)
EPILOG = "Without an action, open alerts are listed. Documentation: docs/operate/alerts.md\n"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands; their common options may also precede the subcommand."""
    parser.epilog = EPILOG
    _shared(parser, dsn=None, json=False)
    LIST.configure(parser)
    parser.set_defaults(subcommand=LIST)
    subparsers = parser.add_subparsers(metavar="ACTION", title="actions")
    for subcommand in SUBCOMMANDS:
        subparser = subparsers.add_parser(
            subcommand.name, help=subcommand.help, description=subcommand.help
        )
        # A default here would override an option that precedes the subcommand.
        _shared(subparser, dsn=argparse.SUPPRESS, json=argparse.SUPPRESS)
        subcommand.configure(subparser)
        subparser.set_defaults(subcommand=subcommand)


def execute(options: argparse.Namespace) -> int:
    """Run the subcommand."""
    return int(options.subcommand.run(options))


def _shared(parser: argparse.ArgumentParser, *, dsn: str | None, json: bool | str) -> None:
    parser.add_argument(
        "--dsn", metavar="DSN", default=dsn, help="the database (default: RT4CHART_DSN)"
    )
    parser.add_argument("--json", action="store_true", default=json, help="print JSON")


COMMAND = Command(
    "alerts", "open alerts, their history, silences, and test messages", configure, execute
)
