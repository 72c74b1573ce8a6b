"""`rt4chart agreement`: how far the judges of the same answers agree."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from otel_rt4chart.cli import Command
from otel_rt4chart.core.durations import parse_duration_s
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import printable
from rt4chart_collector.commands.database import add_dsn, open_database
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.store.rates.verifiers import JudgeAgreement, judge_agreements


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_dsn(parser)
    parser.add_argument(
        "--since",
        type=parse_duration_s,
        default="7d",
        metavar="TIME",
        help="answers that began in that time, such as 90m, 24h, 7d (default)",
    )
    parser.add_argument("--json", action="store_true", help="print it for machines")


def execute(options: argparse.Namespace) -> int:
    """Compare every pair of judges, and say where they differ."""
    dsn, since = (
        load(ServiceSettings, {"dsn": options.dsn}).dsn,
        time.time_ns() - options.since * 10**9,
    )
    with open_database(dsn, needs="rt4chart_verifications") as client:
        found = judge_agreements(client, since_ns=since)
    if options.json:
        rows = [asdict(one) | {"share": one.share} for one in found]
        sys.stdout.write(json.dumps(rows, ensure_ascii=False, indent=2) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in summary_lines(found)))
    return 0


def summary_lines(found: Sequence[JudgeAgreement]) -> Iterator[str]:
    """The pairs in words."""
    if not found:
        yield "no answer in that time was verified by two judges: rt4chart backfill --judge NAME"
    for one in found:
        yield f"{printable(one.first)} and {printable(one.second)}"
        yield (
            f"  {one.answers} answers, {one.share:.1%} with the same label, "
            f"Cohen's kappa {_kappa(one.kappa)}"
        )
        for route in one.routes:
            yield (
                f"  {route.answers - route.equal} of {route.answers} differ on "
                f"{printable(route.service)} {printable(route.route) or '-'}"
                f" (kappa {_kappa(route.kappa)})"
            )


def _kappa(kappa: float | None) -> str:
    return "none, for both gave one label alone" if kappa is None else f"{kappa:.2f}"


COMMAND = Command("agreement", "how far judges agree on the same answers", configure, execute)
