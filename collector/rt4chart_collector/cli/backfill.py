"""Options of `rt4chart backfill`."""

from __future__ import annotations

import argparse

from otel_rt4chart.core.arguments import parse_duration_s, parse_jobs, positive_integer
from otel_rt4chart.judges.names import JUDGE_NAMES, ON_DISK
from rt4chart_collector.core.arguments import add_dsn, add_since

EPILOG = """\
Verdicts are stored beside those of other judges; `rt4chart agreement` compares them. Answers that
this judge has verified are skipped, so running the command again continues where it stopped.
Exit status: 0 verified, 1 an answer has an error or the judge failed, 2 wrong usage.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_dsn(parser)
    add_since(parser, "24h", "answers of the last TIME, such as 90m, 24h (default), 7d")
    parser.add_argument(
        "--until",
        type=parse_duration_s,
        default="0m",
        metavar="TIME",
        help="answers of at least TIME ago (default: now)",
    )
    parser.add_argument("--route", default="", help="only this route")
    parser.add_argument(
        "--judge",
        metavar="NAME",
        help=f"one of: {', '.join(JUDGE_NAMES)}, {ON_DISK} (default: RT4CHART_JUDGE)",
    )
    parser.add_argument("--model", help="the judging model (RT4CHART_JUDGE_MODEL)")
    parser.add_argument(
        "--limit", type=positive_integer, default=0, metavar="N", help="stop after N"
    )
    parser.add_argument(
        "--again", action="store_true", help="verify answers again that this judge has verified"
    )
    parser.add_argument(
        "--jobs", type=parse_jobs, metavar="N", help="answers verified at once (as in verify)"
    )
