"""`rt4chart report`: the rates, issues and alerts of a period, as HTML, JSON or a table."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import printable
from otel_rt4chart.verify.core.model import status_label
from otel_rt4chart.verify.core.rates import AnswerSums, Measure, Rate
from rt4chart_collector.comparison.figures import ComparedRate
from rt4chart_collector.comparison.wording import compared_figures
from rt4chart_collector.console.view.filters import interval, percent
from rt4chart_collector.core.printing import write
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.core.times import iso
from rt4chart_collector.labelling.figures import rate_figures
from rt4chart_collector.labelling.status import GOAL_POINTS
from rt4chart_collector.report.gate import RateGate
from rt4chart_collector.report.gather import PeriodReport, RouteReport, gather_report
from rt4chart_collector.store.engine.open_database import open_database
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import RouteRate
from rt4chart_collector.store.rates.claim_rates import RateSlice
from rt4chart_collector.store.rates.criterion_rates import CriterionRate
from rt4chart_collector.store.rates.trail_shares import TrailShares
from rt4chart_collector.store.rates.verifiers import main_verifier
from rt4chart_collector.store.schema.tenant_client import seen_by


def execute(options: argparse.Namespace) -> int:
    """Read the store, and write the page or print the routes."""
    dsn, now_ns = load(ServiceSettings, {"dsn": options.dsn}).dsn, time.time_ns()
    with open_database(dsn, needs="rt4chart_criteria") as client:
        client = seen_by(client, options.tenant)
        verifier = options.verifier or main_verifier(client, now_ns)
        since_ns = now_ns - options.since * 10**9
        scope = QueryScope(since_ns, now_ns, verifier, route=options.route)
        report = gather_report(client, scope)
    gate = None if options.fail_over is None else RateGate(options.fail_over, report.corrected)
    if options.html:
        # Imported here, because only a page needs templates.
        from rt4chart_collector.report.page import render_report

        text = render_report(
            report, made_ns=now_ns, console=options.console or "", has_texts=not options.no_texts
        )
        write_page(options.html, text)
    elif options.json:
        gate_figures = {} if gate is None else {"fail_over": gate.figures()}
        write(figures(report) | gate_figures, "", as_json=True)
    else:
        print_routes(report, Console(highlight=False))
    if gate is None:
        return 0
    # Standard output may be the page or JSON.
    sys.stderr.writelines(f"{line}\n" for line in gate.lines())
    return gate.exit_status


def write_page(file: str, text: str) -> None:
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
        "since": iso(report.scope.since_ns),
        "until": iso(report.scope.until_ns),
        "verifier": report.scope.verifier,
        "all": _figures(report.total),
        "before": _figures(report.before),
        "criteria": _criteria(report.criteria),
        "change": {
            **_changes(report.compared.measures),
            "routes": len(report.compared.matched),
        },
        "routes": [
            {
                "service": route.now.service,
                "route": route.now.route,
                **(_figures(route.now) or {}),
                "statuses": {row.status: row.share for row in route.statuses},
                "entered": _entered(route.stages),
                "criteria": _criteria(route.criteria),
                "corrected": rate_figures(route.corrected) if route.corrected else None,
                "before": _figures(route.before),
                "change": _changes(route.changes),
            }
            for route in report.routes
        ],
        "issues": [
            {
                "id": f"{issue.id:016x}",
                "title": issue.title,
                "state": issue.state,
                "claims": issue.claims,
            }
            for issue in report.issues
        ],
        "alerts": [
            {
                "id": episode.alert.id,
                "title": episode.alert.title,
                "fired": iso(episode.fired_ns),
                "ended": iso(episode.ended_ns) if episode.ended_ns else None,
            }
            for episode in report.alerts
        ],
    }


def _changes(found: Mapping[Measure, ComparedRate]) -> dict[str, object]:
    """What changed from the period before, by measure; a is that period."""
    return {str(measure): compared_figures(rate) for measure, rate in found.items()}


def _figures(rates: RateSlice | None) -> dict[str, object] | None:
    if rates is None:
        return None
    rate = rates.rate
    return {
        "rate": rate.value,
        "low": rate.low,
        "high": rate.high,
        "misleading": _rate_figures(rates.misleading_rate, rates.misleading_sums),
        "contradicted": rates.contradicted_rate.value,
        "baseless": rates.baseless_rate.value,
        "undecided": rates.undecided_rate.value,
        "answers": rates.answers,
        "claims": rates.claims,
    }


def _criteria(found: Sequence[CriterionRate]) -> list[dict[str, object]]:
    """The custom criteria; `earlier` answers were judged by another version, and are left out."""
    return [
        {
            "criterion": one.of.name,
            "kind": one.of.kind,
            "version": one.of.version,
            "judge": one.of.judge,
            "fails": one.rate.value,
            "low": one.rate.low,
            "high": one.rate.high,
            "failed": one.of.failed,
            "decided": one.of.decided,
            "not_applicable": one.of.not_applicable,
            "undecided": one.of.undecided,
            "earlier": one.earlier,
        }
        for one in found
    ]


def _entered(stages: TrailShares | None) -> list[dict[str, object]]:
    """The stages in which unfaithful claims entered; an empty name is not known."""
    return [
        {
            "stage": one.kind,
            "share": one.rate.value,
            "low": one.rate.low,
            "high": one.rate.high,
            "claims": one.claims,
        }
        for one in (stages.shares if stages is not None else ())
    ]


def _rate_figures(rate: Rate, sums: AnswerSums) -> dict[str, object]:
    """A rate with its own numbers: it is of the answers that were checked for its claims."""
    numbers = {"answers": sums.answers, "claims": sums.claims}
    return {"rate": rate.value, "low": rate.low, "high": rate.high, **numbers}


def print_routes(report: PeriodReport, console: Console) -> None:
    """Print a table of the routes for each measure, and one of what is wrong with their claims."""
    if not report.routes:
        console.print("no answers in this period; for a longer one: rt4chart report --since 30d")
        return
    for measure in (Measure.UNFAITHFUL, Measure.MISLEADING):
        console.print(_rate_table(report, measure))
        console.print()
    if statuses := _status_table(report):
        console.print(statuses)
        console.print()
    if criteria := _criteria_table(report):
        console.print(criteria)
        console.print()
    for route in report.routes:
        if route.entered is not None:
            name = printable(route.now.route) or "-"
            console.print(f"{name}: {printable(route.entered.sentence)}", markup=False)
            console.print()
    corrected = list(_corrected_tables(report))
    for table in corrected:
        console.print(table)
        console.print()
    if not corrected:
        console.print("to correct the judge's errors with a few labels: rt4chart label")
    console.print("for a page to share: rt4chart report --html", markup=False)


def _rate_table(report: PeriodReport, measure: Measure) -> Table:
    table = Table("route", "service", measure, "95%", "before", "claims", "answers", box=None)
    for route in report.routes:
        now, sums = route.now.rate_of(measure), route.now.sums_of(measure)
        before = route.before.rate_of(measure).value if route.before else None
        figures = (percent(now.value), interval(now), percent(before))
        table.add_row(*_names(route), *figures, f"{sums.claims:,}", f"{sums.answers:,}")
    return table


def _status_table(report: PeriodReport) -> Table | None:
    """The statuses of the claims of each route that has any to show."""
    table = Table("route", "service", "status", "of claims", "before", box=None)
    for route in report.routes:
        for row in route.statuses:
            status = printable(status_label(row.status))
            table.add_row(*_names(route), status, percent(row.share), percent(row.before))
    return table if table.row_count else None


def _criteria_table(report: PeriodReport) -> Table | None:
    """The custom criteria of each route."""
    table = Table("route", "service", "criterion", "fails", "95%", "answers", box=None)
    for route in report.routes:
        for one in route.criteria:
            counts = f"{one.of.failed:,} of {one.of.decided:,}"
            figures = (percent(one.rate.value), interval(one.rate), counts)
            table.add_row(*_names(route), one.of.name, *figures)
    return table if table.row_count else None


def _corrected_tables(report: PeriodReport) -> Iterator[Table]:
    """The rates that labels correct, by measure; none where no claims were drawn for labels."""
    rows = [(route, found) for route in report.routes if (found := route.corrected) is not None]
    columns = ("corrected", "95%", "labels", "needed", "drawn")
    unfaithful = Table("route", "service", "unfaithful", *columns, box=None)
    misleading = Table("route", "service", "misleading", *columns, box=None)
    for route, found in rows:
        unfaithful.add_row(*_names(route), percent(found.raw), *_corrected_cells(found))
        if (other := found.of_misleading) is not None:
            raw = route.now.misleading_rate.value
            misleading.add_row(*_names(route), percent(raw), *_corrected_cells(other))
    misleading.caption = (
        f"needed: more labels for a corrected rate, then for {GOAL_POINTS}; drawn: the share "
        "of the claims that had a chance of being labelled, of which the corrected rate is"
    )
    misleading.caption_justify = "left"
    if rows:
        yield from (unfaithful, misleading)


def _corrected_cells(found: RouteRate) -> Sequence[str]:
    rate = found.corrected.rate
    return (
        percent(rate.value),
        interval(rate),
        f"{found.corrected.labels:,}",
        "–" if found.labels_to_goal is None else f"{found.labels_to_goal:,}",
        percent(found.covered),
    )


def _names(route: RouteReport) -> tuple[str, str]:
    return printable(route.now.route) or "-", printable(route.now.service)
