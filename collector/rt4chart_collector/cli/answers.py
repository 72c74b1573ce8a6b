"""Options of `rt4chart answers` and `rt4chart trail`."""

from __future__ import annotations

import argparse
from pkgutil import resolve_name

from otel_rt4chart.core.arguments import positive_integer
from rt4chart_collector.core.arguments import add_dsn, add_since, add_tenant
from rt4chart_collector.core.filters.filter_language import FilterError, FilterTerm, parse_filter

EPILOG = """\
A filter is that of the console: words, "several words", KEY:VALUE, and - before what must not
hold; such as: route:refunds status:contradicted -verdict:undecided. See docs/operate/console.md
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_dsn(parser)
    parser.add_argument(
        "--filter", type=answer_terms, default=(), metavar="TEXT", help="only matching answers"
    )
    add_tenant(parser)
    add_since(parser, "24h", "answers since then, such as 24h (default), 7d")
    parser.add_argument(
        "--order", choices=("newest", "worst"), default="newest", help="which first (newest)"
    )
    parser.add_argument(
        "--limit", type=positive_integer, default=50, metavar="N", help="at most N answers (50)"
    )
    parser.add_argument(
        "--verifier", default="", metavar="ID", help="the verifier (default: the one in use)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def configure_trail(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `rt4chart trail`."""
    parser.epilog = "More: docs/understand/trails.md\n"
    parser.add_argument("trace_id", metavar="TRACE_ID", help="the trace of the answer")
    add_dsn(parser)
    parser.add_argument("--verifier", default="", metavar="ID", help="only this judge's verdicts")
    parser.add_argument("--json", action="store_true", help="print JSON")


def answer_terms(text: str) -> tuple[FilterTerm, ...]:
    """The terms of a filter; the list's keys are imported when one is given."""
    keys = resolve_name("rt4chart_collector.store.lists.answer_filter:ANSWER_KEYS")
    try:
        return parse_filter(text, keys)
    except FilterError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
