"""The sampling rates that the monitor set: each until a time; a route's last rate counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from rt4chart_collector.store.engine.columns import Route, ServiceName
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    TIME,
    TIME_MS,
    RowTable,
    StoredAs,
    batch_token,
    read,
)

MS = 1_000_000


@dataclass(frozen=True, slots=True)
class SamplingRateRow:
    """A route's sampling rate with its reason, from `at_ns` to `until_ns` or the next rate."""

    service: ServiceName
    route: Route
    at_ns: Annotated[int, StoredAs("At", TIME)]
    rate: Annotated[float, StoredAs("Rate", "Float64")]
    until_ns: Annotated[int, StoredAs("Until", TIME_MS)]
    reason: Annotated[str, StoredAs("Reason", LOW_CARDINALITY)]


RATES = RowTable("rt4chart_sampling_rates", SamplingRateRow)
RATES_SINCE = f"""
SELECT {RATES.select()} FROM rt4chart_sampling_rates FINAL
WHERE ({{service:String}} = '' OR ServiceName = {{service:String}})
  AND At >= fromUnixTimestamp64Nano({{since:Int64}})
ORDER BY At DESC, ServiceName, Route LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names
RATES_IN_FORCE = f"""
SELECT {RATES.select()} FROM (
    SELECT * FROM rt4chart_sampling_rates FINAL
    WHERE ({{service:String}} = '' OR ServiceName = {{service:String}})
      AND At <= fromUnixTimestamp64Nano({{now:Int64}})
    ORDER BY ServiceName, Route, At DESC LIMIT 1 BY ServiceName, Route
)
WHERE Until > fromUnixTimestamp64Milli({{now_ms:Int64}})
ORDER BY ServiceName, Route LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names


def record_rates(client: Client, rates: Sequence[SamplingRateRow]) -> None:
    """Write the rates; a rate that has already ended cancels the earlier rate of its route."""
    token = batch_token("rates", [(row.service, row.route, row.at_ns) for row in rates])
    RATES.insert(client, rates, token=token)


def rates_in_force(
    client: Client, *, now_ns: int, service: str = "", limit: int = 1000
) -> list[SamplingRateRow]:
    """The current rate of each route that has one, at most `limit`; "" takes all services."""
    parameters = {"now": now_ns, "now_ms": now_ns // MS, "service": service, "limit": limit}
    return read(client, SamplingRateRow, RATES_IN_FORCE, parameters)


def rates_since(
    client: Client, *, since_ns: int, service: str = "", limit: int = 1000
) -> list[SamplingRateRow]:
    """The rates set since then, the newest first."""
    return read(
        client,
        SamplingRateRow,
        RATES_SINCE,
        {"since": since_ns, "service": service, "limit": limit},
    )
