"""The settings of grouping inside `rt4chart up`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from otel_rt4chart.core.settings import setting
from otel_rt4chart.core.settings_parsers import OFF, Parser, integer

UNITS_S = {"": 1, "s": 1, "m": 60, "h": 3600}
SHORTEST_S, LONGEST_S = 60, 86_400


class RunCause(StrEnum):
    """Why a run of grouping started."""

    INTERVAL = "interval"
    FAILURES = "failures"
    COMMAND = "command"


def parse_interval_s(written: str) -> float:
    """Seconds of an interval such as 900, 15m or 1h, 0 for off; ValueError for another text."""
    if written in (OFF, "0"):
        return 0.0
    found = re.fullmatch(r"(\d{1,6})([smh]?)", written)
    seconds = int(found[1]) * UNITS_S[found[2]] if found else 0
    if not SHORTEST_S <= seconds <= LONGEST_S:
        raise ValueError(written)
    return float(seconds)


@dataclass(frozen=True, slots=True)
class GroupingSettings:
    """Settings of grouping in the service: `rt4chart up`."""

    grouping: float = setting(
        900.0,
        "seconds between two groupings of failures into issues; or off",
        Parser("seconds from 60 to 86400, a time such as 15m or 1h, or off", parse_interval_s),
    )
    grouping_failures: int = setting(
        20,
        "new failures after which they are grouped before that time is over; 0 is none",
        integer(0, 1_000_000, "failures"),
    )

    @property
    def is_on(self) -> bool:
        """False where RT4CHART_GROUPING is off."""
        return self.grouping > 0
