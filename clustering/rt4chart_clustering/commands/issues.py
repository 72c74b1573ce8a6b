"""`rt4chart issues`: list, explain and manage issues."""

from __future__ import annotations

import argparse
import time
from collections.abc import Collection, Mapping
from typing import Any

from otel_rt4chart.cli import Command
from otel_rt4chart.core.arguments import parse_duration_s
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.settings import load
from rt4chart_clustering.commands import (
    issues_actions,
    issues_explain,
    issues_families,
    issues_show,
    issues_ticket,
)
from rt4chart_clustering.commands.issues_subcommand import IssuesSubcommand
from rt4chart_clustering.core.settings import ClusteringSettings
from rt4chart_clustering.grouping.issue_state import IssueState
from rt4chart_collector.store.engine.connect import connect
from rt4chart_collector.store.schema.migrate import migrate

SUBCOMMANDS: Mapping[str, IssuesSubcommand] = {
    subcommand.name: subcommand
    for subcommand in (
        *issues_show.SUBCOMMANDS,
        issues_families.SUBCOMMAND,
        *issues_explain.SUBCOMMANDS,
        *issues_actions.SUBCOMMANDS,
        *issues_ticket.SUBCOMMANDS,
    )
}
_EPILOG = (
    "subcommands (rt4chart issues SUBCOMMAND --help shows the options):\n"
    + "".join(f"  {subcommand.usage:22} {subcommand.help}\n" for subcommand in SUBCOMMANDS.values())
    + "\nAn ID has 16 hexadecimal digits; the first ones suffice if no other issue has them.\n"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the shared options, which may also stand before the subcommand."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument(
        "words", nargs=argparse.REMAINDER, metavar="[SUBCOMMAND] [ID] …", help="default: list"
    )
    _declare(parser, _SHARED)


def execute(options: argparse.Namespace) -> int:
    """Run the subcommand: `list` if there is none, `show` for an id alone."""
    words = list(options.words)
    subcommand = SUBCOMMANDS.get(words[0]) if words else SUBCOMMANDS["list"]
    if subcommand is None:
        subcommand = SUBCOMMANDS["show"]
    elif words:
        words = words[1:]
    idle = [name for name in _SHARED if getattr(options, name) and name not in subcommand.options]
    if idle:
        raise InputError(f"--{idle[0]} has no effect with issues {subcommand.name}: leave it out")
    parser = argparse.ArgumentParser(
        prog=f"rt4chart issues {subcommand.name}", description=subcommand.help
    )
    _declare(parser, subcommand.options)
    subcommand.configure(parser)
    given = parser.parse_args(words, namespace=options)
    with connect(load(ClusteringSettings, {"dsn": given.dsn}).dsn) as client:
        migrate(client)
        return subcommand.run(client, given, time.time_ns())


def _declare(parser: argparse.ArgumentParser, names: Collection[str]) -> None:
    parser.add_argument("--dsn", help="the database (default: RT4CHART_DSN)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    for name in names:
        parser.add_argument(f"--{name}", **_SHARED[name])


def states(text: str) -> frozenset[IssueState]:
    """States by name, separated by commas; `all` for all."""
    names = [one.strip() for one in text.split(",") if one.strip()]
    if names == ["all"]:
        return frozenset(IssueState)
    wrong = [one for one in names if one not in list(IssueState)]
    if wrong or not names:
        raise argparse.ArgumentTypeError(
            f"expected some of {', '.join(IssueState)}, or all, got {text!r}"
        )
    return frozenset(IssueState(one) for one in names)


_SHARED: Mapping[str, dict[str, Any]] = {
    "route": {"help": "only issues of this route"},
    "state": {
        "type": states,
        "metavar": "STATE,…",
        "help": f"{', '.join(IssueState)}, or all (default: all but closed ones)",
    },
    "since": {
        "type": parse_duration_s,
        "metavar": "TIME",
        "help": "with a failure in the last 90m, 24h, 7d, …",
    },
    "examples": {
        "type": int,
        "metavar": "N",
        "help": "how many examples (default 3; 0 in tickets)",
    },
    "by": {"metavar": "NAME", "help": "your name (default: the system's user)"},
    "note": {"default": "", "metavar": "TEXT", "help": "a reason, recorded in the history"},
}
COMMAND = Command("issues", "list, explain and manage issues, file tickets", configure, execute)
