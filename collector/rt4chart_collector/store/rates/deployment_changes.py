"""The attributes of a deployment that changed in a route around a time."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read

SECOND_NS = 1_000_000_000
# The attribute's name and column, in the order of equal changes.
ATTRIBUTES = {
    "release": "Release",
    "prompt_version": "PromptVersion",
    "model": "Model",
    "environment": "Environment",
}
LISTED = ", ".join(f"('{name}', toString({column}))" for name, column in ATTRIBUTES.items())
# Every answer that was seen counts, verified or not.
SHARES = f"""
SELECT part.1 AS attribute, part.2 AS value, toUnixTimestamp(min(Tick)) AS first_s,
    sumIf(Answers, Tick < toDateTime({{at:Int64}}, 'UTC')) AS before,
    sumIf(Answers, Tick >= toDateTime({{at:Int64}}, 'UTC')) AS after
FROM rt4chart_route_5m
ARRAY JOIN [{LISTED}] AS part
WHERE ServiceName = {{service:String}} AND Route = {{route:String}}
  AND VerifierId = {{verifier:String}}
  AND Tick >= toDateTime({{since:Int64}}, 'UTC') AND Tick < toDateTime({{until:Int64}}, 'UTC')
GROUP BY attribute, value HAVING sum(Answers) > 0
ORDER BY attribute, before + after DESC, value LIMIT {{limit:UInt32}} BY attribute
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class DeploymentChange:
    """A value of an attribute, with its share of the answers before and after.

    `first_ns` is the tick in which it was first seen, in the time that was looked at.
    """

    attribute: str
    value: str
    first_ns: int
    before: float
    after: float
    answers_after: int


@dataclass(frozen=True, slots=True)
class _Share:
    attribute: str
    value: str
    first_s: int
    before: int
    after: int


def changes(
    client: Client,
    *,
    service: str,
    route: str,
    verifier: str,
    at_ns: int,
    since_ns: int,
    until_ns: int,
    least: float = 0.1,
    limit: int = 10,
) -> list[DeploymentChange]:
    """The values whose share of the answers moved by `least` or more at `at_ns`, most moved first.

    Before is from `since_ns` on, after up to `until_ns`. Nothing where either has no answer. An
    answer without the attribute has the value "". At most 200 values of an attribute are looked at.
    """
    given = {
        "service": service,
        "route": route,
        "verifier": verifier,
        "at": at_ns // SECOND_NS,
        "since": since_ns // SECOND_NS,
        "until": until_ns // SECOND_NS,
        "limit": 200,
    }
    rows = read(client, _Share, SHARES, given)
    before, after = (dict.fromkeys(ATTRIBUTES, 0) for _ in range(2))
    for row in rows:
        before[row.attribute] += row.before
        after[row.attribute] += row.after
    found = [
        DeploymentChange(
            row.attribute,
            row.value,
            row.first_s * SECOND_NS,
            row.before / before[row.attribute],
            row.after / after[row.attribute],
            row.after,
        )
        for row in rows
        if before[row.attribute] > 0 and after[row.attribute] > 0
    ]
    order = list(ATTRIBUTES)
    moved = [one for one in found if abs(one.after - one.before) >= least]
    # New values come before those that went.
    return sorted(
        moved,
        key=lambda one: (
            one.after < one.before,
            -abs(one.after - one.before),
            order.index(one.attribute),
            one.value,
        ),
    )[:limit]
