"""Options of `rt4chart label`."""

from __future__ import annotations

import argparse
from pathlib import Path

from otel_rt4chart.core.arguments import positive_integer
from otel_rt4chart.judges.names import JUDGE_NAMES, ONNX_PREFIX
from rt4chart_collector.core.arguments import add_dsn, add_since

SIZE = 100
FORMATS = ("rt4chart", "langfuse", "phoenix", "argilla", "label-studio")
EPILOG = """\
Without options: shows the claims of the last draw that you have not labelled, or draws new ones
from the answers of --since. Keys: 1 entailed, 2 contradicted, 3 baseless, 0 cannot tell, s skip,
u undo, q question, p passages, x exit. More: docs/operate/labels.md
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_dsn(parser)
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--judge",
        metavar="NAME",
        help=f"a judge that you trust labels: {', '.join(JUDGE_NAMES)}, {ONNX_PREFIX}PATH",
    )
    action.add_argument(
        "--status", action="store_true", help="rates, the judge's quality, agreement of raters"
    )
    action.add_argument("--import", dest="read", type=Path, metavar="FILE", help="read labels")
    action.add_argument(
        "--export", dest="out", type=Path, metavar="FILE", help="write labels, .jsonl or .csv"
    )
    parser.add_argument("--n", type=positive_integer, metavar="N", help="stop after N labels")
    _add_draw_options(parser)
    parser.add_argument(
        "--rater", dest="by", metavar="NAME", help="who labels (default: the system user)"
    )
    parser.add_argument("--model", help="the model of --judge (RT4CHART_JUDGE_MODEL)")
    parser.add_argument("--json", action="store_true", help="print --status as JSON")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="RATER",
        help="leave this rater's labels out of --status; repeatable",
    )
    parser.add_argument(
        "--format", choices=FORMATS, help="the format of --import (default: recognized)"
    )
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        type=parse_label_map,
        metavar="THEIRS=OURS",
        help="what a label of --import means, such as correct=entailed; repeatable",
    )


def _add_draw_options(parser: argparse.ArgumentParser) -> None:
    add_since(parser, "7d", "draw from answers of the last TIME, such as 24h, 7d (default)")
    parser.add_argument("--route", help="only this route")
    parser.add_argument(
        "--verifier", metavar="ID", help="whose claims (default: the verifier in use)"
    )
    parser.add_argument(
        "--draw", action="store_true", help="draw anew, though the last draw has claims left"
    )
    parser.add_argument(
        "--size",
        type=positive_integer,
        default=SIZE,
        metavar="N",
        help=f"claims to draw of each route (default {SIZE})",
    )
    parser.add_argument(
        "--seed",
        metavar="TEXT",
        help="draw anew with other random numbers: labels of other seeds count in no later rate",
    )


def parse_label_map(text: str) -> object:
    """A word of another tool and the label that it means."""
    # Imported here: the other options need no labels.
    from rt4chart_collector.labelling.label_files import parse_label_map as parse

    return parse(text)
