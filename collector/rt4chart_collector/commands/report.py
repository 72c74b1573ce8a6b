"""`rt4chart report`: the rates, issues and alerts of a period, as HTML, JSON or a table."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console
from rich.table import Table

from otel_rt4chart.cli import Command
from otel_rt4chart.core.durations import parse_duration_s
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import printable
from rt4chart_collector.commands.database import add_dsn, open_database
from rt4chart_collector.console.view.filters import interval, iso, percent
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.report.gather import Period, PeriodReport, gather_report
from rt4chart_collector.report.page import render_report
from rt4chart_collector.store.rates.claim_rates import RateSlice
from rt4chart_collector.store.rates.verifiers import main_verifier

FILE = "rt4chart-report.html"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_dsn(parser)
    parser.add_argument(
        "--since",
        type=parse_duration_s,
        default="7d",
        metavar="TIME",
        help="the last TIME, such as 24h, 7d (default)",
    )
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


def http_url(text: str) -> str:
    """An http or https URL."""
    if urlsplit(text).scheme not in ("http", "https"):
        raise argparse.ArgumentTypeError(f"expected an http or https address, got {text!r}")
    return text


def execute(options: argparse.Namespace) -> int:
    """Read the store, and write the page or print the routes."""
    dsn, now_ns = load(ServiceSettings, {"dsn": options.dsn}).dsn, time.time_ns()
    period = Period(now_ns - options.since * 10**9, now_ns)
    with open_database(dsn, needs="rt4chart_route_5m") as client:
        verifier = options.verifier or main_verifier(client, now_ns)
        report = gather_report(client, period, verifier=verifier)
    if options.html:
        text = render_report(
            report, made_ns=now_ns, console=options.console or "", has_texts=not options.no_texts
        )
        write(options.html, text)
    elif options.json:
        sys.stdout.write(json.dumps(figures(report), ensure_ascii=False, indent=2) + "\n")
    else:
        show(report, Console(highlight=False))
    return 0


def write(file: str, text: str) -> None:
    """Write the page to a file; InputError if that fails."""
    if file == "-":
        sys.stdout.write(text)
        return
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"--html: cannot write {file}: {error.strerror}") from error
    sys.stderr.write(f"{file}: {len(text) // 1024 + 1} kB, self-contained\n")


def figures(report: PeriodReport) -> dict[str, object]:
    """The figures as JSON values."""
    return {
        "since": iso(report.period.since_ns),
        "until": iso(report.period.until_ns),
        "verifier": report.verifier,
        "all": _figures(report.total),
        "before": _figures(report.before),
        "routes": [
            {
                "service": one.now.service,
                "route": one.now.route,
                **(_figures(one.now) or {}),
                "before": _figures(one.before),
            }
            for one in report.routes
        ],
        "issues": [
            {"id": f"{one.id:016x}", "title": one.title, "state": one.state, "claims": one.claims}
            for one in report.issues
        ],
        "alerts": [
            {
                "id": one.alert.id,
                "title": one.alert.title,
                "fired": iso(one.fired_ns),
                "ended": iso(one.ended_ns) if one.ended_ns else None,
            }
            for one in report.alerts
        ],
    }


def _figures(one: RateSlice | None) -> dict[str, object] | None:
    if one is None:
        return None
    rate = one.rate
    return {
        "rate": rate.value,
        "low": rate.low,
        "high": rate.high,
        "contradicted": one.contradicted_rate.value,
        "baseless": one.baseless_rate.value,
        "undecided": one.undecided_rate.value,
        "answers": one.answers,
        "claims": one.claims,
    }


def show(report: PeriodReport, console: Console) -> None:
    """Print the routes as a table."""
    table = Table("route", "service", "unfaithful", "95%", "before", "claims", "answers", box=None)
    for one in report.routes:
        now = one.now
        before = one.before.rate.value if one.before else None
        figures = (percent(now.rate.value), interval(now.rate), percent(before))
        names = (printable(now.route) or "-", printable(now.service))
        table.add_row(*names, *figures, f"{now.claims:,}", f"{now.answers:,}")
    if not report.routes:
        console.print("no answers in this period; for a longer one: rt4chart report --since 30d")
        return
    console.print(table)
    console.print("\nfor a page to share: rt4chart report --html", markup=False)


COMMAND = Command("report", "report on a period: rates, issues and alerts", configure, execute)
