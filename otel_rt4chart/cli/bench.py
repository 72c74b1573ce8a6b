"""Options of `rt4chart bench`."""

from __future__ import annotations

import argparse
from pathlib import Path

from otel_rt4chart.core.arguments import positive_integer
from otel_rt4chart.judges.names import JUDGE_NAMES, ONNX_PREFIX


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "folder",
        type=Path,
        metavar="DIR",
        help="the folder with source_info.jsonl and response.jsonl",
    )
    parser.add_argument(
        "--judge",
        default="local",
        metavar="NAME",
        help=f"the judge to measure: {', '.join(JUDGE_NAMES)}, {ONNX_PREFIX}PATH (default: local)",
    )
    parser.add_argument("--model", help="the judging model (RT4CHART_JUDGE_MODEL)")
    parser.add_argument(
        "--split",
        choices=("dev", "train", "test", "all"),
        help="the rows to use (default: dev, else test, else all)",
    )
    parser.add_argument("--limit", type=positive_integer, metavar="N", help="the first N rows only")
    parser.add_argument(
        "--stages", action="store_true", help="also print the metrics of each stage of verification"
    )
    parser.add_argument(
        "--escalation",
        action="store_true",
        help="also print what the threshold of a cascade would escalate (for a cascade: the claims"
        " of its first judge)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
