"""Options of `rt4chart verify`."""

from __future__ import annotations

import argparse

from otel_rt4chart.core.arguments import parse_jobs, parse_share
from otel_rt4chart.judges.names import JUDGE_NAMES, ON_DISK
from otel_rt4chart.verify.core.rates import Measure

EPILOG = """\
A row: {"id", "question", "contexts": [text or {"id", "text", "metadata"}], "answer", "route",
"as_of"}; "contexts" and "answer" are required. Exit status: 0 verified, 1 a row has an error, the
judge failed or the rate is above --fail-over, 2 wrong usage. Details: docs/start/verify-a-file.md
For answers in the store of the service: rt4chart verify --from-store --help
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "file", metavar="FILE.jsonl", help="one exchange on each line; - means stdin"
    )
    parser.add_argument(
        "--judge",
        default="local",
        metavar="NAME",
        help=f"one of: {', '.join(JUDGE_NAMES)}, {ON_DISK} (a model on disk)",
    )
    parser.add_argument("--model", help="the judging model (RT4CHART_JUDGE_MODEL)")
    parser.add_argument(
        "--exhaustive",
        action="store_true",
        help="ask every chunk about every claim, as published (RT4CHART_JUDGE_EXHAUSTIVE)",
    )
    parser.add_argument(
        "--out",
        default="-",
        metavar="OUT.jsonl",
        help="default: stdout, which shows a table if it is a terminal",
    )
    parser.add_argument("--json", action="store_true", help="print JSON on a terminal, too")
    parser.add_argument(
        "--jobs",
        type=parse_jobs,
        metavar="N",
        help="answers verified at once (default: RT4CHART_JUDGE_CONCURRENCY for a judge behind an"
        " endpoint, 4 for a model, 1 for rules)",
    )
    parser.add_argument(
        "--fail-over",
        type=parse_share,
        metavar="RATE",
        help="exit with status 1 if the rate of failed claims in all rows is above RATE (0 to 1)",
    )
    parser.add_argument(
        "--count",
        choices=tuple(map(str, Measure)),
        default=str(Measure.EITHER),
        help="the claims that --fail-over counts: unfaithful (contradicted or baseless), misleading"
        " (supported, but not only), or either of them (default)",
    )
