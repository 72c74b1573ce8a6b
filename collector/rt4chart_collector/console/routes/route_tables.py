"""The tables of the route page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from markupsafe import Markup

from otel_rt4chart.verify.core.model import ClaimStatus, status_label
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.comparison.sides import left_out_words
from rt4chart_collector.console.view.filters import (
    count,
    label,
    link,
    percent,
    shortened,
    when,
)
from rt4chart_collector.console.view.measures import HINTS, TITLES, rate_cell
from rt4chart_collector.console.view.table import Column, Table, TableLayout
from rt4chart_collector.console.view.urls import answer_url, issue_url
from rt4chart_collector.core.times import iso
from rt4chart_collector.store.answers.answers import WorstAnswer
from rt4chart_collector.store.engine.version_scope import VersionKind
from rt4chart_collector.store.issues.issue_figures import GrownDocument, GrownIssue
from rt4chart_collector.store.rates.claim_rates import RatePoint, RateSlice
from rt4chart_collector.store.rates.trends import MAX_DEPLOYMENTS, Deployment

_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class GrownIssueRow:
    """An issue that grew, with its title."""

    issue: GrownIssue
    title: str


@dataclass(frozen=True, slots=True)
class StatusRow:
    """A faulty status, the weighted number of its claims, and their share of the decided ones."""

    name: str
    claims: float
    share: float


def slice_table(
    name: str,
    title: str,
    slices: Sequence[RateSlice],
    points: Sequence[RatePoint] = (),
    *,
    number: int = 0,
) -> Table[Any]:
    """Rates by a dimension, or over time if `points` are given.

    `number` is that of all values of the dimension.
    """
    rows = [
        (rates, iso(points[at].start_ns) if points else rates.key)
        for at, rates in enumerate(slices)
    ]
    key = "time" if points else name
    columns: Sequence[Column[tuple[RateSlice, str]]] = (
        Column(key, title.removesuffix("s"), lambda row: row[1], lambda row: row[1] or "(none)"),
        *_rate_columns(Measure.UNFAITHFUL, "rate", ""),
        *_rate_columns(Measure.MISLEADING, "misleading", "misleading_"),
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
        Column(
            "claims", "Claims / answers", lambda row: row[0].claims, _claims_cell, is_number=True
        ),
        Column("answers", "Answers", lambda row: row[0].answers, is_exported_only=True),
    )
    note = "" if points else left_out_words(VersionKind(name), len(rows), number)
    total = number if note else None
    return Table(name, title, rows, columns, "No answers in this time range.", note, total=total)


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
    note = f"The last {len(found)} alone." if len(found) == MAX_DEPLOYMENTS else ""
    return Table("deployments", "Deployments", found, columns, empty, note)


def _rate_columns(
    measure: Measure, name: str, before: str
) -> tuple[Column[tuple[RateSlice, str]], ...]:
    return (
        Column(
            name,
            TITLES[measure],
            lambda row: row[0].rate_of(measure).value,
            lambda row: rate_cell(row[0], measure),
            hint=HINTS[measure],
        ),
        Column(
            f"{before}low", "Low", lambda row: row[0].rate_of(measure).low, is_exported_only=True
        ),
        Column(
            f"{before}high", "High", lambda row: row[0].rate_of(measure).high, is_exported_only=True
        ),
    )


def status_rows(rates: RateSlice | None) -> list[StatusRow]:
    """The faulty statuses that claims have, in the order of their precedence, with their shares."""
    shares = rates.status_shares if rates is not None else {}
    known = [*map(str, ClaimStatus)]
    order = sorted(shares, key=lambda name: [*known, name].index(name))
    counted = rates.statuses if rates is not None else {}
    return [StatusRow(name, counted[name], shares[name]) for name in order if counted[name] > 0]


def _claims_cell(row: tuple[RateSlice, str]) -> Markup:
    return Markup('{} <span class="quiet">/ {}</span>').format(
        count(row[0].claims), count(row[0].answers)
    )


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


def _worst_cell(row: WorstAnswer) -> Markup:
    if row.label != "entailed":
        return label(row.label)
    return Markup('{} <span class="status">{}</span>').format(
        label("misleading"), status_label(row.status)
    )


def _answer_cell(row: WorstAnswer) -> Markup:
    claim = row.index if row.index >= 0 else None
    text = shortened(row.claim, around=[row.difference]) or "its claims are no longer stored"
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
        Column("label", "Worst claim", lambda row: row.label, _worst_cell),
        Column("status", "Status", lambda row: row.status, is_exported_only=True),
        Column("claim", "Claim", lambda row: row.claim, _answer_cell, is_lead=True),
        Column("unfaithful", "Unfaithful", lambda row: row.unfaithful, is_number=True),
        Column("misleading", "Misleading", lambda row: row.misleading, is_number=True),
        Column("decided", "Decided claims", lambda row: row.decided, is_number=True),
        Column("trace_id", "Trace", lambda row: row.trace_id, is_exported_only=True),
        Column("span_id", "Span", lambda row: row.span_id, is_exported_only=True),
    ),
    "No answers with such claims in this time range.",
)
STATUSES: TableLayout[StatusRow] = TableLayout(
    "statuses",
    "Claims by status",
    (
        Column("status", "Status", lambda row: row.name, lambda row: status_label(row.name)),
        Column(
            "claims",
            "Claims, weighted",
            lambda row: round(row.claims, 2),
            lambda row: count(row.claims),
            is_number=True,
            hint="weighted by 1 / sampling rate of the answer and of the check that found it",
        ),
        Column(
            "share",
            "Share",
            lambda row: round(row.share, 6),
            lambda row: percent(row.share),
            is_number=True,
        ),
    ),
    "No claims with a status in this time range: answers verified by an earlier version have none.",
)
