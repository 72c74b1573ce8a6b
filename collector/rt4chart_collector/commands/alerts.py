"""`rt4chart alerts`: what is wrong, what was, and who is told."""

from __future__ import annotations

import argparse

from otel_rt4chart.cli import Command
from rt4chart_collector.commands import alerts_acts, alerts_backtest, alerts_read, alerts_test
from rt4chart_collector.commands.database import add_dsn

LIST = alerts_read.VERBS[0]
VERBS = (*alerts_read.VERBS, *alerts_acts.VERBS, *alerts_test.VERBS, *alerts_backtest.VERBS)
EPILOG = "Without a word, the open alerts are listed. All of it: docs/alerts.md\n"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs; what all of them take may also stand before the verb."""
    parser.epilog = EPILOG
    _shared(parser)
    LIST.configure(parser)
    parser.set_defaults(verb=LIST)
    verbs = parser.add_subparsers(metavar="WHAT", title="what can be done")
    for verb in VERBS:
        # A default here would undo what was said before the verb.
        one = verbs.add_parser(
            verb.name, help=verb.help, description=verb.help, argument_default=argparse.SUPPRESS
        )
        _shared(one)
        verb.configure(one)
        one.set_defaults(verb=verb)


def execute(options: argparse.Namespace) -> int:
    """Do what is asked."""
    return int(options.verb.run(options))


def _shared(parser: argparse.ArgumentParser) -> None:
    add_dsn(parser)
    default = argparse.SUPPRESS if parser.argument_default is argparse.SUPPRESS else False
    parser.add_argument("--json", action="store_true", default=default, help="print it as JSON")


COMMAND = Command(
    "alerts", "what is wrong now and what was, who is told, silences", configure, execute
)
