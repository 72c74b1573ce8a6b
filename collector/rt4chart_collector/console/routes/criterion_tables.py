"""The tables of custom criteria: the share of answers that fail each, of a route or of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from rt4chart_collector.console.view.criteria import HINT, decided_cell, failing_cell
from rt4chart_collector.console.view.filters import link
from rt4chart_collector.console.view.table import EMPTY_CELL, Column, Table
from rt4chart_collector.console.view.urls import route_url
from rt4chart_collector.store.rates.criterion_rates import CriteriaRates, CriterionRate


def criterion_table(
    found: Sequence[CriterionRate], failing_answers: Callable[[str], str]
) -> Table[Any]:
    """The criteria in the order of their names; `failing_answers` is the address of a list."""

    def name_cell(row: CriterionRate) -> Markup:
        name = link(failing_answers(row.of.name), row.of.name)
        kind = row.of.kind.replace("_", " ")
        return Markup('{} <span class="quiet">{}</span>').format(name, kind)

    return Table("criteria", "Criteria", found, _columns(name_cell))


@dataclass(frozen=True, slots=True)
class RouteCriterion:
    """A criterion on one route."""

    service: str
    route: str
    found: CriterionRate


def overview_table(found: CriteriaRates, failing_answers: Callable[[str], str]) -> Table[Any]:
    """The criteria over all routes, with the route on which each surely fails most."""
    worst = worst_routes(found.by_route)

    def route_cell(row: CriterionRate) -> Markup | str:
        at = worst.get(row.of.name)
        if at is None:
            return EMPTY_CELL
        name = link(route_url(at.service, at.route), at.route or "(no route)")
        return Markup("{} {}").format(name, failing_cell(at.found))

    table = criterion_table(found.together, failing_answers)
    column: Column[CriterionRate] = Column(
        "worst_route",
        "Worst route",
        lambda row: worst[row.of.name].route if row.of.name in worst else None,
        route_cell,
        hint="by the lower end of its interval",
    )
    return replace(table, columns=(*table.columns, column))


def worst_routes(
    by_route: Mapping[tuple[str, str], Sequence[CriterionRate]],
) -> dict[str, RouteCriterion]:
    """The route on which each criterion surely fails most: by the lower end of its interval.

    By the share itself, one failed answer of one would come first. A criterion that fails on one
    route alone has none.
    """
    found: dict[str, list[RouteCriterion]] = {}
    for (service, route), rates in by_route.items():
        for one in rates:
            if one.of.failed:
                found.setdefault(one.of.name, []).append(RouteCriterion(service, route, one))
    return {
        name: max(some, key=lambda one: (one.found.rate.low or 0.0, one.found.rate.value or 0.0))
        for name, some in found.items()
        if len(some) > 1
    }


def _columns(
    name_cell: Callable[[CriterionRate], Markup],
) -> tuple[Column[CriterionRate], ...]:
    return (
        Column("criterion", "Criterion", lambda row: row.of.name, name_cell),
        Column("kind", "Kind", lambda row: row.of.kind, is_exported_only=True),
        Column("fails", "Answers that fail", lambda row: row.rate.value, failing_cell, hint=HINT),
        Column("low", "Low", lambda row: row.rate.low, is_exported_only=True),
        Column("high", "High", lambda row: row.rate.high, is_exported_only=True),
        Column(
            "failed",
            "Failed / decided",
            lambda row: row.of.failed,
            decided_cell,
            is_number=True,
            hint="answers that fail, of those that pass or fail: numbers, not weighted",
        ),
        Column("decided", "Decided", lambda row: row.of.decided, is_exported_only=True),
        Column(
            "not_applicable",
            "Not applicable",
            lambda row: row.of.not_applicable,
            is_number=True,
            is_minor=True,
        ),
        Column("undecided", "Undecided", lambda row: row.of.undecided, is_number=True),
        Column("earlier", "Earlier", lambda row: row.earlier, is_exported_only=True),
        Column("judge", "Judge", lambda row: row.of.judge, is_exported_only=True),
        Column("version", "Version", lambda row: row.of.version, is_exported_only=True),
    )
