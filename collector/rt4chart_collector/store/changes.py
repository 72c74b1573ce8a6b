"""Which attribute of a deployment changed in a route around a time."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_collector.store.connect import Client

SECOND_NS = 1_000_000_000
# The attribute's name and column, in the order in which equal changes are told.
ATTRIBUTES = {
    "release": "Release",
    "prompt_version": "PromptVersion",
    "model": "Model",
    "environment": "Environment",
}
LISTED = ", ".join(f"('{name}', toString({column}))" for name, column in ATTRIBUTES.items())
# Every answer that was seen counts, verified or not.
SHARES = f"""
SELECT part.1 AS Attribute, part.2 AS Value, toUnixTimestamp(min(Tick)) AS First,
    sumIf(Answers, Tick < toDateTime({{at:Int64}}, 'UTC')) AS Before,
    sumIf(Answers, Tick >= toDateTime({{at:Int64}}, 'UTC')) AS After
FROM rt4chart_route_5m
ARRAY JOIN [{LISTED}] AS part
WHERE ServiceName = {{service:String}} AND Route = {{route:String}}
  AND VerifierId = {{verifier:String}}
  AND Tick >= toDateTime({{since:Int64}}, 'UTC') AND Tick < toDateTime({{until:Int64}}, 'UTC')
GROUP BY Attribute, Value HAVING sum(Answers) > 0
ORDER BY Attribute, Before + After DESC, Value LIMIT {{limit:UInt32}} BY Attribute
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class Change:
    """A value of an attribute, with its share of the answers before and after.

    `first_ns` is the tick in which it was first seen, in the time that was looked at.
    """

    attribute: str
    value: str
    first_ns: int
    before: float
    after: float
    answers_after: int


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
) -> list[Change]:
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
    rows = client.query(SHARES, given).result_rows
    before, after = (dict.fromkeys(ATTRIBUTES, 0) for _ in range(2))
    for attribute, _, _, earlier, later in rows:
        before[attribute] += earlier
        after[attribute] += later
    found = [
        Change(
            attribute,
            value,
            first * SECOND_NS,
            earlier / before[attribute],
            later / after[attribute],
            int(later),
        )
        for attribute, value, first, earlier, later in rows
        if before[attribute] > 0 and after[attribute] > 0
    ]
    order = list(ATTRIBUTES)
    moved = [one for one in found if abs(one.after - one.before) >= least]
    # What came is told before what went.
    return sorted(
        moved,
        key=lambda one: (
            one.after < one.before,
            -abs(one.after - one.before),
            order.index(one.attribute),
            one.value,
        ),
    )[:limit]
