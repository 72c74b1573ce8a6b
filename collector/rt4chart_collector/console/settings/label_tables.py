"""The tables of the health page on labels: the judge on each route, and the agreement of raters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from otel_rt4chart.verify.core.rates import Rate
from otel_rt4chart.verify.rates.agreement import Agreement
from otel_rt4chart.verify.rates.judge_quality import JudgeQuality
from otel_rt4chart.verify.rates.reliability import ReliabilityBin
from rt4chart_collector.console.view.corrected import quality_cell
from rt4chart_collector.console.view.filters import link, percent
from rt4chart_collector.console.view.table import CellValue, Column, TableLayout
from rt4chart_collector.console.view.urls import route_url
from rt4chart_collector.labelling.status import agreement_text, missing_text
from rt4chart_collector.store.labels.corrected_rates import RouteRate
from rt4chart_collector.store.labels.rater_agreement import RaterAgreement

POOR = "agrees with the others hardly more than chance: the labels count all the same"


@dataclass(frozen=True, slots=True)
class RaterRow:
    """A rater with the agreement with all others."""

    name: str
    labels: int
    kappa: Agreement
    is_poor: bool


def rater_rows(found: RaterAgreement) -> list[RaterRow]:
    """Each rater, those who may label at random first."""
    rows = [
        RaterRow(name, number, found.by_rater[name], name in found.poor_raters)
        for name, number in found.labels.items()
    ]
    return sorted(rows, key=lambda row: not row.is_poor)


def _of_quality(value: Callable[[JudgeQuality], CellValue]) -> Callable[[RouteRate], CellValue]:
    return lambda row: None if row.quality is None else value(row.quality)


def _share_columns(
    name: str, hint: str, share: Callable[[JudgeQuality], Rate]
) -> tuple[Column[RouteRate], ...]:
    """A share with its interval; the bounds are exported only."""
    return (
        Column(
            name,
            name.capitalize(),
            _of_quality(lambda found: share(found).value),
            lambda row: "–" if row.quality is None else quality_cell(share(row.quality)),
            hint=hint,
        ),
        _exported(f"{name}_low", _of_quality(lambda found: share(found).low)),
        _exported(f"{name}_high", _of_quality(lambda found: share(found).high)),
    )


def _exported(name: str, value: Callable[[RouteRate], CellValue]) -> Column[RouteRate]:
    return Column(name, name, value, is_exported_only=True)


def _route_cell(row: RouteRate) -> Markup:
    return link(route_url(row.service, row.route), row.route or "(no route)")


def _span_cell(row: ReliabilityBin) -> str:
    return f"{row.low:.1f} to {row.high:.1f}"


def _stated_cell(row: ReliabilityBin) -> str:
    return percent(row.confidence)


def _kappa_cell(row: RaterRow) -> Markup | str:
    if not row.kappa.claims:
        return "no claim with another label"
    text = agreement_text(row.kappa)
    return Markup('<span class="wrong">{}: {}</span>').format(text, POOR) if row.is_poor else text


_JUDGE_COLUMNS: Sequence[Column[RouteRate]] = (
    _exported("service", lambda row: row.service),
    Column("route", "Route", lambda row: row.route, _route_cell),
    *_share_columns(
        "precision", "of the claims that the judge flags, how many are wrong", lambda q: q.precision
    ),
    *_share_columns("recall", "of the wrong claims, how many the judge flags", lambda q: q.recall),
    Column("labels", "Labels", lambda row: row.corrected.labels, is_number=True),
    Column("missing", "Missing", missing_text),
)
JUDGE: TableLayout[RouteRate] = TableLayout(
    "judge",
    "The judge, by labels",
    _JUDGE_COLUMNS,
    "No route of this time range has drawn claims.",
)
RELIABILITY: TableLayout[ReliabilityBin] = TableLayout(
    "reliability",
    "Right verdicts by confidence",
    (
        Column("confidence", "Confidence", lambda row: row.low, _span_cell),
        Column("stated", "Stated on average", lambda row: row.confidence, _stated_cell),
        Column(
            "right",
            "Right",
            lambda row: row.right.value,
            lambda row: quality_cell(row.right),
            hint="of the claims with such a confidence, on how many labels agree with the verdict",
        ),
        Column("right_low", "Low", lambda row: row.right.low, is_exported_only=True),
        Column("right_high", "High", lambda row: row.right.high, is_exported_only=True),
        Column("labels", "Labels", lambda row: row.labels, is_number=True),
    ),
    "No label of this time range counts in a corrected rate yet.",
)
RATERS: TableLayout[RaterRow] = TableLayout(
    "raters",
    "Raters",
    (
        Column("rater", "Rater", lambda row: row.name),
        Column("labels", "Labels", lambda row: row.labels, is_number=True),
        Column(
            "kappa",
            "Agreement with the others",
            lambda row: row.kappa.value,
            _kappa_cell,
            hint="Cohen's kappa on claims that others labelled too: 1 is perfect, 0 is chance",
        ),
        Column("low", "Low", lambda row: row.kappa.low, is_exported_only=True),
        Column("high", "High", lambda row: row.kappa.high, is_exported_only=True),
        Column("claims", "Claims", lambda row: row.kappa.claims, is_exported_only=True),
        Column("is_poor", "Is poor", lambda row: row.is_poor, is_exported_only=True),
    ),
    "No labels in this time range.",
)
