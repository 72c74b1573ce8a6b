"""The result of the drift detector for one tick of a route."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rt4chart_collector.detect.drift.baseline import Baseline

State = Literal["cold", "calm", "warn", "page"]


@dataclass(frozen=True, slots=True)
class DriftFinding:
    """The state of a route after a tick.

    With the rule "evidence", `warn` is the logarithm of the evidence of any rise and `beyond` that
    of one beyond the dead band; `page` is the smaller of both, the latter with its allowance.
    `warn_at` and `page_at` are what `page` makes the state by. With the other rules `page` is the
    share or the rise that they measured, `warn` the same, and `warn_at` and `page_at` their bound.
    `began_ns` is when the rise began, 0 in the states cold and calm. `detectable` is the smallest
    rise that is found within 90 minutes in half of the cases, a share of claims, None where there
    is none. `answers_per_hour` are the verified ones of the trailing hour and a half,
    `traffic_per_hour` all that they stand for. `reason` says in a sentence why the route is cold,
    or whose baseline it is measured against.
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
