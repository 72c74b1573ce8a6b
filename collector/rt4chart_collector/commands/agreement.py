"""`rt4chart agreement`: the agreement of judges on the same answers."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import printable
from rt4chart_collector.core.printing import write
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.store.engine.open_database import open_database
from rt4chart_collector.store.rates.verifiers import JudgeAgreement, judge_agreements


def execute(options: argparse.Namespace) -> int:
    """Compare every pair of judges, and print their agreement by route."""
    dsn = load(ServiceSettings, {"dsn": options.dsn}).dsn
    since = time.time_ns() - options.since * 10**9
    with open_database(dsn, needs="rt4chart_verifications") as client:
        found = judge_agreements(client, since_ns=since)
    rows = [asdict(pair) | {"share": pair.share} for pair in found]
    write(rows, "\n".join(summary_lines(found)), as_json=options.json)
    return 0


def summary_lines(found: Sequence[JudgeAgreement]) -> Iterator[str]:
    """The pairs as text."""
    if not found:
        yield (
            "no answers in that time have verdicts of two judges; "
            "to add some: rt4chart backfill --judge NAME"
        )
    for pair in found:
        yield f"{printable(pair.first)} and {printable(pair.second)}"
        yield (
            f"  {pair.answers} answers, {pair.share:.1%} with the same label, "
            f"Cohen's kappa {_kappa(pair.kappa)}"
        )
        for route in pair.routes:
            yield (
                f"  {route.answers - route.equal} of {route.answers} differ on "
                f"{printable(route.service)} {printable(route.route) or '-'}"
                f" (kappa {_kappa(route.kappa)})"
            )


def _kappa(kappa: float | None) -> str:
    return "undefined, because both gave only one label" if kappa is None else f"{kappa:.2f}"
