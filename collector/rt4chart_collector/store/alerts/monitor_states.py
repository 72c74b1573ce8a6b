"""What the monitor knows of routes, as stored: one row a route, and one for each past hour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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

SECOND_NS = 10**9
# Rows of one insert: a route's month has some 1,400 hours.
MOST_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class MonitorState:
    """The state of a route's detectors, JSON; `fit` names the settings and the code it is for."""

    service: ServiceName
    route: Route
    verifier: VerifierId
    fit: Annotated[str, StoredAs("Fit", LOW_CARDINALITY)]
    updated_ns: Annotated[int, StoredAs("Updated", TIME_S)]
    state: Annotated[str, StoredAs("State", "String")]
    version: Version


@dataclass(frozen=True, slots=True)
class RouteHour:
    """The sums of one hour of a route for a measure, by version of the model and prompt; JSON."""

    service: ServiceName
    route: Route
    verifier: VerifierId
    measure: Annotated[Measure, StoredAs("Measure", LOW_CARDINALITY, read=Measure)]
    hour_ns: Annotated[int, StoredAs("Hour", TIME_S)]
    sums: Annotated[str, StoredAs("Sums", "String")]
    version: Version


MONITOR_STATES = RowTable("rt4chart_monitor_states", MonitorState)
ROUTE_HOURS = RowTable("rt4chart_monitor_hours", RouteHour)
STATES = f"""
SELECT {MONITOR_STATES.select()} FROM rt4chart_monitor_states FINAL
WHERE VerifierId = {{verifier:String}} AND Fit = {{fit:String}}
    AND Updated >= toDateTime({{since:Int64}}, 'UTC')
    AND (ServiceName, Route) IN {{keys:Array(Tuple(String, String))}}
"""  # noqa: S608 - our own names
HOURS = f"""
SELECT {ROUTE_HOURS.select()} FROM rt4chart_monitor_hours FINAL
WHERE VerifierId = {{verifier:String}} AND Hour >= toDateTime({{since:Int64}}, 'UTC')
    AND (ServiceName, Route) IN {{keys:Array(Tuple(String, String))}}
ORDER BY ServiceName, Route, Measure, Hour
"""  # noqa: S608


def monitor_states(
    client: Client, keys: Sequence[tuple[str, str]], *, verifier: str, fit: str, since_ns: int
) -> list[MonitorState]:
    """The states of these routes that fit and were stored since then."""
    parameters = {"verifier": verifier, "fit": fit, "since": since_ns // SECOND_NS}
    return read(client, MonitorState, STATES, {**parameters, "keys": list(keys)})


def route_hours(
    client: Client, keys: Sequence[tuple[str, str]], *, verifier: str, since_ns: int
) -> list[RouteHour]:
    """The hours of these routes since then, in order."""
    parameters = {"verifier": verifier, "since": since_ns // SECOND_NS, "keys": list(keys)}
    return read(client, RouteHour, HOURS, parameters)


def write_monitor_states(client: Client, rows: Sequence[MonitorState]) -> None:
    """Write the states; of a route's the highest version counts."""
    names = [(row.verifier, row.service, row.route, row.version) for row in rows]
    MONITOR_STATES.insert(client, rows, token=batch_token("monitor_states", names))


def write_route_hours(client: Client, rows: Sequence[RouteHour]) -> None:
    """Write the hours; of an hour's rows the highest version counts."""
    for first in range(0, len(rows), MOST_ROWS):
        page = rows[first : first + MOST_ROWS]
        names = [
            (row.verifier, row.service, row.route, row.measure.value, row.hour_ns, row.version)
            for row in page
        ]
        ROUTE_HOURS.insert(client, page, token=batch_token("monitor_hours", names))
