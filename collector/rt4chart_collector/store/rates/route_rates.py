"""All rates that a route's page shows, in one statement: together, over time, by each dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.filters import scope
from rt4chart_collector.store.rates.rates_by_dimension import (
    ALIKE,
    COLUMNS,
    SUMS,
    RatePoint,
    RateSlice,
    slice_of,
)

WHOLE, TIME = "whole", "time"


@dataclass(frozen=True, slots=True)
class RouteRates:
    """`whole` is None without an answer; `slices` has a list for each dimension asked for."""

    whole: RateSlice | None
    points: tuple[RatePoint, ...]
    slices: Mapping[str, Sequence[RateSlice]]


def route_rates(
    client: Client,
    dimensions: Sequence[str],
    *,
    service: str,
    route: str,
    verifier: str,
    since_ns: int,
    until_ns: int,
    step_s: int,
) -> RouteRates:
    """The same as `rates_over_time` and, for each dimension, `rates_by` of this route."""
    columns = ", ".join(f"toString({COLUMNS[name]}) AS {name}" for name in dimensions)
    start = "intDiv(toUnixTimestamp(Tick), {step:UInt32}) * {step:UInt32} AS Start"
    parts = ", ".join(f"('{name}', {name})" for name in dimensions)
    query = f"""
SELECT {{service:String}} AS S, {{route:String}} AS R, part.1 AS D, part.2 AS K, {SUMS}
FROM ({ALIKE.replace("{keys}", f"{columns}, {start}")})
ARRAY JOIN [('{WHOLE}', ''), ('{TIME}', toString(Start)), {parts}] AS part
GROUP BY D, K ORDER BY D, K
"""  # noqa: S608 - our own names
    given = {
        "verifier": verifier,
        "since": since_ns,
        "until": until_ns,
        "step": step_s,
        **scope(service, route),
    }
    found: dict[str, list[RateSlice]] = {}
    for row in client.query(query, given).named_results():
        found.setdefault(str(row["D"]), []).append(slice_of(row, key=str(row["K"])))
    times = sorted(found.get(TIME, ()), key=lambda one: int(one.key))
    return RouteRates(
        whole=next(iter(found.get(WHOLE, ())), None),
        points=tuple(RatePoint(int(one.key) * 10**9, replace(one, key="")) for one in times),
        slices={name: found.get(name, []) for name in dimensions},
    )
