"""`rt4chart demo`: two applications, a bad release, and what the service finds."""

from __future__ import annotations

import argparse
import io
import re
import sys
from pathlib import Path

from rich.console import Console

from otel_rt4chart.core.text import printable
from rt4chart_collector.core.environment import demo_folder
from rt4chart_collector.demo.application import renew_verdicts
from rt4chart_collector.demo.progress import DemoProgress
from rt4chart_collector.demo.report import show
from rt4chart_collector.demo.result import DemoResult
from rt4chart_collector.demo.run import run, run_live
from rt4chart_collector.demo.serve import ServedDemo, as_json, instructions, serve


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
