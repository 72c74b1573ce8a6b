"""The versions of an application that have answers, and the rates of one by route."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.grains import TIMES, sums_of
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.engine.version_scope import (
    VERSION_COLUMNS,
    VersionKind,
    VersionScope,
)
from rt4chart_collector.store.rates.claim_rates import ROUTE_KEYS, RateSlice, rate_slices

SECOND_NS = 10**9
VersionRates: TypeAlias = dict[tuple[str, str], RateSlice]
# The newest, with the most answers among those of one tick.
VERSIONS = f"""
SELECT toString({{column}}) AS version, sum(Answers) AS answers, count() OVER () AS number,
    toUnixTimestamp(min(FirstTick)) * {SECOND_NS} AS first_ns,
    toUnixTimestamp(max(LastTick)) * {SECOND_NS} AS last_ns
FROM {{sums}} WHERE Decision = 'verified'
GROUP BY version HAVING answers > 0
ORDER BY version IN {{also:Array(String)}} DESC, first_ns DESC, answers DESC, version
LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class VersionTraffic:
    """A version, its verified answers, and its first and last tick in the time that was read.

    `number` is that of all versions, of which a list may have the newest.
    """

    version: str
    answers: int
    first_ns: int
    last_ns: int
    number: int = 0


def versions_in(
    client: Client,
    kind: VersionKind,
    scope: QueryScope,
    *,
    limit: int = 100,
    also: Collection[str] = (),
) -> list[VersionTraffic]:
    """The newest `limit` versions with verified answers, and those in `also`; none of kind `TIME`.

    The newest come first.
    """
    if kind is VersionKind.TIME:
        return []
    column = VERSION_COLUMNS[kind]
    sums = sums_of(client, scope, (column, "Decision", "Answers", *TIMES))
    query = VERSIONS.replace("{column}", column).replace("{sums}", sums)
    parameters = {**scope.parameters, "limit": limit + len(also), "also": [*also]}
    found = read(client, VersionTraffic, query, parameters)
    return sorted(found, key=lambda one: (-one.first_ns, -one.answers, one.version))


def rates_of_versions(
    client: Client, a: VersionScope, b: VersionScope
) -> tuple[VersionRates, VersionRates]:
    """One slice for each route of each version, by service and route; the busiest routes alone."""
    if not a.shares_rows_with(b):
        return _rates(client, a, [a.value])[a.value], _rates(client, b, [b.value])[b.value]
    found = _rates(client, a, [a.value, b.value])
    return found[a.value], found[b.value]


def _rates(client: Client, of: VersionScope, values: Sequence[str]) -> dict[str, VersionRates]:
    """The slices in the scope by version."""
    rows = rate_slices(
        client,
        f"{ROUTE_KEYS}, toString({of.column}) AS key",
        of.scope,
        f"{of.column} IN {{values:Array(String)}}",
        is_by_route=True,
        values=[*values],
    )
    found: dict[str, VersionRates] = {value: {} for value in values}
    for row in rows:
        found[row.key][row.service, row.route] = row
    return found
