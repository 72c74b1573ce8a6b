"""How the drift benchmark's figures are written: for people, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.drift.adaptive import Adaptive


@dataclass(frozen=True, slots=True)
class Row:
    """What a way did in a scene: minutes by rise, infinite where nothing came within 24 hours."""

    way: str
    restless: bool
    per_hour: int
    months: int
    false_alarms: float
    delays: dict[float, list[float]]


def quantile(delays: Sequence[float], share: float) -> float:
    """The delay that this share of the changes did not exceed; NaN where there was no change."""
    ordered = sorted(delays)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else math.nan


def print_row(row: Row | Adaptive) -> None:
    """One line of Markdown: median/p95 minutes (share within 90 minutes) of each rise."""
    world = "restless" if row.restless else "steady"
    way = (
        row.way
        if isinstance(row, Row)
        else f"e-detector, adaptive sampling: {row.mean_per_hour:.0f}/h on average"
    )
    cells = " | ".join(_cell(delays) for delays in row.delays.values())
    print(f"| {world} | {row.per_hour} | {way} | {row.false_alarms:.2f} | {cells} |", flush=True)


def _cell(delays: Sequence[float]) -> str:
    share = sum(one <= 90 for one in delays) / max(len(delays), 1)
    return f"{_minutes(quantile(delays, 0.5))}/{_minutes(quantile(delays, 0.95))} ({share:.2f})"


def _minutes(value: float) -> str:
    return ">24h" if value == math.inf else f"{value:.0f}"


def figures(row: Row | Adaptive) -> dict[str, object]:
    """The row as JSON; a delay of more than 24 hours is null."""
    kept: dict[str, object] = {
        "way": row.way if isinstance(row, Row) else "adaptive sampling",
        "world": "restless" if row.restless else "steady",
        "answers_per_hour": row.per_hour,
        "months": row.months,
        "false_alarms_per_month": row.false_alarms,
    }
    if isinstance(row, Adaptive):
        kept |= {"mean_per_hour": row.mean_per_hour, "raised_share": row.raised_share}
    for rise, delays in row.delays.items():
        kept[f"+{rise * 100:.0f} points"] = {
            "changes": len(delays),
            "median_min": _number(quantile(delays, 0.5)),
            "p95_min": _number(quantile(delays, 0.95)),
            "within_90_min": sum(one <= 90 for one in delays) / max(len(delays), 1),
            "within_24_h": sum(one < math.inf for one in delays) / max(len(delays), 1),
        }
    return kept


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
