"""Options of `rt4chart alerts`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from otel_rt4chart.core.arguments import parse_duration_s, positive_integer
from otel_rt4chart.core.settings_parsers import number
from rt4chart_collector.core.actors import add_actor
from rt4chart_collector.core.alerts.alert import DRIFT_RULES, Rule, Severity
from rt4chart_collector.core.arguments import add_since
from rt4chart_collector.detect.drift.policy import RULES

EPILOG = "Without an action, open alerts are listed. Documentation: docs/operate/alerts.md\n"
_ACTIONS = "rt4chart_collector.commands.alerts.actions"
_READ = "rt4chart_collector.commands.alerts.read"


def add_no_options(parser: argparse.ArgumentParser) -> None:
    """Options of a subcommand without any."""


@dataclass(frozen=True, slots=True)
class AlertsSubcommand:
    """A subcommand; `run` is a reference as that of a `Command`."""

    name: str
    help: str
    run: str
    configure: Callable[[argparse.ArgumentParser], None] = add_no_options


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands; their common options may also precede the subcommand."""
    parser.epilog = EPILOG
    _shared(parser, dsn=None, json=False)
    subparsers = parser.add_subparsers(metavar="ACTION", title="actions")
    for subcommand in SUBCOMMANDS:
        subparser = subparsers.add_parser(
            subcommand.name, help=subcommand.help, description=subcommand.help
        )
        # A default here would override an option that precedes the subcommand.
        _shared(subparser, dsn=argparse.SUPPRESS, json=argparse.SUPPRESS)
        subcommand.configure(subparser)
        subparser.set_defaults(run=subcommand.run)


def _shared(parser: argparse.ArgumentParser, *, dsn: str | None, json: bool | str) -> None:
    parser.add_argument(
        "--dsn", metavar="DSN", default=dsn, help="the database (default: RT4CHART_DSN)"
    )
    parser.add_argument("--json", action="store_true", default=json, help="print JSON")


def _of_history(parser: argparse.ArgumentParser) -> None:
    add_since(parser, "7d", "fired in that time, such as 24h, 7d (default), 30d")
    parser.add_argument(
        "--rule", default="", choices=tuple(Rule), metavar="RULE", help="only this rule"
    )
    parser.add_argument(
        "--severity", default="", choices=tuple(Severity), metavar="SEVERITY", help="only this one"
    )
    parser.add_argument("--service", help="only this service")
    parser.add_argument("--route", help="only this route")
    parser.add_argument(
        "--limit", type=positive_integer, default=50, metavar="N", help="at once (50)"
    )
    parser.add_argument("--page", type=positive_integer, default=1, metavar="N", help="which page")


def _with_id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="the alert's id, or its first digits")


def _of_alert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="the alert's id, or its first digits")
    add_actor(parser)


def _of_accept(parser: argparse.ArgumentParser) -> None:
    _of_alert(parser)
    parser.add_argument(
        "--undo", action="store_true", help="the rate before the rise is usual again"
    )


def _of_assign(parser: argparse.ArgumentParser) -> None:
    _with_id(parser)
    add_actor(parser, has_note=False)
    parser.add_argument(
        "--owner", required=True, metavar="NAME", help='the owner; "" removes the owner'
    )


def _of_link(parser: argparse.ArgumentParser) -> None:
    _with_id(parser)
    add_actor(parser, has_note=False)
    parser.add_argument("url", help="the http or https address of the ticket")
    parser.add_argument("--remove", action="store_true", help="it is no longer a ticket of it")


def _of_snooze(parser: argparse.ArgumentParser) -> None:
    _of_alert(parser)
    _add_time(parser, is_needed=True)


def _of_maintenance(parser: argparse.ArgumentParser) -> None:
    add_actor(parser)
    _add_time(parser, is_needed=False)
    parser.add_argument(
        "--in",
        dest="begin",
        type=parse_duration_s,
        default=0,
        metavar="TIME",
        help="begin after TIME, such as 30m (default: now)",
    )
    parser.add_argument(
        "--rule", default=None, choices=tuple(Rule), metavar="RULE", help=", ".join(Rule)
    )
    parser.add_argument("--service", default=None, help="only alerts of this service")
    parser.add_argument("--route", default=None, help="only alerts of this route")
    parser.add_argument("--everything", action="store_true", default=False, help="all alerts")
    parser.add_argument(
        "--end", default="", metavar="ID", help="end the silence with this id, or its first digits"
    )


