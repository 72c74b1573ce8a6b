"""Options of `rt4chart check`."""

from __future__ import annotations

import argparse

from otel_rt4chart.judges.names import JUDGE_NAMES, ON_DISK

EPILOG = """\
@FILE in the place of a text reads it from that file; @@ begins a text with an @. Without --answer,
one row of JSON is read from standard input, as `rt4chart verify` reads it. On a terminal the answer
is shown with its words marked, else its verdict as JSON. Exit status: 0 verified, 1 the judge
failed, 2 wrong usage. Details: docs/start/check-an-answer.md
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--answer", metavar="TEXT", help="the answer, or @FILE")
    parser.add_argument(
        "--passage",
        action="append",
        default=[],
        metavar="TEXT",
        help="a passage that the answer was given from, or @FILE; once for each passage",
    )
    parser.add_argument("--question", metavar="TEXT", help="the question, or @FILE")
    parser.add_argument(
        "--judge",
        metavar="NAME",
        help=f"one of: {', '.join(JUDGE_NAMES)}, {ON_DISK} (a model on disk); default:"
        " local, or rules where its models are not installed",
    )
    parser.add_argument("--model", help="the judging model (RT4CHART_JUDGE_MODEL)")
    parser.add_argument("--json", action="store_true", help="print JSON on a terminal, too")
