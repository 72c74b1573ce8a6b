"""Failures per day, as an SVG bar chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rt4chart_collector.store.issues.issue_figures import FigurePart

WIDTH, HEIGHT, FOOT, GAP = 720.0, 120.0, 18.0, 0.25


@dataclass(frozen=True, slots=True)
class DayBar:
    """A day (ISO 8601, UTC) with its failures, their weight, and the position of its bar."""

    day: str
    claims: int
    weighted: float
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class FailureTrend:
    """The days in order, today last; `most` is the largest number of failures."""

    bars: tuple[DayBar, ...]
    most: int

    @property
    def claims(self) -> int:
        """The failures of all days."""
        return sum(bar.claims for bar in self.bars)


def build_trend(parts: Sequence[FigurePart], *, now_ns: int, days: int) -> FailureTrend:
    """The last `days` days. Each part is named by its ISO date; missing days had no failure."""
    today = datetime.fromtimestamp(now_ns // 10**9, UTC).date()
    names = [(today - timedelta(days=back)).isoformat() for back in range(days - 1, -1, -1)]
    by_day = {part.name: part for part in parts}
    found = [by_day.get(name, FigurePart(name, 0, 0.0)) for name in names]
    most = max((part.claims for part in found), default=0)
    step, room = WIDTH / days, HEIGHT - FOOT
    bars = (
        DayBar(
            day=part.name,
            claims=part.claims,
            weighted=part.weighted,
            x=round(at * step + step * GAP / 2, 1),
            # At least two pixels, so that a single failure stays visible.
            y=round(
                room - (height := max(room * part.claims / most, 2.0) if part.claims else 0), 1
            ),
            width=round(step * (1 - GAP), 1),
            height=round(height, 1),
        )
        for at, part in enumerate(found)
    )
    return FailureTrend(tuple(bars), most)
