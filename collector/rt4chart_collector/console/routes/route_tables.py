"""The tables of the route page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from markupsafe import Markup

from rt4chart_collector.console.view.filters import (
    count,
    interval,
    label,
    link,
    percent,
    shortened,
    when,
)
from rt4chart_collector.console.view.table import Column, Table, TableLayout
from rt4chart_collector.console.view.urls import answer_url, issue_url
from rt4chart_collector.core.times import iso
from rt4chart_collector.store.answers.answers import WorstAnswer
from rt4chart_collector.store.issues.issue_figures import GrownDocument, GrownIssue
from rt4chart_collector.store.rates.claim_rates import RatePoint, RateSlice
from rt4chart_collector.store.rates.trends import Deployment

_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class GrownIssueRow:
    """An issue that grew, with its title."""

    issue: GrownIssue
    title: str


def slice_table(
    name: str, title: str, slices: Sequence[RateSlice], points: Sequence[RatePoint] = ()
) -> Table[Any]:
    """Rates by a dimension, or over time if `points` are given."""
    rows = [
        (rates, iso(points[at].start_ns) if points else rates.key)
        for at, rates in enumerate(slices)
    ]
    key = "time" if points else name
    columns: Sequence[Column[tuple[RateSlice, str]]] = (
        Column(key, title.removesuffix("s"), lambda row: row[1], lambda row: row[1] or "(none)"),
        Column("rate", "Unfaithful", lambda row: row[0].rate.value, _rate_cell),
        Column("low", "Low", lambda row: row[0].rate.low, is_exported_only=True),
        Column("high", "High", lambda row: row[0].rate.high, is_exported_only=True),
        Column(
            "contradicted",
            "Contradicted",
            lambda row: row[0].contradicted_rate.value,
            lambda row: percent(row[0].contradicted_rate.value),
            is_number=True,
        ),
        Column(
            "baseless",
            "Baseless",
            lambda row: row[0].baseless_rate.value,
            lambda row: percent(row[0].baseless_rate.value),
            is_number=True,
        ),
        Column("claims", "Claims", lambda row: row[0].claims, _claims_cell, is_number=True),
        Column("answers", "Answers", lambda row: row[0].answers, _answers_cell, is_number=True),
    )
    return Table(name, title, rows, columns, "No answers in this time range.")


def deployment_table(found: Sequence[Deployment]) -> Table[Any]:
    """Deployments first seen in the time range."""
    columns: Sequence[Column[Deployment]] = (
        Column(
            "at",
            "First seen",
            lambda deployment: iso(deployment.at_ns),
            lambda deployment: when(deployment.at_ns),
        ),
        Column("attribute", "Kind", lambda deployment: deployment.attribute.replace("_", " ")),
        Column("value", "Value", lambda deployment: deployment.value),
    )
    empty = "No new model, prompt version, release or environment in this time range."
    return Table("deployments", "Deployments", found, columns, empty)


def _rate_cell(row: tuple[RateSlice, str]) -> Markup:
    return Markup('<strong>{}</strong> <span class="interval">{}</span>').format(
        percent(row[0].rate.value), interval(row[0].rate)
    )


def _claims_cell(row: tuple[RateSlice, str]) -> str:
    return count(row[0].claims)


def _answers_cell(row: tuple[RateSlice, str]) -> str:
    return count(row[0].answers)


def _issue_cell(row: GrownIssueRow) -> Markup:
    return link(issue_url(row.issue.id), row.title or f"issue {row.issue.id:016x}")


def _hourly_column(name: str, title: str, failures: Callable[[_Row], float]) -> Column[_Row]:
    return Column(
        name,
        title,
        lambda row: round(failures(row), 2),
        lambda row: f"{failures(row):.2f}",
        is_number=True,
    )


def _answer_cell(row: WorstAnswer) -> Markup:
    claim = row.index if row.index >= 0 else None
    text = shortened(row.claim) or "its claims are no longer stored"
    return link(answer_url(row.trace_id, row.span_id, claim), text)


ISSUES: TableLayout[GrownIssueRow] = TableLayout(
    "issues",
    "Issues that grew",
    (
        Column("issue", "Issue", lambda row: f"{row.issue.id:016x}", _issue_cell),
        Column("title", "Title", lambda row: row.title, is_exported_only=True),
        _hourly_column("before", "Failures/h before", lambda row: row.issue.before),
        _hourly_column("after", "Failures/h now", lambda row: row.issue.after),
        Column("claims", "Claims", lambda row: row.issue.claims, is_number=True),
    ),
    "No issue of this route grew in this time range. rt4chart cluster groups failures into issues.",
)
DOCUMENTS: TableLayout[GrownDocument] = TableLayout(
    "documents",
    "Documents with more failures",
    (
        Column("document", "Document", lambda row: row.id, lambda row: shortened(row.id, 80)),
        _hourly_column("before", "Failures/h before", lambda row: row.before),
        _hourly_column("after", "Failures/h now", lambda row: row.after),
        Column("claims", "Claims", lambda row: row.claims, is_number=True),
    ),
    "No document has more failures than in the period before.",
)
WORST: TableLayout[WorstAnswer] = TableLayout(
    "worst",
    "Worst answers",
    (
        Column("at", "When", lambda row: iso(row.time_ns), lambda row: when(row.time_ns)),
        Column("label", "Worst claim", lambda row: row.label, lambda row: label(row.label)),
        Column("claim", "Claim", lambda row: row.claim, _answer_cell),
        Column("unfaithful", "Unfaithful", lambda row: row.unfaithful, is_number=True),
        Column("decided", "Decided claims", lambda row: row.decided, is_number=True),
        Column("trace_id", "Trace", lambda row: row.trace_id, is_exported_only=True),
        Column("span_id", "Span", lambda row: row.span_id, is_exported_only=True),
    ),
    "No answers with unfaithful claims in this time range.",
)
