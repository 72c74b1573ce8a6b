"""The tables and the pairs of answers of the page that compares two versions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from markupsafe import Markup

from otel_rt4chart.core.text import clip
from otel_rt4chart.verify.core.model import status_label
from otel_rt4chart.verify.core.rates import Measure, Rate
from rt4chart_collector.comparison.compare import (
    ComparedIssue,
    IssueTurn,
    VersionComparison,
)
from rt4chart_collector.comparison.figures import ComparedRate, ComparedRates
from rt4chart_collector.comparison.sides import side_name
from rt4chart_collector.comparison.wording import difference_figures
from rt4chart_collector.console.answers.answer_side import AnswerSide, answer_side
from rt4chart_collector.console.view.filters import count, interval, link, percent
from rt4chart_collector.console.view.measures import TITLES
from rt4chart_collector.console.view.table import Column, Table
from rt4chart_collector.console.view.urls import issue_url, route_url
from rt4chart_collector.store.engine.version_scope import VersionKind

_Row = TypeVar("_Row")
MAX_ISSUES, MAX_ROUTES, QUESTION = 50, 50, 400


@dataclass(frozen=True, slots=True)
class NamedRate:
    """A row: a rate of both versions, what it is of, and the page behind the name.

    `is_fault` if a higher rate is worse; more undecided claims are neither worse nor better.
    """

    name: str
    rate: ComparedRate
    service: str = ""
    url: str = ""
    is_fault: bool = True


@dataclass(frozen=True, slots=True)
class PairView:
    """A question with the answers of both versions."""

    question: str
    service: str
    route: str
    a: AnswerSide
    b: AnswerSide

    @property
    def has_failed(self) -> bool:
        """True if an answer has a failed claim of the measure."""
        return self.a.failed > 0 or self.b.failed > 0


def comparison_tables(found: VersionComparison, measure: Measure) -> list[Table[Any]]:
    """The rates, the routes by the measure, and the issues."""
    a, b = side_name(found.a), side_name(found.b)
    issues = [*filter(_is_listed, found.issues)]
    return [
        _table("rates", "Rates", "Claims", _rate_rows(found.rates), a, b),
        _table("routes", "By route", "Route", _route_rows(found.rates, measure), a, b),
        Table(
            "issues",
            "Issues gained and lost",
            issues[:MAX_ISSUES],
            _issue_columns(a, b),
            "No issue has other failures in one version than in the other, beyond chance.",
            total=len(issues) if len(issues) > MAX_ISSUES else None,
        ),
    ]


def similar_issues(found: VersionComparison) -> int:
    """How many issues have failures in both versions, at shares that chance explains."""
    return sum(not _is_listed(issue) for issue in found.issues)


def pair_views(found: VersionComparison) -> list[PairView]:
    """The answers to one question, side by side."""
    by_judge = found.a.kind is VersionKind.VERIFIER
    return [
        PairView(
            clip(" ".join(pair.b.verdict.question[: QUESTION * 4].split()), QUESTION),
            pair.b.verdict.service,
            pair.b.verdict.route,
            answer_side(pair.a, by_judge=by_judge),
            answer_side(pair.b, by_judge=by_judge),
        )
        for pair in found.questions.pairs
    ]


def _rate_rows(rates: ComparedRates) -> list[NamedRate]:
    measures = [NamedRate(TITLES[measure], rates.measures[measure]) for measure in Measure]
    labels = [
        NamedRate(name.capitalize(), rate, is_fault=name != "undecided")
        for name, rate in rates.labels.items()
    ]
    # The label and the status of the same name count the same claims.
    statuses = [
        NamedRate(status_label(name).capitalize(), rate)
        for name, rate in rates.statuses.items()
        if name not in rates.labels
    ]
    return [row for row in (*measures, *labels, *statuses) if row.rate.answers != (0, 0)]


def _route_rows(rates: ComparedRates, measure: Measure) -> list[NamedRate]:
    """Each matched route, those that became worse first; none if there is one alone."""
    rows = [
        NamedRate(
            one.route or "(no route)",
            rates.of_measures(one)[measure],
            one.service,
            route_url(one.service, one.route),
        )
        for one in rates.matched
    ]
    rows.sort(key=lambda row: -(row.rate.difference.value or 0.0))
    return rows[:MAX_ROUTES] if len(rows) > 1 else []


def _table(
    name: str, title: str, first: str, rows: Sequence[NamedRate], a: str, b: str
) -> Table[Any]:
    columns: Sequence[Column[NamedRate]] = (
        Column("name", first, lambda row: row.name, _name_cell),
        Column("service", "Service", lambda row: row.service, is_exported_only=True),
        *_share_columns(a, b, lambda row: row.rate, lambda row: row.is_fault),
        *_n_columns(lambda row: row.rate),
    )
    return Table(name, title, rows, columns, "No decided claims.")


def _issue_columns(a: str, b: str) -> Sequence[Column[ComparedIssue]]:
    words = {
        IssueTurn.ONLY_IN_A: f"only in {clip(a, 40)}",
        IssueTurn.ONLY_IN_B: f"only in {clip(b, 40)}",
    }

    def turn(issue: ComparedIssue) -> str:
        said = words.get(issue.turn, str(issue.turn))
        return said if issue.is_told else f"{said}; may be chance"

    return (
        Column("issue", "Issue", lambda row: row.title or f"{row.id:016x}", _issue_cell),
        Column("id", "Id", lambda row: f"{row.id:016x}", is_exported_only=True),
        Column("turn", "What became of it", lambda row: str(row.turn), turn),
        Column("claims_a", f"Failures in {clip(a, 40)}", lambda row: row.claims[0], is_number=True),
        Column("claims_b", f"Failures in {clip(b, 40)}", lambda row: row.claims[1], is_number=True),
        *_share_columns(a, b, lambda row: row.share),
    )


def _share_columns(
    a: str,
    b: str,
    rate: Callable[[_Row], ComparedRate],
    is_fault: Callable[[_Row], bool] = lambda _: True,
) -> tuple[Column[_Row], ...]:
    """Both rates, and the difference with its interval."""
    hint = "b minus a in points, with the 95% interval"
    return (
        *_rate_columns("a", clip(a, 40), lambda row: rate(row).a),
        *_rate_columns("b", clip(b, 40), lambda row: rate(row).b),
        Column(
            "difference",
            "Difference",
            lambda row: rate(row).difference.value,
            lambda row: _difference_cell(rate(row), is_fault=is_fault(row)),
            hint=hint,
        ),
        Column("difference_low", "", lambda row: rate(row).difference.low, is_exported_only=True),
        Column("difference_high", "", lambda row: rate(row).difference.high, is_exported_only=True),
    )


def _rate_columns(name: str, title: str, rate: Callable[[_Row], Rate]) -> tuple[Column[_Row], ...]:
    return (
        Column(name, title, lambda row: rate(row).value, lambda row: _rate_cell(rate(row))),
        Column(f"{name}_low", "", lambda row: rate(row).low, is_exported_only=True),
        Column(f"{name}_high", "", lambda row: rate(row).high, is_exported_only=True),
    )


def _n_columns(rate: Callable[[_Row], ComparedRate]) -> tuple[Column[_Row], ...]:
    return (
        Column(
            "claims_a",
            "n",
            lambda row: rate(row).claims[0],
            lambda row: " / ".join(map(count, rate(row).claims)),
            is_number=True,
            hint="claims that the rates of both versions are of",
        ),
        Column("claims_b", "", lambda row: rate(row).claims[1], is_exported_only=True),
        Column("answers_a", "", lambda row: rate(row).answers[0], is_exported_only=True),
        Column("answers_b", "", lambda row: rate(row).answers[1], is_exported_only=True),
    )


def _name_cell(row: NamedRate) -> Markup | str:
    if not row.url:
        return row.name
    return Markup('{} <span class="quiet">{}</span>').format(link(row.url, row.name), row.service)


def _issue_cell(row: ComparedIssue) -> Markup:
    return link(issue_url(row.id), clip(row.title, 120) or "issue without a title")


def _rate_cell(rate: Rate) -> Markup:
    return Markup('{} <span class="interval">{}</span>').format(percent(rate.value), interval(rate))


def _difference_cell(found: ComparedRate, *, is_fault: bool) -> Markup:
    """The difference, with a word and a colour where it is told."""
    words = ("worse", "better") if is_fault else ("higher", "lower")
    is_told = found.difference.is_rise or found.difference.is_fall
    turn = words[found.difference.is_fall] if is_told else ""
    return Markup('<span class="difference {}">{}{}</span>').format(
        turn or "untold", difference_figures(found), f" {turn}" if turn else ""
    )


def _is_listed(issue: ComparedIssue) -> bool:
    return issue.turn is not IssueTurn.SIMILAR
