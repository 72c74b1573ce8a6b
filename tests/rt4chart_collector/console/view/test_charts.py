"""The figure of a route's rate: what plotly gets to draw."""

from __future__ import annotations

from typing import Any

from rt4chart_collector.console.view.charts import rate_figure
from tests.rt4chart_collector.report.test_page_trend import point

STEP_S = 3600


def test_the_interval_is_closed_where_a_step_is_missing() -> None:
    """Each unbroken run of steps is a shape of its own; nothing is drawn across the gap."""
    points = [point(at, 10) for at in (0, 1, 2, 5)]

    figure: dict[str, Any] = dict(rate_figure(points, STEP_S, [], [], None))
    band, line = figure["data"]

    assert band["x"].index(None) == 6 == band["y"].index(None)
    assert len(band["x"]) == len(band["y"]) == 6 + 1 + 4
    assert band["x"][:3] == band["x"][5:2:-1]
    assert all(low < high for low, high in zip(band["y"][:3], band["y"][5:2:-1], strict=True))
    assert line["y"][3] is None
