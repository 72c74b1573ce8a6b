"""Options of `rt4chart compare`."""

from __future__ import annotations

import argparse

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core.arguments import add_dsn, add_since, add_tenant

KINDS = ("release", "prompt_version", "model", "environment", "verifier", "time")
EPILOG = """\
Without A and B, the two newest versions are compared; with one name, the newest other one with it.
A span of time is 2026-01-30T12:00Z..2026-01-31T12:00Z; without names, the last TIME with the TIME
before. Answers without a version are of the version "(none)". See docs/operate/console.md
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("a", nargs="?", default="", metavar="A", help="the version to compare with")
    parser.add_argument(
        "b", nargs="?", default="", metavar="B", help="the version that is compared"
    )
    add_dsn(parser)
    parser.add_argument(
        "--by", choices=KINDS, default="release", help="what makes a version (default: release)"
    )
    add_since(parser, "7d", "answers since then, such as 24h, 7d (default)")
    add_tenant(parser)
    parser.add_argument("--service", metavar="NAME", help="only this service")
    parser.add_argument("--route", metavar="ROUTE", help="only this route")
    parser.add_argument(
        "--measure",
        choices=[*map(str, Measure)],
        default=str(Measure.UNFAITHFUL),
        help="the claims that count (default: unfaithful)",
    )
    parser.add_argument(
        "--verifier", default="", metavar="ID", help="the verifier whose verdicts count"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
