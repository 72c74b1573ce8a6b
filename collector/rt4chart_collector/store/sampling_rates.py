"""The sampling rates that the monitor asked for: each until a time, a route's last one counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.layout import NAME, Layout, Row, token_of

MS = 1_000_000
RATES = Layout(
    "rt4chart_sampling_rates",
    (
        ("ServiceName", NAME),
        ("Route", NAME),
        ("At", "DateTime64(9, 'UTC')"),
        ("Rate", "Float64"),
        ("Until", "DateTime64(3, 'UTC')"),
        ("Reason", NAME),
    ),
)
FIELDS = (
    "ServiceName, Route, toUnixTimestamp64Nano(At), Rate, toUnixTimestamp64Milli(Until), Reason"
)
HISTORY = f"""
SELECT {FIELDS} FROM rt4chart_sampling_rates FINAL
WHERE ({{service:String}} = '' OR ServiceName = {{service:String}})
  AND rt4chart_sampling_rates.At >= fromUnixTimestamp64Nano({{since:Int64}})
ORDER BY rt4chart_sampling_rates.At DESC, ServiceName, Route LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names
IN_FORCE = f"""
SELECT {FIELDS} FROM (
    SELECT * FROM rt4chart_sampling_rates FINAL
    WHERE ({{service:String}} = '' OR ServiceName = {{service:String}})
      AND At <= fromUnixTimestamp64Nano({{now:Int64}})
    ORDER BY ServiceName, Route, At DESC LIMIT 1 BY ServiceName, Route
)
WHERE Until > fromUnixTimestamp64Milli({{now_ms:Int64}})
ORDER BY ServiceName, Route LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class RateSet:
    """One route's rate from a time until another, unless a later one takes its place, and why."""

    service: str
    route: str
    at_ns: int
    rate: float
    until_ns: int
    reason: str


def record_rates(client: Client, rates: Sequence[RateSet]) -> None:
    """Write what was asked for; an end that is over takes a route's rate back."""
    rows: list[Row] = [
        (one.service, one.route, one.at_ns, one.rate, one.until_ns // MS, one.reason)
        for one in rates
    ]
    RATES.insert(client, rows, token=token_of("rates", [row[:3] for row in rows]))


def rates_in_force(
    client: Client, *, now_ns: int, service: str = "", limit: int = 1000
) -> list[RateSet]:
    """The last rate of each route, where it still holds, at most `limit`; "" takes all services."""
    given = {"now": now_ns, "now_ms": now_ns // MS, "service": service, "limit": limit}
    return [_rate(row) for row in client.query(IN_FORCE, given).result_rows]


def rates_since(
    client: Client, *, since_ns: int, service: str = "", limit: int = 1000
) -> list[RateSet]:
    """What was asked for since then, the newest first."""
    given = {"since": since_ns, "service": service, "limit": limit}
    return [_rate(row) for row in client.query(HISTORY, given).result_rows]


def _rate(row: Sequence[object]) -> RateSet:
    service, route, at_ns, rate, until_ms, reason = row
    return RateSet(
        str(service),
        str(route),
        int(str(at_ns)),
        float(str(rate)),
        int(str(until_ms)) * MS,
        str(reason),
    )
