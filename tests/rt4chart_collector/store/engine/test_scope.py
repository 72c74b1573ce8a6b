"""The scope of a query: its condition matches the rows of its time, verifier, service and route."""

from __future__ import annotations

import pytest

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope, in_scope

HOUR = 3600 * 10**9


@pytest.mark.parametrize(
    ("scope", "found"),
    [
        (QueryScope(), ["a", "b", "c", "d"]),
        (QueryScope(HOUR), ["b", "c", "d"]),
        (QueryScope(until_ns=HOUR), ["a"]),
        (QueryScope(HOUR, 2 * HOUR), ["b"]),
        (QueryScope(verifier="v"), ["a", "b", "c"]),
        (QueryScope(service="", route="x"), ["d"]),
        (QueryScope().of_route("shop", ""), ["c"]),
        (QueryScope(route="x' OR '1' = '1"), []),
    ],
)
def test_a_scope_selects_rows(client: Client, scope: QueryScope, found: list[str]) -> None:
    """None matches any name, "" is a name; the end of the time is excluded."""
    query = f"""
SELECT Id FROM values(
    'Id String, VerifierId String, ServiceName String, Route String, Hour UInt32',
    ('a', 'v', 'shop', 'x', 0), ('b', 'v', 'shop', 'x', 1), ('c', 'v', 'shop', '', 2),
    ('d', 'w', '', 'x', 3)
)
WHERE {in_scope("fromUnixTimestamp64Nano(toInt64(Hour) * 3600000000000)")} ORDER BY Id
"""  # noqa: S608 - our own names

    assert [name for (name,) in client.query(query, scope.parameters).result_rows] == found


def test_the_period_before_has_the_same_length() -> None:
    """The other conditions stay."""
    scope = QueryScope(10, 15, "v", "shop", "x")

    assert scope.before == QueryScope(5, 10, "v", "shop", "x")
    assert scope.of_time(1, 2) == QueryScope(1, 2, "v", "shop", "x")


def test_whole_hours_contain_a_scope_of_a_day_or_more() -> None:
    """Shorter ones stay, and whole hours do."""
    hour = 3600 * 10**9
    day = QueryScope(hour // 2, 25 * hour, "v", "shop")

    assert day.whole_hours == QueryScope(0, 25 * hour, "v", "shop")
    assert QueryScope(1, 24 * hour + 1).whole_hours == QueryScope(0, 25 * hour)
    assert day.whole_hours.whole_hours == day.whole_hours
    assert QueryScope(1, 24 * hour).whole_hours == QueryScope(1, 24 * hour)
