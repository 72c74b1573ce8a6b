"""What the overview and a route's page show over time: small lines, and new deployments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rt4chart_collector.store.changes import ATTRIBUTES
from rt4chart_collector.store.connect import Client

SECOND_NS = 1_000_000_000
TREND = """
SELECT ServiceName, Route, intDiv(toUnixTimestamp(Tick) - {since:Int64}, {step:UInt32}) AS Step,
    sum(Answers) AS N,
    sumIf(Answers * Unfaithful / SampleRate, SampleRate > 0 AND Decision = 'verified') AS X,
    sumIf(Answers * Decided / SampleRate, SampleRate > 0 AND Decision = 'verified') AS M
FROM rt4chart_route_5m
WHERE VerifierId = {verifier:String}
  AND Tick >= toDateTime({since:Int64}, 'UTC') AND Tick < toDateTime({until:Int64}, 'UTC')
GROUP BY ServiceName, Route, Step HAVING N > 0 ORDER BY ServiceName, Route, Step
"""
LISTED = ", ".join(f"('{name}', toString({column}))" for name, column in ATTRIBUTES.items())
# What was there in a route's first hour is no deployment.
FIRST_SEEN = f"""
SELECT part.1 AS Attribute, part.2 AS Value, toUnixTimestamp(min(Tick)) AS First
FROM rt4chart_route_5m
ARRAY JOIN [{LISTED}] AS part
WHERE ServiceName = {{service:String}} AND Route = {{route:String}}
  AND VerifierId = {{verifier:String}} AND Value != ''
  AND Tick >= toDateTime({{before:Int64}}, 'UTC') AND Tick < toDateTime({{until:Int64}}, 'UTC')
GROUP BY Attribute, Value
HAVING sum(Answers) > 0 AND First >= {{since:Int64}} AND First > (
    SELECT toUnixTimestamp(min(Tick)) + 3600 FROM rt4chart_route_5m
    WHERE ServiceName = {{service:String}} AND Route = {{route:String}}
      AND VerifierId = {{verifier:String}} AND Tick >= toDateTime({{before:Int64}}, 'UTC')
)
ORDER BY First, Attribute, Value LIMIT {{limit:UInt32}}
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


def trends(
    client: Client, *, since_ns: int, until_ns: int, steps: int, verifier: str
) -> dict[tuple[str, str], Trend]:
    """Every route's time cut into equal steps, by (service, route)."""
    since_s, until_s = since_ns // SECOND_NS, until_ns // SECOND_NS
    step_s = max((until_s - since_s + steps - 1) // steps, 1)
    given = {"since": since_s, "until": until_s, "step": step_s, "verifier": verifier}
    rows: defaultdict[tuple[str, str], list[Sequence[float]]] = defaultdict(list)
    for service, route, step, answers, unfaithful, decided in client.query(
        TREND, given
    ).result_rows:
        rows[service, route].append((step, answers, unfaithful, decided))
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
        Deployment(attribute, value, int(at_s) * SECOND_NS)
        for attribute, value, at_s in client.query(FIRST_SEEN, given).result_rows
    ]


def _trend(rows: Sequence[Sequence[float]], steps: int) -> Trend:
    answers, rates = [0] * steps, list[float | None]([None] * steps)
    for step, number, unfaithful, decided in rows:
        at = min(max(int(step), 0), steps - 1)
        answers[at] += int(number)
        rates[at] = unfaithful / decided if decided > 0 else rates[at]
    return Trend(tuple(answers), tuple(rates))
