"""`rt4chart bench`: a judge's figures on a folder of labelled answers."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from otel_rt4chart.bench.dataset import choose_split, read_rows
from otel_rt4chart.bench.runner import run_bench
from otel_rt4chart.bench.table import as_values, render
from otel_rt4chart.cli import Command
from otel_rt4chart.judges import build_verifier


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the subcommand."""
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="source_info.jsonl and response.jsonl lie here"
    )
    parser.add_argument("--judge", default="local", help="the judge to measure (default: local)")
    parser.add_argument(
        "--split",
        choices=("dev", "train", "test", "all"),
        help="which rows (default: dev, else test, where the rows tell a split)",
    )
    parser.add_argument("--limit", type=_positive, metavar="N", help="the first N rows only")
    parser.add_argument("--json", action="store_true", help="figures for machines")


def run(options: argparse.Namespace) -> int:
    """Print the table; a wrong folder or judge is an error for the command line."""
    verifier = build_verifier(options.judge)
    split, rows = choose_split(read_rows(options.folder), options.split)
    result = run_bench(
        rows[: options.limit],
        verifier.verify,
        judge=verifier.judge.id,
        split=split,
        clock=time.perf_counter_ns,
        progress=_progress(),
    )
    if options.json:
        sys.stdout.write(json.dumps(as_values(result), indent=2) + "\n")
    else:
        sys.stdout.write(render(result))
    return 0


def _progress() -> Callable[[int, int], None]:
    """One rewritten line on standard error, where a person is watching."""
    if not sys.stderr.isatty():
        return lambda done, total: None

    def show(done: int, total: int) -> None:
        sys.stderr.write(f"\r{done}/{total} answers" + ("\n" if done == total else ""))
        sys.stderr.flush()

    return show


def _positive(written: str) -> int:
    if not written.isdecimal() or int(written) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 was expected, {written!r} came")
    return int(written)


COMMAND = Command(
    "bench", "measure a judge on labelled answers, beside flagging everything", configure, run
)
