"""`rt4chart cluster`: group the failures into issues."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict

from otel_rt4chart.cli import Command
from otel_rt4chart.commands.period import period_s
from rt4chart_clustering import settings
from rt4chart_clustering.embed import build_embedder
from rt4chart_clustering.run import Outcome, run
from rt4chart_collector.store.connect import connect
from rt4chart_collector.store.migrate import migrate


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--dsn", help="the database (default: RT4CHART_DSN)")
    parser.add_argument(
        "--since",
        type=period_s,
        default="7d",
        metavar="TIME",
        help="such as 90m, 24h, 7d (default)",
    )
    parser.add_argument(
        "--min-size", type=int, default=5, metavar="N", help="claims that make an issue (default 5)"
    )
    parser.add_argument("--json", action="store_true", help="print the outcome for machines")


def execute(options: argparse.Namespace) -> int:
    """Run once, and say what was found."""
    now_ns = time.time_ns()
    embedder = build_embedder(settings.embedder())
    with connect(options.dsn or settings.dsn()) as client:
        migrate(client, embedding_width=embedder.width)
        outcome = run(
            client,
            embedder,
            since_ns=now_ns - options.since * 1_000_000_000,
            now_ns=now_ns,
            min_size=max(options.min_size, 2),
        )
    sys.stdout.write(json.dumps(asdict(outcome)) + "\n" if options.json else told(outcome))
    return 0


def told(outcome: Outcome) -> str:
    """The outcome in words."""
    if not outcome.failures:
        return "No failure in that time: nothing to group. Is `rt4chart up` receiving spans?\n"
    noise = outcome.waiting
    issues = outcome.new + outcome.known
    return (
        f"{outcome.failures} failures: {outcome.grouped} in {issues} issue{'s' * (issues != 1)} "
        f"({outcome.new} new), {noise} in none yet; {outcome.unexplained} have a pattern that the "
        "rules do not explain. See them: rt4chart issues\n"
    )


COMMAND = Command("cluster", "group the failures into named issues", configure, execute)
