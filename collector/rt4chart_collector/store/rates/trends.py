"""Routes over time: their trends, and the deployments first seen in a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.rates.deployment_changes import ATTRIBUTES

SECOND_NS = 1_000_000_000
TREND = """
SELECT ServiceName AS service, Route AS route,
    intDiv(toUnixTimestamp(Tick) - {since:Int64}, {step:UInt32}) AS step_number,
    sum(Answers) AS answers,
    sumIf(Answers * Unfaithful / SampleRate, SampleRate > 0 AND Decision = 'verified')
        AS unfaithful,
    sumIf(Answers * Decided / SampleRate, SampleRate > 0 AND Decision = 'verified') AS decided
FROM rt4chart_route_5m
WHERE VerifierId = {verifier:String}
  AND Tick >= toDateTime({since:Int64}, 'UTC') AND Tick < toDateTime({until:Int64}, 'UTC')
GROUP BY ServiceName, Route, step_number HAVING answers > 0
ORDER BY ServiceName, Route, step_number
"""
LISTED = ", ".join(f"('{name}', toString({column}))" for name, column in ATTRIBUTES.items())
# Values from a route's first hour are no deployments.
FIRST_SEEN = f"""
SELECT part.1 AS attribute, part.2 AS value, toUnixTimestamp(min(Tick)) AS at_s
FROM rt4chart_route_5m
ARRAY JOIN [{LISTED}] AS part
WHERE ServiceName = {{service:String}} AND Route = {{route:String}}
  AND VerifierId = {{verifier:String}} AND value != ''
  AND Tick >= toDateTime({{before:Int64}}, 'UTC') AND Tick < toDateTime({{until:Int64}}, 'UTC')
GROUP BY attribute, value
HAVING sum(Answers) > 0 AND at_s >= {{since:Int64}} AND at_s > (
    SELECT toUnixTimestamp(min(Tick)) + 3600 FROM rt4chart_route_5m
    WHERE ServiceName = {{service:String}} AND Route = {{route:String}}
      AND VerifierId = {{verifier:String}} AND Tick >= toDateTime({{before:Int64}}, 'UTC')
)
ORDER BY at_s, attribute, value LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class Trend:
    """A route's steps of a time: answers, whatever was decided, and the rate where claims were."""

    answers: tuple[int, ...]
    rates: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Deployment:
    """A value of an attribute of answers, and the tick in which it was first seen."""

    attribute: str
    value: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class _Step:
    service: str
    route: str
    step_number: int
    answers: int
    unfaithful: float
    decided: float


@dataclass(frozen=True, slots=True)
class _FirstSeen:
    attribute: str
    value: str
    at_s: int


def trends(
    client: Client, *, since_ns: int, until_ns: int, steps: int, verifier: str
) -> dict[tuple[str, str], Trend]:
    """Every route's time cut into equal steps, by (service, route)."""
    since_s, until_s = since_ns // SECOND_NS, until_ns // SECOND_NS
    step_s = max((until_s - since_s + steps - 1) // steps, 1)
    given = {"since": since_s, "until": until_s, "step": step_s, "verifier": verifier}
    rows: defaultdict[tuple[str, str], list[_Step]] = defaultdict(list)
    for row in read(client, _Step, TREND, given):
        rows[row.service, row.route].append(row)
    return {key: _trend(found, steps) for key, found in rows.items()}


def deployments(
    client: Client,
    *,
    service: str,
    route: str,
    verifier: str,
    since_ns: int,
    until_ns: int,
    limit: int = 20,
) -> list[Deployment]:
    """The models, prompt versions, releases and environments first seen in that time.

    First means: not within the week before. What a new route began with is left out.
    """
    given = {
        "service": service,
        "route": route,
        "verifier": verifier,
        "before": since_ns // SECOND_NS - 7 * 86_400,
        "since": since_ns // SECOND_NS,
        "until": until_ns // SECOND_NS,
        "limit": limit,
    }
    return [
        Deployment(row.attribute, row.value, row.at_s * SECOND_NS)
        for row in read(client, _FirstSeen, FIRST_SEEN, given)
    ]


def _trend(rows: Sequence[_Step], steps: int) -> Trend:
    answers, rates = [0] * steps, list[float | None]([None] * steps)
    for row in rows:
        at = min(max(row.step_number, 0), steps - 1)
        answers[at] += row.answers
        rates[at] = row.unfaithful / row.decided if row.decided > 0 else rates[at]
    return Trend(tuple(answers), tuple(rates))
