from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from otel_rt4chart.spans.conventions.markdown import START, render_tables

PAGE = Path(__file__).parents[4] / "docs/reference/conventions.md"


def test_the_page_shows_the_tables_as_they_are() -> None:
    """Else: print them with `python -m otel_rt4chart.spans.conventions` and paste them there."""
    _, start, rest = PAGE.read_text().partition(START)

    assert start + rest == render_tables()


def test_the_command_prints_them() -> None:
    """What the page names is what makes it."""
    run = subprocess.run(
        [sys.executable, "-m", "otel_rt4chart.spans.conventions"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert run.stdout == render_tables()
