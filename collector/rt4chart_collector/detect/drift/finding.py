"""The result of the drift detector for one tick of a route."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.detect.drift.baseline import Baseline

State = Literal["cold", "calm", "warn", "page"]
# The service and the route.
RouteKey = tuple[str, str]
# The same, and the measure that is watched.
DriftKey = tuple[str, str, Measure]


@dataclass(frozen=True, slots=True)
class DriftFinding:
    """The state of one measure of a route after a tick.

    With the rule "evidence", `warn` is the logarithm of the evidence for any rise and `beyond` for
    one beyond the dead band; `page` is the smaller of both, the latter with its allowance. The
    state is `warn` or `page` if `page` reaches `warn_at` or `page_at`. With the other rules `page`
    and `warn` are the measured share or rise, and `warn_at` and `page_at` their bound. `began_ns`
    is the beginning of the rise, 0 in the states cold and calm. `detectable` is the smallest rise
    that is found within 90 minutes in half of the cases, a share of claims, or None.
    `answers_per_hour` counts verified answers of the last 90 minutes, `traffic_per_hour` all
    answers that they represent. `reason` says why the route is cold, or whose baseline is used.
    """

    tick_ns: int
    state: State
    warn: float
    page: float
    warn_at: float
    page_at: float
    baseline: Baseline | None
    detectable: float | None
    began_ns: int
    answers_per_hour: float
    traffic_per_hour: float
    reason: str
    beyond: float = 0.0
