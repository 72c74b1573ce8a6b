"""`rt4chart demo`: two applications, a bad release, and what the service finds."""

from __future__ import annotations

import argparse
import io
import re
import sys
from pathlib import Path

from rich.console import Console

from otel_rt4chart.cli import Command
from otel_rt4chart.core.arguments import positive_integer
from otel_rt4chart.core.text import printable
from rt4chart_collector.core.environment import demo_folder
from rt4chart_collector.demo.application import renew_verdicts
from rt4chart_collector.demo.progress import DemoProgress
from rt4chart_collector.demo.report import show
from rt4chart_collector.demo.result import DemoResult
from rt4chart_collector.demo.run import run, run_live
from rt4chart_collector.demo.serve import ServedDemo, as_json, instructions, serve


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--limit",
        type=positive_integer,
        default=0,
        metavar="N",
        help="with --live: stop after N answers (default: all)",
    )
    parser.add_argument(
        "--picture", type=Path, metavar="FILE.svg", help="also save the report as an SVG picture"
    )
    parser.add_argument(
        "--folder", type=Path, help="folder of the database (default: the user's data folder)"
    )
    parser.add_argument(
        "--serve",
        action="store_true",
        help="serve the console with the alert that the bad release raises",
    )
    parser.add_argument(
        "--live",
        action="store_true",
        help="send the public rows over OTLP to a running service instead, in minutes",
    )
    parser.add_argument(
        "--write-verdicts",
        action="store_true",
        help="verify all answers again, and write the bundled verdicts (for developers)",
    )
    parser.add_argument(
        "--console", default="", metavar="HOST:PORT", help="address of the console with --serve"
    )


def execute(options: argparse.Namespace) -> int:
    """Run the demo with progress on stderr, and print the result on stdout."""
    folder = options.folder or demo_folder()
    with DemoProgress() as progress:
        if options.write_verdicts:
            renew_verdicts(progress)
            return 0
        if options.serve:
            return _serve(options, folder, progress)
        live = options.live or options.limit
        result = run_live(folder, progress, limit=options.limit) if live else run(folder, progress)
    if options.json:
        sys.stdout.write(result.as_json() + "\n")
    else:
        show(result, Console(highlight=False))
    if options.picture:
        options.picture.write_text(picture(result), encoding="utf-8")
    return 0


def _serve(options: argparse.Namespace, folder: Path, progress: DemoProgress) -> int:
    def announce(found: ServedDemo) -> None:
        sys.stdout.write(
            f"{as_json(found)}\n" if options.json else printable(instructions(found), keep="\n")
        )
        sys.stdout.flush()

    serve(folder, progress, on_alert=announce, console=options.console)
    return 0


def picture(result: DemoResult) -> str:
    """The report as SVG, without web fonts: it loads nothing from elsewhere."""
    console = Console(highlight=False, record=True, width=88, file=io.StringIO())
    show(result, console, to_copy=False)
    return re.sub(r"@font-face \{.*?\}", "", console.export_svg(title="rt4chart demo"), flags=re.S)


COMMAND = Command(
    "demo", "load two applications with a bad release, and show what is found", configure, execute
)
