"""Options of `rt4chart work`."""

from __future__ import annotations

import argparse

from otel_rt4chart.core.settings import add_flags
from rt4chart_collector.core.settings import WorkSettings

EPILOG = """\
Workers with the same source and group share the partitions of the topic; start and stop them at any
time. Another worker takes over what a stopped worker has not decided. Set broker credentials with
RT4CHART_KAFKA_* variables or a properties file, RT4CHART_KAFKA_CONFIG.
See docs/deploy/workers.md
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare a flag for each setting that applies to workers."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_flags(parser, WorkSettings)
