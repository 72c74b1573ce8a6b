"""The columns of the overview."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.console.routes.route_rows import (
    STEPS,
    RouteRow,
    route_columns,
)
from rt4chart_collector.console.view.table import Table
from rt4chart_collector.store.rates.traffic import coverage_of
from rt4chart_collector.store.rates.trends import RouteTrend
from tests.rt4chart_collector.report.test_page_trend import point

WHOLE = point(0, 10).slice


def test_the_share_of_undecided_claims_stands_beside_the_rates() -> None:
    """A column of its own, of decided and undecided claims: the rates are of the decided ones."""
    decided = WHOLE.sums.wm
    weighted = replace(WHOLE.weighted, undecided=decided, undecided_squared=decided)
    half = replace(WHOLE, undecided=int(decided), weighted=weighted)
    row = RouteRow(
        half, coverage_of(None), RouteTrend((0,) * STEPS, (None,) * STEPS), 1.0, None, ()
    )
    columns = route_columns(Measure.UNFAITHFUL)

    table = Table("routes", "Routes", [row], columns)

    assert [column.title for column in table.visible_columns][:4] == [
        "Route",
        "Unfaithful claims",
        "Misleading claims",
        "Undecided",
    ]
    assert table.visible_columns[3].cell(row) == "50.0%"
    assert table.as_json()[0]["undecided"] == 0.5
