"""`rt4chart alerts`: open alerts, their history, silences and targets."""

from __future__ import annotations

import argparse

from otel_rt4chart.cli import Command
from rt4chart_collector.commands import alerts_actions, alerts_backtest, alerts_read, alerts_test

LIST = alerts_read.VERBS[0]
VERBS = (*alerts_read.VERBS, *alerts_actions.VERBS, *alerts_test.VERBS, *alerts_backtest.VERBS)
EPILOG = "Without an action, open alerts are listed. Documentation: docs/operate/alerts.md\n"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the actions; their common options may also precede the action."""
    parser.epilog = EPILOG
    _shared(parser, dsn=None, json=False)
    LIST.configure(parser)
    parser.set_defaults(verb=LIST)
    verbs = parser.add_subparsers(metavar="ACTION", title="actions")
    for verb in VERBS:
        subparser = verbs.add_parser(verb.name, help=verb.help, description=verb.help)
        # A default here would override an option that precedes the action.
        _shared(subparser, dsn=argparse.SUPPRESS, json=argparse.SUPPRESS)
        verb.configure(subparser)
        subparser.set_defaults(verb=verb)


def execute(options: argparse.Namespace) -> int:
    """Run the action."""
    return int(options.verb.run(options))


def _shared(parser: argparse.ArgumentParser, *, dsn: str | None, json: bool | str) -> None:
    parser.add_argument(
        "--dsn", metavar="DSN", default=dsn, help="the database (default: RT4CHART_DSN)"
    )
    parser.add_argument("--json", action="store_true", default=json, help="print JSON")


COMMAND = Command(
    "alerts", "open alerts, their history, silences, and test messages", configure, execute
)
