"""Routes over time: trends, deployments, and attributes that changed around a time."""

from __future__ import annotations

from dataclasses import dataclass

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.grains import TIMES, Grain, sums_of, total
from rt4chart_collector.store.engine.rows import read, read_by
from rt4chart_collector.store.engine.scope import MAX_ROUTES, QueryScope

SECOND_NS = 1_000_000_000
# The attribute's name and column, in the order of equal changes.
ATTRIBUTES = {
    "release": "Release",
    "prompt_version": "PromptVersion",
    "model": "Model",
    "environment": "Environment",
}
ATTRIBUTE_PAIRS = ", ".join(
    f"('{name}', toString({column}))" for name, column in ATTRIBUTES.items()
)
# Every answer counts, verified or not.
ATTRIBUTE_SHARES = f"""
SELECT *, sum(before) OVER (PARTITION BY attribute) AS all_before,
    sum(after) OVER (PARTITION BY attribute) AS all_after,
    count() OVER (PARTITION BY attribute) AS values
FROM (
    SELECT part.1 AS attribute, part.2 AS value,
        toUnixTimestamp(min(FirstTick)) * {SECOND_NS} AS first_ns,
        toUnixTimestamp(max(LastTick)) * {SECOND_NS} AS last_ns,
        sumIf(Answers, toUnixTimestamp(Tick) < {{at:Int64}}) AS before,
        sum(Answers) - before AS after
    FROM {{sums}}
    ARRAY JOIN [{ATTRIBUTE_PAIRS}] AS part
    GROUP BY attribute, value HAVING sum(Answers) > 0
)
ORDER BY attribute, before + after DESC, value LIMIT {{limit:UInt32}} BY attribute
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class DeploymentChange:
    """A value of an attribute, with its share of the answers before and after.

    `first_ns` is the first tick with the value within the window.
    """

    attribute: str
    value: str
    first_ns: int
    before: float
    after: float
    answers_after: int


@dataclass(frozen=True, slots=True)
class AttributeTraffic:
    """The answers with one value of an attribute before a time and from then on.

    `first_ns` and `last_ns` are the first and the last tick with the value within the window.
    `all_before` and `all_after` are the answers with any of the attribute's `values`, in number.
    """

    attribute: str
    value: str
    first_ns: int
    last_ns: int
    before: int
    after: int
    all_before: int
    all_after: int
    values: int


def attribute_traffic(
    client: Client, scope: QueryScope, *, at_ns: int, limit: int = 200
) -> list[AttributeTraffic]:
    """The `limit` most frequent values of each attribute, the most frequent first.

    The sums are those per five minutes, of which each is on one side of the time: a week of one
    route has thousands, while reading several tables takes the engine longer to plan.
    """
    columns = (*ATTRIBUTES.values(), "Answers", "Tick", *TIMES)
    sums = sums_of(client, scope, columns, coarsest=Grain.TICK)
    parameters = {**scope.parameters, "limit": limit, "at": -(-at_ns // SECOND_NS)}
    return read(client, AttributeTraffic, ATTRIBUTE_SHARES.replace("{sums}", sums), parameters)


def deployment_changes(
    client: Client, scope: QueryScope, *, at_ns: int, min_change: float = 0.1, limit: int = 10
) -> list[DeploymentChange]:
    """The values whose share of answers changed by `min_change` or more, largest changes first.

    Compares the scope before `at_ns` with the scope from then on; empty if either has no answer.
    An answer without the attribute has the value "". The 200 most frequent values of each attribute
    are compared; shares are those of all answers.
    """
    found = [
        DeploymentChange(
            row.attribute,
            row.value,
            row.first_ns,
            row.before / row.all_before,
            row.after / row.all_after,
            row.after,
        )
        for row in attribute_traffic(client, scope, at_ns=at_ns)
        if row.all_before > 0 and row.all_after > 0
    ]
    order = list(ATTRIBUTES)
    moved = [change for change in found if abs(change.after - change.before) >= min_change]
    # New values come before values that disappeared.
    return sorted(
        moved,
        key=lambda change: (
            change.after < change.before,
            -abs(change.after - change.before),
            order.index(change.attribute),
            change.value,
        ),
    )[:limit]


# The weighted claims that each measure counts, and those that it counts them in.
COUNTED = {
    Measure.UNFAITHFUL: ("WX", "WM"),
    Measure.MISLEADING: ("KWY", "KWM"),
    Measure.EITHER: ("KWX + KWY", "KWM"),
}
TOLERATED_S = Grain.HOUR // 10
ROUTE_STEPS = f"""
SELECT service, route, groupArray(step_number) AS numbers, groupArray(step_answers) AS answers,
    groupArray(step_counted) AS counted, groupArray(step_decided) AS decided
