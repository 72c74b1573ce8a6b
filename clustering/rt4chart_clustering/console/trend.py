"""Failures a day, as bars that are part of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rt4chart_collector.store.issues.issue_figures import FigurePart

WIDTH, HEIGHT, FOOT, GAP = 720.0, 120.0, 18.0, 0.25


@dataclass(frozen=True, slots=True)
class Bar:
    """A day (ISO 8601, UTC) with its failures, what they stand for, and where its bar is drawn."""

    day: str
    claims: int
    weighted: float
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Trend:
    """The days in order, today last; `most` failures stand at the top of the picture."""

    bars: tuple[Bar, ...]
    most: int

    @property
    def claims(self) -> int:
        """All failures of these days."""
        return sum(one.claims for one in self.bars)


def trend_of(parts: Sequence[FigurePart], *, now_ns: int, days: int) -> Trend:
    """The last `days` days; a part is a day by its ISO name, one that is missing had no failure."""
    today = datetime.fromtimestamp(now_ns // 10**9, UTC).date()
    names = [(today - timedelta(days=back)).isoformat() for back in range(days - 1, -1, -1)]
    told = {part.name: part for part in parts}
    found = [told.get(name, FigurePart(name, 0, 0.0)) for name in names]
    most = max((part.claims for part in found), default=0)
    step, room = WIDTH / days, HEIGHT - FOOT
    bars = (
        Bar(
            day=part.name,
            claims=part.claims,
            weighted=part.weighted,
            x=round(at * step + step * GAP / 2, 1),
            # A day with a failure among many is still seen.
            y=round(
                room - (height := max(room * part.claims / most, 2.0) if part.claims else 0), 1
            ),
            width=round(step * (1 - GAP), 1),
            height=round(height, 1),
        )
        for at, part in enumerate(found)
    )
    return Trend(tuple(bars), most)
