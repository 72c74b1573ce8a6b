"""The policy of the drift detector: its rule and the accepted number of false alarms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from otel_rt4chart.core.errors import InputError

TICK_S = 300
TICK_NS = TICK_S * 10**9
TICKS_A_MONTH, TICKS_A_WEEK = 30 * 24 * 3600 // TICK_S, 7 * 24 * 3600 // TICK_S
HOUR_NS = 3600 * 10**9
DAY_NS = 24 * HOUR_NS
DriftRule = Literal["evidence", "threshold", "window"]
RULES: tuple[DriftRule, ...] = ("evidence", "threshold", "window")


@dataclass(frozen=True, slots=True)
class DriftPolicy:
    """When a route alerts; the same for all routes of a store.

    `threshold` (a share of claims) is for the rule "threshold", `points` (a rise, also a share) for
    "window"; both use the last `minutes` and need `least_claims` in them. An alarm that nobody ends
    becomes the new baseline after `settle_days`.
    """

    false_alarms_per_month: float = 1.0
    routes: int = 1
    rule: DriftRule = "evidence"
    threshold: float = 0.15
    points: float = 0.03
    minutes: int = 60
    least_claims: int = 100
    settle_days: int = 7

    def __post_init__(self) -> None:
        """Reject values out of range."""
        if self.rule not in RULES:
            raise InputError(f"expected a drift rule of {', '.join(RULES)}, got {self.rule!r}")
        for name in ("false_alarms_per_month", "routes", "minutes", "settle_days"):
            if not getattr(self, name) > 0:
                raise InputError(
                    f"{name} of the drift policy: expected a number above 0, "
                    f"got {getattr(self, name)}"
                )
        for name in ("threshold", "points"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(
                    f"{name} of the drift policy: expected a share between 0 and 1 (0.03 is 3 "
                    f"points), got {getattr(self, name)}"
                )

    @property
    def page_at(self) -> float:
        """The natural logarithm of the evidence that raises an alarm.

        Without a rise, a Shiryaev-Roberts sum grows by at most one per tick on average, so it takes
        at least this many ticks to get there (arXiv 2203.03532, theorem 2.4). The allowed false
        alarms are those of all routes together.
        """
        return self._reached_in(TICKS_A_MONTH)

    @property
    def warn_at(self) -> float:
        """The same for a warning: as many are allowed by chance in a week as alarms in a month."""
        return self._reached_in(TICKS_A_WEEK)

    def _reached_in(self, ticks: int) -> float:
        return _log_of_ticks(ticks, self.routes, self.false_alarms_per_month)


# Every tick of every route asks for it.
@lru_cache(maxsize=64)
def _log_of_ticks(ticks: int, routes: int, false_alarms: float) -> float:
    return math.log(max(ticks * routes / false_alarms, math.e))
