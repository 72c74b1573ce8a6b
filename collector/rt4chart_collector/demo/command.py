"""`rt4chart demo`: the whole pipeline on real answers."""

from __future__ import annotations

import argparse
import io
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from otel_rt4chart.core.text import printable
from rt4chart_collector.core.environment import demo_folder
from rt4chart_collector.demo.report import show
from rt4chart_collector.demo.result import DemoResult
from rt4chart_collector.demo.run import run
from rt4chart_collector.demo.serve import ServedDemo, as_json, instructions, serve


def execute(options: argparse.Namespace) -> int:
    """Run the demo with progress on stderr, and print the result on stdout."""
    folder = options.folder or demo_folder()
    if options.serve:
        return _serve(options, folder)
    with _progress_bars() as bars:
        result = run(folder, limit=options.limit, bars=bars)
    if options.json:
        sys.stdout.write(result.as_json() + "\n")
    else:
        show(result, Console(highlight=False))
    if options.picture:
        options.picture.write_text(picture(result), encoding="utf-8")
    return 0


def _progress_bars() -> Progress:
    return Progress(
        TextColumn("{task.description:28}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )


def _serve(options: argparse.Namespace, folder: Path) -> int:
    def announce(found: ServedDemo) -> None:
        sys.stdout.write(
            f"{as_json(found)}\n" if options.json else printable(instructions(found), keep="\n")
        )
        sys.stdout.flush()

    with _progress_bars() as bars:
        serve(folder, bars=bars, on_alert=announce, console=options.console)
    return 0


def picture(result: DemoResult) -> str:
    """The report as SVG, without web fonts: it loads nothing from elsewhere."""
    console = Console(highlight=False, record=True, width=88, file=io.StringIO())
    show(result, console, to_copy=False)
    return re.sub(r"@font-face \{.*?\}", "", console.export_svg(title="rt4chart demo"), flags=re.S)
