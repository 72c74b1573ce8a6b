"""Options of `rt4chart gate`."""

from __future__ import annotations

import argparse
from pathlib import Path

from otel_rt4chart.core.arguments import (
    parse_jobs,
    parse_share,
)
from otel_rt4chart.judges.names import JUDGE_NAMES
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_clustering.gate.evaluate import (
    MAX_UNDECIDED,
)

EPILOG = """\
Exit status: 0 passed, 1 failed, 2 wrong use. The program of --command reads one JSON object
{"id", "question", "contexts"} a line and writes {"id", "answer"} a line, with "contexts" if it
retrieved new passages. See docs/operate/evalsets.md
"""


def parse_criterion(text: str) -> tuple[str, float]:
    """The name and the share of NAME=SHARE."""
    name, equals, share = text.rpartition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(
            f"expected NAME=SHARE, such as Completeness=0.1; got {text!r}"
        )
    return name, parse_share(share)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--evalset",
        required=True,
        metavar="SET",
        help="FILE.jsonl, or a release in the database: NAME or NAME@RELEASE",
    )
    parser.add_argument("--dsn", help="the database (RT4CHART_DSN)")
    answers = parser.add_mutually_exclusive_group(required=True)
    answers.add_argument("--answers", type=Path, metavar="FILE.jsonl", help="the new answers")
    answers.add_argument(
        "--command", dest="program", metavar="CMD", help="the program that answers the cases"
    )
    parser.add_argument(
        "--command-timeout", type=float, default=600.0, metavar="S", help="seconds (default 600)"
    )
    parser.add_argument(
        "--max-rate", type=parse_share, default=0.05, metavar="RATE", help="0 to 1 (default 0.05)"
    )
    parser.add_argument(
        "--count",
        choices=list(map(str, Measure)),
        default=str(Measure.EITHER),
        help="the claims that count: unfaithful, misleading or either (default)",
    )
    parser.add_argument(
        "--max-undecided",
        type=parse_share,
        default=MAX_UNDECIDED,
        metavar="SHARE",
        help="0 to 1 (default %(default)s)",
    )
    _add_criterion(parser)
    parser.add_argument(
        "--baseline", metavar="NAME", help="an earlier run; fail if the rate has risen"
    )
    parser.add_argument("--save", metavar="NAME", help="save this run as a baseline")
    parser.add_argument(
        "--release",
        default="",
        metavar="NAME",
        help="the application's release; names the comparison of its answers in the database "
        "with the baseline's release, or the one before",
    )
    parser.add_argument("--judge", default="local", help=f"one of: {', '.join(JUDGE_NAMES)}")
    parser.add_argument("--model", help="the judging model (RT4CHART_JUDGE_MODEL)")
    parser.add_argument("--jobs", type=parse_jobs, metavar="N", help="answers verified at once")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="append a summary to FILE")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="JUnit XML")
    parser.add_argument("--json", action="store_true", help="print the result for machines")


def _add_criterion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--criterion",
        action="append",
        default=[],
        type=parse_criterion,
        metavar="NAME=SHARE",
        help="a criterion of RT4CHART_CRITERIA, and the share of answers that may fail it (0 to 1);"
        " once for each",
    )
