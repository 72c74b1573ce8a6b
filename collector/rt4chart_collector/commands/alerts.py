"""`rt4chart alerts`: what is wrong, what was, and who is told."""

from __future__ import annotations

import argparse

from otel_rt4chart.cli import Command
from rt4chart_collector.commands import alerts_acts, alerts_backtest, alerts_read, alerts_test

LIST = alerts_read.VERBS[0]
VERBS = (*alerts_read.VERBS, *alerts_acts.VERBS, *alerts_test.VERBS, *alerts_backtest.VERBS)
EPILOG = "Without a word, the open alerts are listed. All of it: docs/operate/alerts.md\n"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs; what all of them take may also stand before the verb."""
    parser.epilog = EPILOG
    _shared(parser, dsn=None, json=False)
    LIST.configure(parser)
    parser.set_defaults(verb=LIST)
    verbs = parser.add_subparsers(metavar="WHAT", title="what can be done")
    for verb in VERBS:
        one = verbs.add_parser(verb.name, help=verb.help, description=verb.help)
        # A default of theirs would undo what was said before the verb.
        _shared(one, dsn=argparse.SUPPRESS, json=argparse.SUPPRESS)
        verb.configure(one)
        one.set_defaults(verb=verb)


def execute(options: argparse.Namespace) -> int:
    """Do what is asked."""
    return int(options.verb.run(options))


def _shared(parser: argparse.ArgumentParser, *, dsn: str | None, json: bool | str) -> None:
    parser.add_argument(
        "--dsn", metavar="DSN", default=dsn, help="the database (default: RT4CHART_DSN)"
    )
    parser.add_argument("--json", action="store_true", default=json, help="print it for machines")


COMMAND = Command(
    "alerts", "what is wrong now and what was, who is told, silences", configure, execute
)
