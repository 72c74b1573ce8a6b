"""Options of `rt4chart console`."""

from __future__ import annotations

import argparse

from otel_rt4chart.core.settings import add_flags
from rt4chart_collector.core.settings import ConsoleProcessSettings


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare a flag for each setting that is no secret."""
    add_flags(parser, ConsoleProcessSettings)
