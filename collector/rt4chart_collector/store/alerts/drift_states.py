"""The states of the drift detector: one row for each route, measure and five minutes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.store.engine.columns import Route, ServiceName, VerifierId, Version
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    TIME_S,
    RowTable,
    StoredAs,
    batch_token,
    read,
)

SECOND_NS = 1_000_000_000
MEASURES = "Enum8('unfaithful' = 0, 'misleading' = 1)"


@dataclass(frozen=True, slots=True)
class DriftRow:
    """The state of one measure of a route at the end of one tick.

    `warn` and `page` are natural logarithms of the evidence without and with the dead band; `page`
    is compared with `warn_at` and `page_at`. `baseline`, `dead_band` and `detectable` are shares of
    claims, of those that `measure` counts; `detectable` is the smallest rise that is found within
    90 minutes, 0 if unknown.
    """

    service: ServiceName
    route: Route
    verifier: VerifierId
    tick_ns: Annotated[int, StoredAs("Tick", TIME_S)]
    state: Annotated[str, StoredAs("State", LOW_CARDINALITY)]
    warn: Annotated[float, StoredAs("Warn", "Float64")]
    page: Annotated[float, StoredAs("Page", "Float64")]
    warn_at: Annotated[float, StoredAs("WarnAt", "Float64")]
    page_at: Annotated[float, StoredAs("PageAt", "Float64")]
    baseline: Annotated[float, StoredAs("Baseline", "Float64")]
    dead_band: Annotated[float, StoredAs("DeadBand", "Float64")]
    baseline_claims: Annotated[int, StoredAs("BaselineClaims", "UInt64")]
    detectable: Annotated[float, StoredAs("Detectable", "Float64")]
    measure: Annotated[Measure, StoredAs("Measure", MEASURES, read=Measure)] = Measure.UNFAITHFUL
    version: Version = field(default=0, compare=False)

    @property
    def evidence(self) -> float | None:
        """The evidence of a rise as a share of its threshold; None without a baseline."""
        if self.state == "cold" or self.page_at <= 0:
            return None
        return max(self.page, 0.0) / self.page_at


DRIFT = RowTable("rt4chart_drift", DriftRow)
LATEST_STATES = f"""
SELECT * FROM (
    SELECT {DRIFT.select()} FROM rt4chart_drift FINAL
    WHERE VerifierId = {{verifier:String}} AND Measure IN {{measures:Array(String)}}
        AND Tick >= toDateTime({{since:Int64}}, 'UTC')
    ORDER BY ServiceName, Route, Measure, Tick DESC LIMIT 1 BY ServiceName, Route, Measure
)
ORDER BY service, route LIMIT {{limit:UInt32}} BY measure
"""  # noqa: S608 - our own names
LATEST_OF_ROUTE = f"""
SELECT {DRIFT.select()} FROM rt4chart_drift FINAL
WHERE ServiceName = {{service:String}} AND Route = {{route:String}}
    AND VerifierId = {{verifier:String}} AND Measure = {{measure:String}}
    AND Tick >= toDateTime({{since:Int64}}, 'UTC')
ORDER BY Tick DESC LIMIT 1
"""  # noqa: S608


def write_drift(client: Client, rows: Sequence[DriftRow], *, version: int) -> None:
    """Write the rows; of rows of the same tick the highest version counts."""
    token = batch_token(
        "drift",
        [
            (row.service, row.route, row.verifier, row.tick_ns, row.measure.value, version)
            for row in rows
        ],
    )
    DRIFT.insert(client, [replace(row, version=version) for row in rows], token=token)


def latest_drift(
    client: Client,
    *,
    since_ns: int,
    verifier: str,
    measure: Measure = Measure.UNFAITHFUL,
    limit: int = 1000,
) -> dict[tuple[str, str], DriftRow]:
    """The newest row since then of each route, at most `limit` routes, by (service, route)."""
    rows = _latest(client, (measure,), since_ns=since_ns, verifier=verifier, limit=limit)
    return {(row.service, row.route): row for row in rows}


def _latest(
    client: Client, measures: Sequence[Measure], *, since_ns: int, verifier: str, limit: int = 1000
) -> list[DriftRow]:
    """The newest row since then of each of the measures, for at most `limit` routes each."""
    parameters = {
        "since": since_ns // SECOND_NS,
        "verifier": verifier,
        "measures": [measure.value for measure in measures],
        "limit": limit,
    }
    return read(client, DriftRow, LATEST_STATES, parameters)


def drift_of_route(
    client: Client, service: str, route: str, *, since_ns: int, verifier: str, measure: Measure
) -> DriftRow | None:
    """The newest row since then of one measure of a route."""
    parameters = {
        "since": since_ns // SECOND_NS,
        "verifier": verifier,
        "measure": measure.value,
        "service": service,
        "route": route,
    }
    return next(iter(read(client, DriftRow, LATEST_OF_ROUTE, parameters)), None)


def drift_of_measures(
    client: Client, *, since_ns: int, verifier: str
) -> dict[tuple[str, str], tuple[DriftRow, ...]]:
    """The newest row since then of each measure, by (service, route)."""
    found: defaultdict[tuple[str, str], tuple[DriftRow, ...]] = defaultdict(tuple)
    measures = (Measure.UNFAITHFUL, Measure.MISLEADING)
    rows = _latest(client, measures, since_ns=since_ns, verifier=verifier)
    for row in sorted(rows, key=lambda row: measures.index(row.measure)):
        found[row.service, row.route] += (row,)
    return dict(found)


def strongest_drift(rows: Sequence[DriftRow]) -> DriftRow | None:
    """The row with the most evidence of a rise, of equal ones the first."""
    return max(rows, key=lambda row: row.evidence or 0.0, default=None)
