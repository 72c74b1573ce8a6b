"""Options of `rt4chart bench`."""

from __future__ import annotations

import argparse
from pathlib import Path

from otel_rt4chart.core.arguments import integer_from, positive_integer
from otel_rt4chart.judges.names import JUDGE_NAMES, ON_DISK, RIVAL_NAMES


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        metavar="DIR",
        help="the folder with source_info.jsonl and response.jsonl",
    )
    parser.add_argument(
        "--judge",
        dest="judges",
        type=_names,
        default=["local"],
        metavar="NAME,…",
        help=f"the judge to measure: {', '.join(JUDGE_NAMES)}, {ON_DISK} (default: local);"
        f" or a published detector: {', '.join(RIVAL_NAMES)}. Several are run over the same rows",
    )
    parser.add_argument("--model", help="the judging model (RT4CHART_JUDGE_MODEL)")
    parser.add_argument(
        "--split",
        choices=("dev", "train", "test", "all"),
        help="the rows to use (default: dev, else test, else all)",
    )
    parser.add_argument("--limit", type=positive_integer, metavar="N", help="the first N rows only")
    _configure_protocol(parser)
    parser.add_argument(
        "--stages", action="store_true", help="also print the metrics of each stage of verification"
    )
    parser.add_argument(
        "--escalation",
        action="store_true",
        help="also print what the threshold of a cascade would escalate (for a cascade: the claims"
        " of its first judge)",
    )
    parser.add_argument(
        "--resume",
        type=Path,
        metavar="FILE",
        help="write each verdict to FILE, and continue from those that are there",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page with curves")
    parser.add_argument("--json", action="store_true", help="print JSON, with every answer")
    parser.add_argument(
        "--compare",
        nargs=2,
        type=Path,
        metavar=("A", "B"),
        help="compare two outputs of --json answer by answer, instead of a run",
    )


def _configure_protocol(parser: argparse.ArgumentParser) -> None:
    """Declare what else is run beside the full pipeline."""
    parser.add_argument(
        "--ablate",
        type=_names,
        default=[],
        metavar="STEP,…",
        help="also run without a step: local, global, hints, evidence, decomposition or all;"
        " local+decomposition leaves out both",
    )
    parser.add_argument(
        "--window",
        type=_numbers,
        default=[],
        metavar="N,…",
        help="sentences of a chunk; of several, each is run (RT4CHART_JUDGE_WINDOW)",
    )
    parser.add_argument(
        "--overlap",
        type=_numbers,
        default=[],
        metavar="N,…",
        help="sentences that chunks share; with several, each pair is run (RT4CHART_JUDGE_OVERLAP)",
    )
    parser.add_argument(
        "--repeats",
        type=integer_from(1, 1000),
        default=1,
        metavar="N",
        help="run each pipeline N times, without the cache, and print mean and spread",
    )
    parser.add_argument(
        "--exhaustive",
        action="store_true",
        help="ask every chunk about every claim, as published (RT4CHART_JUDGE_EXHAUSTIVE)",
    )


def _names(written: str) -> list[str]:
    return [name.strip() for name in written.split(",") if name.strip()]


def _numbers(written: str) -> list[int]:
    names = _names(written)
    if not names:
        raise argparse.ArgumentTypeError(f"expected numbers such as 10,25,50, got {written!r}")
    return list(map(integer_from(0, 10**6), names))
