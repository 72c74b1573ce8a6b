"""The figure of a route's rate: what plotly gets to draw."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from otel_rt4chart.verify.core.rates import AnswerSums, Measure
from rt4chart_collector.console.view.charts import rate_figure
from rt4chart_collector.store.alerts.drift_states import DriftRow
from tests.rt4chart_collector.report.test_page_trend import point

STEP_S = 3600
DRIFT = DriftRow(
    *("s", "r", "local/1"),
    tick_ns=0,
    state="calm",
    warn=1.0,
    page=1.0,
    warn_at=5.0,
    page_at=9.0,
    baseline=0.06,
    dead_band=0.005,
    baseline_claims=100,
    detectable=0.03,
)


def test_the_interval_is_closed_where_a_step_is_missing() -> None:
    """Each unbroken run of steps is a shape of its own; nothing is drawn across the gap."""
    points = [point(at, 10) for at in (0, 1, 2, 5)]

    figure: dict[str, Any] = dict(rate_figure(points, STEP_S, [], [], []))
    band, line = figure["data"]

    assert band["x"].index(None) == 6 == band["y"].index(None)
    assert len(band["x"]) == len(band["y"]) == 6 + 1 + 4
    assert band["x"][:3] == band["x"][5:2:-1]
    assert all(low < high for low, high in zip(band["y"][:3], band["y"][5:2:-1], strict=True))
    assert line["y"][3] is None


def test_the_figure_is_of_the_chosen_measure() -> None:
    """Steps that were not checked for it are gaps, and the baseline is that of another measure."""
    checked, unchecked = point(0, 10), point(1, 10)
    nothing = AnswerSums(0, 0, 0, 0, 0, 0, 0, 0)
    missing = replace(unchecked, slice=replace(unchecked.slice, misleading_sums=nothing))

    def drawn(measure: Measure) -> dict[str, Any]:
        return dict(rate_figure([checked, missing], STEP_S, [], [], [DRIFT], measure))

    unfaithful, misleading = drawn(Measure.UNFAITHFUL), drawn(Measure.MISLEADING)

    assert unfaithful["data"][1]["y"] == [0.25, 0.25]
    assert misleading["data"][1]["y"] == [0.0, None]
    assert misleading["data"][1]["text"][0] == "n = 40 claims of 40 answers"
    assert [note["text"] for note in unfaithful["layout"]["annotations"]] == ["baseline 6.0%"]
    assert misleading["layout"]["annotations"] == []
