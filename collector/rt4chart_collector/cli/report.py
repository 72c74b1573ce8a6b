"""Options of `rt4chart report`."""

from __future__ import annotations

import argparse
from urllib.parse import urlsplit

from otel_rt4chart.core.arguments import parse_share
from rt4chart_collector.core.arguments import add_dsn, add_since, add_tenant

FILE = "rt4chart-report.html"
EPILOG = """\
Exit status: 0 done, 1 with --fail-over: the corrected rate of a route is above RATE with 95%
confidence, 2 wrong use, 3 with --fail-over: it cannot be told of a route. Corrected rates need
labels: rt4chart label. See docs/operate/report.md
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_dsn(parser)
    add_since(parser, "7d", "the last TIME, such as 24h, 7d (default)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--html",
        nargs="?",
        const=FILE,
        metavar="FILE",
        help=f"write one self-contained page (default {FILE}; - for standard output)",
    )
    form.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--no-texts", action="store_true", help="leave claims and issue titles out of the page"
    )
    parser.add_argument(
        "--console", type=http_url, metavar="URL", help="the console that the page links to"
    )
    parser.add_argument(
        "--verifier",
        default="",
        metavar="ID",
        help="the verifier whose verdicts count (default: the one in use)",
    )
    add_tenant(parser)
    parser.add_argument("--route", metavar="ROUTE", help="only this route")
    parser.add_argument(
        "--fail-over",
        type=parse_share,
        metavar="RATE",
        help="exit with status 1 if the corrected rate of a route is above RATE (0 to 1)",
    )


def http_url(text: str) -> str:
    """An http or https URL."""
    if urlsplit(text).scheme not in ("http", "https"):
        raise argparse.ArgumentTypeError(f"expected an http or https address, got {text!r}")
    return text