FROM (
    SELECT ServiceName AS service, Route AS route,
        intDiv(greatest(toUnixTimestamp(Tick) - {{first:Int64}}, 0), {{step:UInt32}})
            AS step_number,
        sum(Answers) AS step_answers, sum(Claims) + sum(Undecided) AS step_claims,
        {total("{counted}")} AS step_counted, {total("{decided}")} AS step_decided
    FROM {{sums}} GROUP BY service, route, step_number HAVING step_answers > 0
    ORDER BY step_number
)
GROUP BY service, route
ORDER BY sum(step_claims) DESC, sum(step_answers) DESC, service, route LIMIT {MAX_ROUTES}
"""  # noqa: S608 - our own names
MAX_DEPLOYMENTS = 20
# The values of a route's first hour are not deployments.
FIRST_DEPLOYMENTS = f"""
SELECT part.1 AS attribute, part.2 AS value,
    toUnixTimestamp(min(FirstTick)) * {SECOND_NS} AS at_ns
FROM (SELECT *, min(FirstTick) OVER () AS Begin FROM {{sums}})
ARRAY JOIN [{ATTRIBUTE_PAIRS}] AS part
WHERE value != ''
GROUP BY attribute, value
HAVING sum(Answers) > 0 AND at_ns >= {{since:Int64}}
    AND at_ns > (toUnixTimestamp(min(Begin)) + 3600) * {SECOND_NS}
ORDER BY at_ns DESC, attribute, value LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class RouteTrend:
    """A route over equal steps of time: all answers, and the rate of steps with decided claims."""

    answers: tuple[int, ...]
    rates: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Deployment:
    """A value of an attribute of answers, and the tick in which it was first seen."""

    attribute: str
    value: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class _Steps:
    numbers: tuple[int, ...]
    answers: tuple[int, ...]
    counted: tuple[float, ...]
    decided: tuple[float, ...]


def route_trends(
    client: Client, scope: QueryScope, *, steps: int, measure: Measure = Measure.UNFAITHFUL
) -> dict[tuple[str, str], RouteTrend]:
    """The trends of the busiest routes in equal steps, by (service, route).

    Steps of an hour or more are whole hours that end with an hour: the last may not be over, and
    the first has the rest of the scope.
    """
    first_s, end_s = scope.since_ns // SECOND_NS, scope.until_ns // SECOND_NS
    step_s = max((end_s - first_s + steps - 1) // steps, 1)
    coarsest = Grain.TICK
    if step_s >= Grain.HOUR:
        # The parts of an hour that a scope has at its ends do not make the steps longer.
        coarsest = Grain.HOUR
        step_s = max(-(-(step_s - TOLERATED_S) // Grain.HOUR), 1) * Grain.HOUR
        first_s = -(-end_s // Grain.HOUR) * Grain.HOUR - steps * step_s
    parameters = {**scope.parameters, "first": first_s, "step": step_s}
    counted, decided = COUNTED[measure]
    query = ROUTE_STEPS.replace("{counted}", counted).replace("{decided}", decided)
    weighted = ("WX", "WM") if measure is Measure.UNFAITHFUL else ("KWX", "KWY", "KWM")
    columns = ("ServiceName", "Route", "Tick", "Answers", "Claims", "Undecided", *weighted)
    query = query.replace("{sums}", sums_of(client, scope, columns, coarsest=coarsest))
    found = read_by(client, ("service", "route"), _Steps, query, parameters)
    return {route: _trend(found_steps, steps) for route, (found_steps,) in sorted(found.items())}


def deployments(
    client: Client, scope: QueryScope, *, limit: int = MAX_DEPLOYMENTS
) -> list[Deployment]:
    """The last models, prompt versions, releases and environments first seen in the scope.

    First means: not within the week before. The first values of a new route are left out.
    """
    week_before = scope.since_ns - 7 * 86_400 * SECOND_NS
    columns = (*ATTRIBUTES.values(), "Answers", "FirstTick")
    sums = sums_of(client, scope.of_time(week_before, scope.until_ns), columns)
    query = FIRST_DEPLOYMENTS.replace("{sums}", sums)
    return read(client, Deployment, query, {**scope.parameters, "limit": limit})


def _trend(found: _Steps, steps: int) -> RouteTrend:
    answers, rates = [0] * steps, list[float | None]([None] * steps)
    columns = zip(found.numbers, found.answers, found.counted, found.decided, strict=True)
    for number, of_step, counted, decided in columns:
        at = min(max(number, 0), steps - 1)
        answers[at] += of_step
        # A claim that stands for several may lift the weighted sum above the number of claims.
        rates[at] = min(counted / decided, 1.0) if decided > 0 else rates[at]
    return RouteTrend(tuple(answers), tuple(rates))
