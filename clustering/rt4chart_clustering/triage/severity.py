"""How bad an issue is, from its weighted traffic.

    score = 25 · log₁₀(1 + d) + 25 · log₁₀(1 + 1000 · s), each at most 50

`d` are its failures a day, `s` is its share of the decided claims of its route; both are weighted
by one over the sampling rate, over the last 7 days, and a baseless or misleading claim counts half
of a contradicted one. Ten failures a day are 26 points, a hundred 50; a share of 1% is 26 points,
of 5% 43, of 10% 50. From 75 on an issue is critical, from 50 high, from 25 medium, else low.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

WINDOW_DAYS = 7
CONTRADICTED, BASELESS, MISLEADING = 1.0, 0.5, 0.5
# Half of the score each: neither traffic nor share alone makes an issue critical.
_MAX_POINTS = 50.0
_BARS = "▁▂▃▄▅▆▇█"


class SeverityLevel(StrEnum):
    """The level of severity, the worst first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


_LEVEL_SCORES = (
    (75.0, SeverityLevel.CRITICAL),
    (50.0, SeverityLevel.HIGH),
    (25.0, SeverityLevel.MEDIUM),
)


@dataclass(frozen=True, slots=True)
class Traffic:
    """An issue's failures in the last 7 days: weighted sums, and the days that they lie in.

    `decided` are the weighted decided claims of its route in that time: of answers that were
    checked, if the claims of the issue mislead. `days` are 1 to 7, fewer for an issue that is
    younger. `daily` are weighted failures a day, oldest first, today's last.
    """

    contradicted: float = 0.0
    baseless: float = 0.0
    misleading: float = 0.0
    decided: float = 0.0
    days: float = float(WINDOW_DAYS)
    daily: tuple[float, ...] = (0.0,) * WINDOW_DAYS

    @property
    def harm(self) -> float:
        """The failures, with contradicted ones counting most."""
        unfaithful = CONTRADICTED * self.contradicted + BASELESS * self.baseless
        return unfaithful + MISLEADING * self.misleading

    @property
    def failures(self) -> float:
        """The failures of every label."""
        return self.contradicted + self.baseless + self.misleading

    @property
    def a_day(self) -> float:
        """The failures a day."""
        return self.failures / self.days

    @property
    def share(self) -> float | None:
        """The failures' share of the route's decided claims; None if none was decided."""
        if self.decided <= 0:
            return None
        return min(self.failures / self.decided, 1.0)


@dataclass(frozen=True, slots=True)
class IssueSeverity:
    """`score` is from 0 to 100, computed from `a_day` and `share`."""

    score: float
    level: SeverityLevel
    a_day: float
    share: float


def severity_of(traffic: Traffic) -> IssueSeverity:
    """The severity by the formula above."""
    a_day = traffic.harm / max(traffic.days, 1.0)
    share = min(traffic.harm / traffic.decided, 1.0) if traffic.decided > 0 else 0.0
    score = _points(a_day) + _points(1000 * share)
    level = next((level for least, level in _LEVEL_SCORES if score >= least), SeverityLevel.LOW)
    return IssueSeverity(score, level, a_day, share)


def sparkline(daily: tuple[float, ...]) -> str:
    """One bar a day, scaled to the highest; days without a failure are dots."""
    most = max(daily, default=0.0)
    return "".join(
        _BARS[math.ceil(len(_BARS) * one / most) - 1] if one > 0 else "·" for one in daily
    )


def _points(quantity: float) -> float:
    return min(25 * math.log10(1 + max(quantity, 0.0)), _MAX_POINTS)
