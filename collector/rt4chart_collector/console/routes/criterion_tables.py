"""The table of a route's custom criteria: the share of its answers that fail each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup

from rt4chart_collector.console.view.criteria import HINT, decided_cell, failing_cell
from rt4chart_collector.console.view.filters import link
from rt4chart_collector.console.view.table import Column, Table
from rt4chart_collector.store.rates.criterion_rates import CriterionRate


def criterion_table(
    found: Sequence[CriterionRate], failing_answers: Callable[[str], str]
) -> Table[Any]:
    """The criteria in the order of their names; `failing_answers` is the address of a list."""

    def name_cell(row: CriterionRate) -> Markup:
        name = link(failing_answers(row.of.name), row.of.name)
        kind = row.of.kind.replace("_", " ")
        return Markup('{} <span class="quiet">{}</span>').format(name, kind)

    columns: tuple[Column[CriterionRate], ...] = (
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
    return Table("criteria", "Criteria", found, columns)