def _add_time(parser: argparse.ArgumentParser, *, is_needed: bool) -> None:
    parser.add_argument(
        "--for",
        dest="time",
        type=parse_duration_s,
        default=0,
        required=is_needed,
        metavar="TIME",
        help="the duration, such as 90m, 4h, 7d",
    )


def parse_threshold(text: str) -> float:
    """A share between 0 and 1."""
    try:
        return number(0.001, 0.999)(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a share such as 0.15, got {text!r}") from None


def _of_test(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--target",
        action="append",
        default=[],
        metavar="NAME",
        help="only this target, such as slack; repeatable",
    )
    parser.add_argument(
        "--severity",
        default=Severity.INFO,
        choices=tuple(Severity),
        metavar="SEVERITY",
        help=f"one of {', '.join(Severity)} (default info)",
    )


def _of_rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--threshold",
        type=parse_threshold,
        default=None,
        metavar="SHARE",
        help="also a rule on the rate itself, such as 0.15",
    )


def _of_backtest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--days", type=positive_integer, default=30, metavar="N", help="days to replay (30)"
    )
    parser.add_argument("--service", help="only this service")
    parser.add_argument("--route", help="only this route")
    parser.add_argument(
        "--verifier", default="", metavar="ID", help="the verifier (default: the one in use)"
    )
    parser.add_argument(
        "--rule",
        action="append",
        default=[],
        choices=RULES,
        metavar="RULE",
        help=f"one of {', '.join(RULES)} (default: all); repeatable",
    )
    parser.add_argument(
        "--measure",
        action="append",
        default=[],
        choices=tuple(map(str, DRIFT_RULES)),
        metavar="MEASURE",
        help=f"claims to watch, one of {', '.join(DRIFT_RULES)} (default: all); repeatable",
    )
    parser.add_argument(
        "--limit", type=positive_integer, default=10, metavar="N", help="of a rule (10)"
    )


SUBCOMMANDS = (
    AlertsSubcommand("list", "the alerts that are open", f"{_READ}:list_open"),
    AlertsSubcommand(
        "history", "the times that alerts fired", f"{_READ}:show_history", _of_history
    ),
    AlertsSubcommand(
        "show",
        "one alert: its rate, what changed, what to go back to, answers, events",
        "rt4chart_collector.commands.alerts.show:show",
        _with_id,
    ),
    AlertsSubcommand(
        "ack",
        "acknowledge an alert: no reminders until it gets worse",
        f"{_ACTIONS}:acknowledge_by_hand",
        _of_alert,
    ),
    AlertsSubcommand(
        "assign",
        "say who takes care of an alert",
        f"{_ACTIONS}:assign_by_hand",
        _of_assign,
    ),
    AlertsSubcommand(
        "link", "link a ticket of an alert by its address", f"{_ACTIONS}:link_by_hand", _of_link
    ),
    AlertsSubcommand(
        "resolve", "resolve an alert by hand", f"{_ACTIONS}:resolve_by_hand", _of_alert
    ),
    AlertsSubcommand(
        "accept",
        "resolve a drift alert and take the risen rate as the usual one; --undo reverts it",
        f"{_ACTIONS}:accept_by_hand",
        _of_accept,
    ),
    AlertsSubcommand(
        "snooze", "silence one alert for a time", f"{_ACTIONS}:snooze_by_hand", _of_snooze
    ),
    AlertsSubcommand(
        "maintenance",
        "list silences; with --for silence many alerts for a time; with --end end a silence",
        f"{_ACTIONS}:manage_silences",
        _of_maintenance,
    ),
    AlertsSubcommand(
        "test",
        "send a test alert to every target and show the replies",
        "rt4chart_collector.commands.alerts.send_tests:send_tests",
        _of_test,
    ),
    AlertsSubcommand(
        "rules",
        "print rules for Prometheus on the monitor's metrics",
        "rt4chart_collector.commands.alerts.send_tests:rules",
        _of_rules,
    ),
    AlertsSubcommand(
        "backtest",
        "the alarms that each rule would have raised",
        "rt4chart_collector.commands.alerts.backtest:run",
        _of_backtest,
    ),
)
