"""`rt4chart issues`: the issues, and what people do with them."""

from __future__ import annotations

import argparse
import time
from collections.abc import Collection, Mapping
from typing import Any

from otel_rt4chart.cli import Command
from otel_rt4chart.core.durations import parse_duration_s
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.settings import load
from rt4chart_clustering.commands import (
    issues_acts,
    issues_explain,
    issues_families,
    issues_read,
    issues_ticket,
)
from rt4chart_clustering.commands.issues_verb import Verb
from rt4chart_clustering.core.settings import ClusteringSettings
from rt4chart_clustering.grouping.issue_state import State
from rt4chart_collector.store.engine.connect import connect
from rt4chart_collector.store.schema.migrate import migrate

VERBS: Mapping[str, Verb] = {
    verb.name: verb
    for verb in (
        *issues_read.VERBS,
        issues_families.VERB,
        *issues_explain.VERBS,
        *issues_acts.VERBS,
        *issues_ticket.VERBS,
    )
}
_EPILOG = (
    "what can be done (rt4chart issues WHAT --help has the options of each):\n"
    + "".join(f"  {verb.usage:22} {verb.help}\n" for verb in VERBS.values())
    + "\nAn ID is 16 hexadecimal digits, or as many of the first ones as tell it from the others.\n"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of all verbs: they may stand before it, and nothing named is the list."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument(
        "words", nargs=argparse.REMAINDER, metavar="[WHAT] [ID] …", help="list unless named"
    )
    _declare(parser, _SHARED)


def execute(options: argparse.Namespace) -> int:
    """Do what is asked: nothing named is the list, an id alone shows it."""
    words = list(options.words)
    verb = VERBS.get(words[0]) if words else VERBS["list"]
    if verb is None:
        verb = VERBS["show"]
    elif words:
        words = words[1:]
    idle = [name for name in _SHARED if getattr(options, name) and name not in verb.options]
    if idle:
        raise InputError(f"--{idle[0]} has no effect with issues {verb.name}: leave it out")
    parser = argparse.ArgumentParser(prog=f"rt4chart issues {verb.name}", description=verb.help)
    _declare(parser, verb.options)
    verb.configure(parser)
    given = parser.parse_args(words, namespace=options)
    with connect(load(ClusteringSettings, {"dsn": given.dsn}).dsn) as client:
        migrate(client)
        return verb.run(client, given, time.time_ns())


def _declare(parser: argparse.ArgumentParser, names: Collection[str]) -> None:
    parser.add_argument("--dsn", help="the database (default: RT4CHART_DSN)")
    parser.add_argument("--json", action="store_true", help="print it for machines")
    for name in names:
        parser.add_argument(f"--{name}", **_SHARED[name])


def states(text: str) -> frozenset[State]:
    """States by their names, with commas; `all` for all."""
    names = [one.strip() for one in text.split(",") if one.strip()]
    if names == ["all"]:
        return frozenset(State)
    wrong = [one for one in names if one not in list(State)]
    if wrong or not names:
        raise argparse.ArgumentTypeError(
            f"expected some of {', '.join(State)}, or all, got {text!r}"
        )
    return frozenset(State(one) for one in names)


_SHARED: Mapping[str, dict[str, Any]] = {
    "route": {"help": "only that route's"},
    "state": {
        "type": states,
        "metavar": "STATE,…",
        "help": f"of {', '.join(State)}, or all (default: those that are not closed)",
    },
    "since": {"type": parse_duration_s, "metavar": "TIME", "help": "seen in the last 90m, 24h, 7d"},
    "examples": {"type": int, "metavar": "N", "help": "how many (default 3; in tickets 0)"},
    "by": {"metavar": "NAME", "help": "who does it (default: the system's user)"},
    "note": {"default": "", "metavar": "TEXT", "help": "why, for the trail"},
}
COMMAND = Command("issues", "the issues: list, explain, decide, file tickets", configure, execute)
