"""What the drift detector found, a row a route and tick: written by the monitor, read by pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.layout import NAME, Layout, Row, token_of

MOST = 20_000
SECOND_NS = 1_000_000_000
FIGURES = ("Warn", "Page", "WarnAt", "PageAt", "Baseline", "DeadBand")
DRIFT = Layout(
    "rt4chart_drift",
    (
        ("ServiceName", NAME),
        ("Route", NAME),
        ("VerifierId", NAME),
        ("Tick", "DateTime('UTC')"),
        ("State", NAME),
        *((name, "Float64") for name in FIGURES),
        ("BaselineClaims", "UInt64"),
        ("Detectable", "Float64"),
        ("Version", "UInt64"),
    ),
)
FIELDS = f"toUnixTimestamp(Tick), State, {', '.join(FIGURES)}, BaselineClaims, Detectable"
OVER_TIME = f"""
SELECT ServiceName, Route, VerifierId, {FIELDS} FROM rt4chart_drift FINAL
WHERE VerifierId = {{verifier:String}}
  AND Tick >= toDateTime({{since:Int64}}, 'UTC') AND Tick < toDateTime({{until:Int64}}, 'UTC')
  AND ({{all:UInt8}} OR ServiceName = {{service:String}} AND Route = {{route:String}})
ORDER BY ServiceName, Route, Tick DESC LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names
LATEST = f"""
SELECT ServiceName, Route, VerifierId, {FIELDS} FROM rt4chart_drift FINAL
WHERE VerifierId = {{verifier:String}} AND Tick >= toDateTime({{since:Int64}}, 'UTC')
ORDER BY ServiceName, Route, Tick DESC
LIMIT 1 BY ServiceName, Route LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class DriftRow:
    """One route's state at the end of one tick.

    `warn` and `page` are natural logarithms of the evidence without and with the dead band; the
    latter is compared with `warn_at` and `page_at`. `baseline`, `dead_band` and `detectable` are
    shares of claims; `detectable` is the smallest rise found within 90 minutes, 0: not known.
    """

    service: str
    route: str
    verifier: str
    tick_ns: int
    state: str
    warn: float
    page: float
    warn_at: float
    page_at: float
    baseline: float
    dead_band: float
    baseline_claims: int
    detectable: float


def write_drift(client: Client, rows: Sequence[DriftRow], *, version: int) -> None:
    """Write the rows in place of earlier ones of the same ticks; the higher version counts."""
    cells: list[Row] = [
        (
            one.service,
            one.route,
            one.verifier,
            one.tick_ns // SECOND_NS,
            one.state,
            one.warn,
            one.page,
            one.warn_at,
            one.page_at,
            one.baseline,
            one.dead_band,
            one.baseline_claims,
            one.detectable,
            version,
        )
        for one in rows
    ]
    DRIFT.insert(client, cells, token=token_of("drift", [(*row[:4], version) for row in cells]))


def drift_over_time(
    client: Client,
    *,
    since_ns: int,
    until_ns: int,
    verifier: str,
    route: tuple[str, str] | None = None,
    limit: int = MOST,
) -> list[DriftRow]:
    """The rows of that time by service, route and tick; of one (service, route), or of all.

    Where there are more than `limit`, the newest of the first routes.
    """
    service, name = route or ("", "")
    given: dict[str, object] = {
        "since": since_ns // SECOND_NS,
        "until": until_ns // SECOND_NS,
        "verifier": verifier,
        "all": int(route is None),
        "service": service,
        "route": name,
        "limit": limit,
    }
    found = _read(client, OVER_TIME, given)
    return sorted(found, key=lambda one: (one.service, one.route, one.tick_ns))


def latest_drift(
    client: Client, *, since_ns: int, verifier: str, limit: int = 1000
) -> dict[tuple[str, str], DriftRow]:
    """The newest row since then of each route, at most `limit` routes, by (service, route)."""
    given = {"since": since_ns // SECOND_NS, "verifier": verifier, "limit": limit}
    return {(one.service, one.route): one for one in _read(client, LATEST, given)}


def _read(client: Client, query: str, given: Mapping[str, object]) -> list[DriftRow]:
    return [
        DriftRow(service, route, verifier, tick * SECOND_NS, *rest)
        for service, route, verifier, tick, *rest in client.query(query, given).result_rows
    ]
